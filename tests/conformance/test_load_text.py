"""``Schema.loads``: what stands in the text and nowhere else; see also the mode ``from-text``,
in which every scenario that loads goes through it.
"""

import json

import pytest

from tests.conformance.material import Proxy, meta


def order_of(ma, **unknown):
    fields = ma.fields

    class Item(ma.Schema):
        sku = fields.String(required=True)
        count = fields.Integer(validate=ma.validate.Range(min=1))
        Meta = meta(unknown=unknown.get("inner", ma.RAISE))

    class Order(ma.Schema):
        number = fields.Integer(data_key="id")
        note = fields.String(allow_none=True)
        items = fields.List(fields.Nested(Item))
        first = fields.Nested(Item)
        raw = fields.Raw()
        table = fields.Dict(keys=fields.String(), values=fields.Nested(Item))
        skus = fields.Pluck(Item, "sku", many=True)
        several = fields.Nested(Item, many=True)
        place = fields.String(attribute="where.place")
        Meta = meta(unknown=unknown.get("unknown", ma.RAISE))

    return Order


TEXTS = {
    "whole": """ {"id": 7, "note": "é\\n", "items": [{"sku": "a", "count": 2}, {"sku": "b"}],
        "first": {"count": 3, "sku": "c"}, "raw": {"deep": [1, {"x": null}]},
        "table": {"k": {"sku": "d"}}, "skus": ["e", "f"], "several": [{"sku": "g"}],
        "place": "here"} """,
    "other order": '{"raw": 1.5, "note": null, "id": "3"}',
    "empty": "{}",
    "twice": '{"id": 1, "note": "a", "id": 2, "x": 1, "x": 2}',
    "twice nested": '{"first":{"sku":"a"},"first":{"sku":"b","count":12},"id":1,"raw":[1,{"x":2}]}',
    "escaped keys": '{"\\u0069d": 5, "n\\u006fte": "\\ud83d\\ude00", "\\u00e9": 1, "": 2}',
    "wide": '{"id": 1, "note": "日本", "日": 1, "items": [{"sku": "日", "é": 2}]}',
    "widest": '{"note": "😀", "id": 1, "unknown": ["😀"], "first": {"sku": "x"}}',
    "latin": '{"note": "é", "id": 1, "ü": {"a": 1}, "first": {"sku": "ß", "count": 1}}',
    "unknown": '{"c": [1], "a": {"x": 1}, "b": 1, "id": 1, "d": {"y": []}, "items": [{"z": 1}]}',
    "wrong": '{"id": "x", "note": 5, "items": [{"count": 0}, 3, null, {"sku": "a"}], "first": []}',
    "wrong kinds": '{"items": {"a": 1}, "first": [{"sku": "a"}], "table": [1], "skus": "a"}',
    "wrong inside": '{"several": {"sku": "a"}, "raw": null, "table": {"a": {"x": 1}, "b": []}}',
    "big": '{"id": 123456789012345678901234567890, "raw": 1e400, "note": 1.5}',
    "constants": '{"id": NaN, "raw": [NaN, Infinity, -Infinity], "note": true}',
    "list": '[{"id": 1}, {"id": "x", "q": 1}, 3, [], null, {"id": 2, "raw": [1]}]',
    "empty list": "[]",
    "null": "null",
    "number": "5",
    "text": '"x"',
    "deep": '{"raw": ' + "[" * 100 + "]" * 100 + ', "id": 1}',
    "deeper": '{"id": 1, "raw": ' + "[" * 1100 + "]" * 1100 + "}",
    "many digits": '[{"id": %s}, {"x": 1}, {"id": "x"}]' % ("7" * 650),
    "nothing": "",
    "no json": "nope",
    "cut": '{"id": 1',
    "text of a mark": "\ufeff{}",
    "wrong at the end": '{"id": "x", "raw": {}}}',
    "trailing comma": '{"id": "x",}',
    "bytes": '{"id": 1, "note": "é", "raw": ["日"]}'.encode(),
    "utf-16": '{"id": 1, "note": "é"}'.encode("utf-16"),
    "mark": b'\xef\xbb\xbf{"id": 1}',
    "bytearray": bytearray(b'{"id": 1, "raw": {}}'),
    "no utf-8": b'{"id": "\xff"}',
    "no json in bytes": b"nope",
    "no bytes": b"",
    "no text": 5,
    "proxy of bytes": Proxy(b'{"id": 1, "note": "\xc3\xa9"}'),
    "proxy of a bytearray": Proxy(bytearray(b'{"id": 1, "raw": [}')),
    "proxy of text": Proxy('{"id": 1}'),
}


def show(log, load, *args, **options):
    """What it returns; of a failure also the data, which may hold what the result holds."""
    found = log.attempt(load, *args, **options)
    if hasattr(found, "valid_data"):
        log("said", found.messages, found.data, found.valid_data)
    if isinstance(found, json.JSONDecodeError):
        log("said", found.msg, found.doc, found.pos, found.lineno, found.colno)


@pytest.mark.parametrize("unknown", ["raise", "exclude", "include"])
@pytest.mark.parametrize("text", TEXTS)
def test_texts(ma, log, text, unknown):
    schema = order_of(ma, unknown=unknown, inner=unknown)()
    for options in ({}, {"many": True}, {"partial": True}, {"partial": ("first.sku", "id")}):
        show(log, schema.loads, TEXTS[text], **options)
    show(log, schema.loads, TEXTS[text], unknown="include")
    show(log, schema.loads, TEXTS[text], many=True, unknown="exclude")


def test_nothing_runs_before_the_end_of_the_text(ma, log):
    class Loud(ma.Schema):
        a = ma.fields.Integer(validate=lambda value: log("validator", value))
        b = ma.fields.Function(deserialize=lambda value: log("function", value))
        before = ma.pre_load(log.hook("pre_load"))

    for text in ('{"a": 1, "b": 2}', '{"a": 1, "b": 2}}', '{"a": 1, "b": [1, 2, }'):
        show(log, Loud().loads, text)


def test_a_field_changes_what_it_is_given(ma, log):
    class Greedy(ma.fields.Field):
        def _deserialize(self, value, attr, data, **kwargs):
            log("given", value, attr, data)
            data["c"] = {"n": 40}
            data["new"] = [1]
            data["b"]["n"] = "changed"
            return data

    Inner = ma.Schema.from_dict({"n": ma.fields.Integer()})

    class Outer(ma.Schema):
        b = ma.fields.Nested(Inner)
        a = Greedy()
        c = ma.fields.Nested(Inner)
        d = ma.fields.Raw()

    for unknown in ("raise", "include", "exclude"):
        schema = Outer(unknown=unknown)
        show(log, schema.loads, '{"a": [1], "b": {"n": 1}, "d": {"e": 1}}')
        show(log, schema.loads, '[{"a": [1], "b": {"n": 1}}, {"b": {"n": "x"}}]', many=True)
        show(log, schema.loads, '{"d": [], "b": {"n": "x"}, "a": {}, "c": {"n": "y"}}')


def test_who_sees_the_same_object(ma, log):
    seen = []

    def keep(value):
        seen.append(value)
        value["more"] = [1]
        raise ma.ValidationError("no")

    class Twice(ma.Schema):
        a = ma.fields.Raw(data_key="x", validate=keep)
        b = ma.fields.Nested(ma.Schema.from_dict({"y": ma.fields.Raw()}), data_key="z")

        def handle_error(self, error, data, **kwargs):
            log("same", data["x"] is seen[-1], data is error.data, data)

    show(log, Twice().loads, '{"x": {"y": [2]}, "z": {"y": {"q": 1}, "w": 1}}')
    show(log, Twice().loads, '{"x": {}, "z": {"y": [1]}}')


def test_options_of_json(ma, log):
    schema = ma.Schema.from_dict({"a": ma.fields.Raw()})()
    for options in (
        {"parse_float": str},
        {"parse_int": str},
        {"parse_constant": str},
        {"object_hook": lambda found: {"a": [*found]}},
        {"object_pairs_hook": lambda pairs: {"a": pairs}},
        {"cls": json.JSONDecoder},
        {"strict": False},
        {"object_hook": None},
        {"nonsense": 1},
    ):
        show(log, schema.loads, '{"a": [1, 2.5, NaN, "\t"]}', **options)


def test_a_json_of_the_users(ma, log):
    class Module:
        @staticmethod
        def loads(text, **options):
            log("loads", text, options)
            return {"a": 5}

    class Other(ma.Schema):
        a = ma.fields.Integer()
        Meta = meta(render_module=Module)

    Plain = ma.Schema.from_dict({"a": ma.fields.Integer()})
    show(log, Other().loads, "anything", option=1)
    schema = Plain()
    show(log, schema.loads, '{"a": 1}')
    log.patch(json, "loads", Module.loads)
    show(log, schema.loads, '{"a": 1}')


def test_options_class_with_a_property(ma, log):
    class Options(ma.SchemaOpts):
        @property
        def render_module(self):
            log("asked")
            return json

        @render_module.setter
        def render_module(self, value):
            log("set")

    class Own(ma.Schema):
        OPTIONS_CLASS = Options
        a = ma.fields.Integer()

    show(log, Own().loads, '{"a": "1"}')


def test_a_schema_inside_itself(ma, log):
    class Node(ma.Schema):
        name = ma.fields.String(required=True)
        child = ma.fields.Nested(lambda: Node(), allow_none=True)
        children = ma.fields.List(ma.fields.Nested(lambda: Node(exclude=("child",))))

    for text in (
        '{"name": "a", "child": {"name": "b", "child": {"child": null}}}',
        '{"name": "a", "children": [{"name": "b", "children": [{"name": 1}, {"x": []}]}]}',
        '{"name": "a", "child":' * 30 + "{}" + "}" * 30,
        '{"name": "a", "child":' * 80 + "{}" + "}" * 80,
    ):
        show(log, Node().loads, text)


def keep_given(ma, log, given):
    """A field that keeps what it is given and changes it."""

    class Keeping(ma.fields.Field):
        def _deserialize(self, value, attr, data, **kwargs):
            log("given", value, attr, data)
            given.append(value)
            if isinstance(value, dict):
                value["changed"] = len(given)
            return value

    return Keeping()


TABLES = (
    '{"t": {"b": {"n": 1}, "a": {"n": "x"}, "b": {"n": 3}}, "u": 1}',
    '{"t": {"b": [1, {"n": 2}], "": null, "3": 5, "\\u00e9": {"n": 1, "q": 2}}}',
    '{"t": {"a": "yes", "c": {"n": [1]}}, "t": {"a": 2.5}}',
    '{"t": {}}',
    '{"t": []}',
    '{"t": null}',
    '{"t": {"x": {"deep": {"deep": [{"n": 1}]}}}}',
)


@pytest.mark.parametrize("keys", ["none", "text", "whole", "own"])
@pytest.mark.parametrize("values", ["none", "whole", "nested", "list", "raw", "own", "dict"])
def test_dictionaries(ma, log, keys, values):
    fields = ma.fields
    given = []
    inner = ma.Schema.from_dict({"n": fields.Integer(required=True)})
    key_fields = {
        "none": None,
        "text": fields.String(validate=ma.validate.Length(max=1)),
        "whole": fields.Integer(),
        "own": keep_given(ma, log, given),
    }
    value_fields = {
        "none": None,
        "whole": fields.Integer(allow_none=True),
        "nested": fields.Nested(inner),
        "list": fields.List(fields.Raw()),
        "raw": fields.Raw(validate=lambda value: log("validator", value)),
        "own": keep_given(ma, log, given),
        "dict": fields.Dict(values=fields.Raw()),
    }

    class Holder(ma.Schema):
        t = fields.Dict(keys=key_fields[keys], values=value_fields[values])

        def handle_error(self, error, data, **kwargs):
            log("failed", data, [any(each is x for x in given) for each in data.values()])

    for unknown in ("raise", "exclude"):
        schema = Holder(unknown=unknown)
        for text in TABLES:
            show(log, schema.loads, text)
        show(log, schema.loads, f"[{', '.join(TABLES)}]", many=True)
