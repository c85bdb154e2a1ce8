"""The statements of upstream's source, given values of types that they were not written for.

Compiled, a statement may be decided by C types: taken a short way for an exact ``dict`` or
``str``, or accept what the interpreter refuses (``{**pairs}``).
"""

import pytest

from tests.conformance import material
from tests.conformance.material import answering

Text = answering(
    str, split=["a", "b"], startswith=True, __contains__=True, __str__="other", __len__=2,
    __format__="formatted", __getitem__="item", __add__="sum", __iter__=("a", "b"),
)  # fmt: skip
Table = answering(
    dict, items=[("b", 2), ("c", 3)], keys=["b", "c"], get=8, copy={"d": 4},
    __getitem__=7, __iter__=["b", "c"], __contains__=True,
)  # fmt: skip
Items = answering(
    list, __iter__=[("x", 1), ("y", 2)], __len__=1, __contains__=True, append=None,
    __getitem__="item", copy=[("z", 1)],
)  # fmt: skip


class Keyed:
    """It has as much of a mapping as ``**`` asks for."""

    __iter__ = None

    def keys(self):
        return iter(["k"])

    def __getitem__(self, key):
        return key

    def copy(self):
        return self


class Nothing:
    """Each operation raises that there is none."""

    __iter__ = None
    __contains__ = None
    __getitem__ = None
    __len__ = None
    __hash__ = None


class Broken:
    """Fails in each operation with an error of its own."""

    def _fail(self, *args):
        raise LookupError("broken")

    __iter__ = __contains__ = __getitem__ = __len__ = __lt__ = __eq__ = __bool__ = _fail
    __add__ = __mul__ = __radd__ = __hash__ = __index__ = __float__ = __str__ = _fail
    keys = items = get = copy = split = strip = lower = append = format = _fail


class Vague:
    """Compares to anything, with an answer that is neither true nor false until asked."""

    def __lt__(self, other):
        return []

    __gt__ = __le__ = __ge__ = __eq__ = __ne__ = __lt__
    __hash__ = None


VALUES = {
    **material.VALUES,
    "dotted text": lambda: "a.b",
    "own text": lambda: Text("a.b"),
    "own dict": lambda: Table(a=1),
    "items that are text": lambda: answering(dict, items=["ab"])(a=1),
    "own list": lambda: Items([1, 2]),
    "own tuple": lambda: answering(tuple, __iter__="pqr", __len__=3)((1, 2)),
    "triples": lambda: [("a", 1, 2)],
    "singles": lambda: [("a",)],
    "keys": lambda: {"a": 1}.keys(),
    "items": lambda: {"a": 1}.items(),
    "iterator": lambda: iter(["a", "b"]),
    "pairs iterator": lambda: iter([("a", 1)]),
    "keyed": Keyed,
    "empty until copied": answering(object, copy=[("a", 1)]),
    "nothing": Nothing,
    "broken": Broken,
    "vague": Vague,
    "whole": answering(object, __index__=3, __int__=4),
}


def _meta(option):
    def use(ma, value):
        meta = type("Meta", (), {option: value})
        fields = {"a": ma.fields.Raw(), "b": ma.fields.Raw()}
        schema = type("Own", (ma.Schema,), {"Meta": meta, **fields})()
        return sorted(schema.load_fields), sorted(schema.dump_fields)

    return use


def _option(option):
    def use(ma, value):
        inner = ma.Schema.from_dict({"b": ma.fields.Raw(), "c": ma.fields.Raw()})
        cls = ma.Schema.from_dict({"a": ma.fields.Nested(inner), "b": ma.fields.Raw()})
        schema = cls(**{option: value})
        return sorted(schema.load_fields), sorted(schema.dump_fields)

    return use


def _dumped(make):
    return lambda ma, value: ma.Schema.from_dict({"f": make(ma)})().dump({"f": value})


def _loaded(make):
    return lambda ma, value: ma.Schema.from_dict({"f": make(ma)})().load({"f": value})


def _validated(make):
    return lambda ma, value: make(ma.validate)(value)


def _stored(ma, value):
    store = ma.error_store.ErrorStore()
    store.store_error(value)
    store.store_error(["more"], field_name="a", index=1)
    return store.errors


def _hooked(tag, **options):
    def use(ma, value):
        class Own(ma.Schema):
            a = ma.fields.Raw()

            @getattr(ma, tag)(**options)
            def hook(self, data, *more, **kwargs):
                return value

        return Own().dump({"a": 1}) if "dump" in tag else Own().load({"a": 1})

    return use


def _changed_validators(ma, value):
    field = ma.fields.Raw()
    field.validators = value
    return _refused(lambda: field.deserialize(1))


def _refused(call):
    """What is returned or raised; the interpreter's words name the function that is called."""
    try:
        return call()
    except TypeError as error:
        return "after *" in str(error) or "is not" in str(error)


def _set_values(ma, value):
    target = {"a": value}
    ma.utils.set_value(target, "a.b", 1)
    return target


STATEMENTS = {
    "f(**x)": lambda ma, v: ma.fields.Raw(**v).metadata,
    "f(*x)": lambda ma, v: ma.validate.And(*v).validators,
    "f(*x) of an attribute": _changed_validators,
    "dict.update": lambda ma, v: (
        type("Own", (ma.fields.Field,), {"default_error_messages": v})().error_messages
    ),
    "dict.update, or {}": lambda ma, v: (
        type("Own", (ma.Schema,), {"error_messages": v})().error_messages
    ),
    "update by argument": lambda ma, v: ma.fields.Raw(error_messages=v).error_messages,
    "isinstance, two types": _meta("fields"),
    "isinstance, two types, again": _meta("exclude"),
    "list(x.items())": _meta("include"),
    "set(x) | set(y)": _meta("load_only"),
    "set(x)": _option("load_only"),
    "set(x) once more": _option("dump_only"),
    "loop and split": _option("only"),
    "loop, in and |": _option("exclude"),
    "in": lambda ma, v: ma.Schema.from_dict({"a": ma.fields.Raw()})(partial=v).load({}),
    "for k, v in x.items()": _loaded(lambda ma: ma.fields.Dict(values=ma.fields.Raw())),
    "for k in x": _loaded(lambda ma: ma.fields.Dict(keys=ma.fields.Raw())),
    "mapping_type(x)": _loaded(lambda ma: ma.fields.Dict()),
    "for k, v in x.items(), dumped": _dumped(lambda ma: ma.fields.Dict(values=ma.fields.Raw())),
    "for k in x, dumped": _dumped(lambda ma: ma.fields.Dict(keys=ma.fields.Raw())),
    "mapping_type(x), dumped": _dumped(lambda ma: ma.fields.Dict()),
    "enumerate(x)": _loaded(lambda ma: ma.fields.List(ma.fields.Raw())),
    "[… for each in x]": _dumped(lambda ma: ma.fields.List(ma.fields.Raw())),
    "zip(x, strict)": _loaded(lambda ma: ma.fields.Tuple((ma.fields.Raw(), ma.fields.Raw()))),
    "tuple(… zip(x))": _dumped(lambda ma: ma.fields.Tuple((ma.fields.Raw(), ma.fields.Raw()))),
    "str(x)": _dumped(lambda ma: ma.fields.String()),
    "isinstance(x, (str, bytes))": _loaded(lambda ma: ma.fields.String()),
    "int(x)": _loaded(lambda ma: ma.fields.Integer()),
    "int(x), strict": _loaded(lambda ma: ma.fields.Integer(strict=True)),
    "int(x), dumped": _dumped(lambda ma: ma.fields.Integer()),
    "str(int(x))": _dumped(lambda ma: ma.fields.Integer(as_string=True)),
    "float(x)": _loaded(lambda ma: ma.fields.Float()),
    "float(x) == inf": _loaded(lambda ma: ma.fields.Float(allow_nan=True)),
    "float(x), dumped": _dumped(lambda ma: ma.fields.Float()),
    "Decimal(str(x))": _loaded(lambda ma: ma.fields.Decimal(places=1)),
    "Decimal(str(x)), dumped": _dumped(lambda ma: ma.fields.Decimal(places=1, as_string=True)),
    "x in set": _loaded(lambda ma: ma.fields.Boolean()),
    "bool(x)": _loaded(lambda ma: ma.fields.Boolean(truthy=[], falsy=[])),
    "len(x) == 16": _loaded(lambda ma: ma.fields.UUID()),
    "parse(x)": _loaded(lambda ma: ma.fields.DateTime()),
    "strptime(x)": _loaded(lambda ma: ma.fields.DateTime("%Y")),
    "x.strftime()": _dumped(lambda ma: ma.fields.DateTime("%Y")),
    "x < 0": _loaded(lambda ma: ma.fields.DateTime("timestamp")),
    "timedelta(**{…: x})": _loaded(lambda ma: ma.fields.TimeDelta()),
    "x.days * …": _dumped(lambda ma: ma.fields.TimeDelta()),
    "x.exploded": _dumped(lambda ma: ma.fields.IP(exploded=True)),
    "ip_address(text(x))": _loaded(lambda ma: ma.fields.IP()),
    "many": lambda ma, v: ma.Schema.from_dict({"a": ma.fields.Raw()})(many=True).dump(v),
    "many, loaded": lambda ma, v: ma.Schema.from_dict({"a": ma.fields.Raw()})().load(v, many=True),
    "set(x) - set": lambda ma, v: ma.Schema.from_dict({"a": ma.fields.Raw()})().load(v),
    "nested": _loaded(lambda ma: ma.fields.Nested({"a": ma.fields.Raw()}, many=True)),
    "x[key]": lambda ma, v: ma.utils.get_value(v, "a", 0),
    "x[key] in turn": lambda ma, v: ma.utils.get_value({"a": v}, "a.b", 0),
    '"." in x': lambda ma, v: ma.utils.get_value({"a": {"b": 1}}, v, 0),
    "x.setdefault": _set_values,
    "head, rest = x.split()": lambda ma, v: ma.utils.set_value({}, v, 1),
    "[x[k] for x in y]": lambda ma, v: ma.utils.pluck(v, "a"),
    "callable(x)": lambda ma, v: ma.fields.Raw(pre_load=v).pre_load,
    "list(x)": lambda ma, v: ma.fields.Raw(validate=v).validators,
    "x.decode": lambda ma, v: ma.utils.ensure_text_type(v),
    "message.format(x)": _validated(lambda v: v.Equal(object(), error="{input} {input!r}")),
    "min=x": lambda ma, v: ma.validate.Length(min=v)("a"),
    "min=x, of a range": lambda ma, v: ma.validate.Range(min=v, min_inclusive=v)(1),
    "Regexp(x)": lambda ma, v: ma.validate.Regexp(v).regex.pattern,
    "many=x": lambda ma, v: ma.Schema(many=v, partial=v).dump([]),
    "allow_nan=x": lambda ma, v: ma.fields.Float(allow_nan=v).deserialize("nan"),
    "constant=x": lambda ma, v: ma.fields.Constant(v).deserialize(3),
    "from_timestamp(x)": lambda ma, v: ma.utils.from_timestamp_ms(v),
    "x[1]": lambda ma, v: ma.utils.get_value(v, 1),
    "is_collection(x)": lambda ma, v: (
        ma.utils.is_collection(v),
        ma.utils.is_sequence_but_not_string(v),
    ),
    "format(x, spec)": _validated(lambda v: v.Equal(object(), error="{input:>5}")),
    "x == y": _validated(lambda v: v.Equal(5)),
    "x < y <= z": _validated(lambda v: v.Range(min=1, max=3, max_inclusive=False)),
    "len(x) < y": _validated(lambda v: v.Length(min=1, max=1)),
    "x in list": _validated(lambda v: v.OneOf(["a", 5])),
    "x in text": _validated(lambda v: v.OneOf("abc")),
    "x in dict": _validated(lambda v: v.NoneOf({"a": 1})),
    "for v in x: v in y": _validated(lambda v: v.ContainsOnly(["a", "b"])),
    "for v in x: v not in y": _validated(lambda v: v.ContainsNoneOf(["z"])),
    "match(x)": _validated(lambda v: v.Regexp("a")),
    "'://' in x": _validated(lambda v: v.URL()),
    '", ".join(str(c) for c in x)': lambda ma, v: ma.validate.OneOf(v).choices_text,
    "x[: n] + y * m": lambda ma, v: list(ma.validate.OneOf(["a", "b"], labels=v).options()),
    "n of x": lambda ma, v: list(ma.validate.OneOf(v, labels=["l"]).options()),
    "{x.lower() for x in y}": lambda ma, v: sorted(ma.validate.URL(schemes=v).schemes),
    "raise": lambda ma, v: ma.ValidationError(v).normalized_messages(),
    "x.messages": lambda ma, v: ma.ValidationError(v).messages,
    "merged": lambda ma, v: [
        ma.error_store.merge_errors(first, v) for first in (["x"], {"a": ["x"]}, "x")
    ],
    "stored": _stored,
    "x.pop(key, None)": _hooked("post_load"),
    "data of a hook": _hooked("pre_load"),
    "data of a hook, dumped": _hooked("pre_dump"),
    "result of a hook": _hooked("post_dump", pass_original=True),
    "set operations": lambda ma, v: list(ma.orderedset.OrderedSet(["a"]) | v),
    "set(self) == set(x)": lambda ma, v: ma.orderedset.OrderedSet(["a", "b"]) == v,
    "index": lambda ma, v: ma.fields.Decimal(places=v).places,
    "x or y": lambda ma, v: ma.fields.Raw(attribute=v, data_key=v).data_key,
    "not in dict": lambda ma, v: ma.fields.TimeDelta(precision=v).precision,
    "f-string": lambda ma, v: ma.fields.Nested(v).schema,
    "context": lambda ma, v: ma.Schema.from_dict({"a": ma.fields.Nested("Inner")})().load(v),
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_takes_the_types_that_it_takes_interpreted(ma, log, statement):
    for name, make in VALUES.items():
        log("value", name)
        log.attempt(STATEMENTS[statement], ma, make())
