"""What only marshmallow 3 has: ``make test-others`` runs it on 3.26.2 and on two older releases."""

import copy
import datetime
import decimal
import uuid
import warnings

import pytest

from tests.conformance.lacking import needs

pytestmark = needs("Schema.__init__(context)")

ZONE = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
MOMENT = datetime.datetime(2024, 2, 29, 8, 15, 30, 120, ZONE)
# Per field class: how it is made, and the values that are dumped and loaded.
VALUES = {
    "Boolean": ("Boolean", {}, ["on", "OFF", "t", 1.0, 0, "maybe", None, [], {}, object]),
    "own words": ("Boolean", {"truthy": {"ja"}, "falsy": {"nein", 0}}, ["ja", "nein", 0, 1, "no"]),
    "no words": ("Boolean", {"truthy": set(), "falsy": {0}}, ["", "x", 0, False, [], [1]]),
    "TimeDelta": ("TimeDelta", {}, [datetime.timedelta(1, 2, 3), 1.9, "12", "1.5", -3, 10**20, ""]),
    "minutes": ("TimeDelta", {"precision": "minutes"}, [datetime.timedelta(0, 89, 7), 1.5, "1"]),
    "UUID": ("UUID", {}, [uuid.UUID(int=5), "5" * 32, b"5" * 16, 5, "x", None, ["a"]]),
    "moment": ("DateTime", {}, [MOMENT, "2024-02-29T08:15:30+0530", "2024-02-29T08:15:30-00",
                                "2024-02-29T08:15:30.1Z", "2024-02-29 08:15", "2024-02-29T25:15"]),
    "aware": ("AwareDateTime", {"default_timezone": ZONE}, [MOMENT, "2024-02-29T08:15:30.1234567"]),
    "time": ("Time", {}, [MOMENT.time(), "08:15:30.5", "08:15:30.1234567", "08:15", "8:15", "x"]),
}  # fmt: skip


@pytest.mark.parametrize("kind", VALUES)
def test_values(ma, log, kind):
    name, options, values = VALUES[kind]
    schema = ma.Schema.from_dict({"f": getattr(ma.fields, name)(allow_none=True, **options)})()
    for value in values:
        log("value", value)
        log.attempt(schema.dump, {"f": value})
        log.attempt(schema.load, {"f": value})
        log.attempt(schema.loads, f'{{"f": "{value}"}}')


INFERRED = [
    *("text", b"bytes", b"\xff", 1, True, 1.5, (1, "x"), [1], {1}, {"a": 1}, None, float("nan")),
    *(object, MOMENT, MOMENT.date(), MOMENT.time(), MOMENT - MOMENT, uuid.UUID(int=5)),
    *(decimal.Decimal("1.50"), type("Text", (str,), {})("y")),
]  # fmt: skip


@pytest.mark.parametrize("option", ["fields", "additional"])
@pytest.mark.parametrize("mapping", ["upstream's", "own", "changed", "replaced"])
def test_fields_that_only_meta_names(ma, log, mapping, option):
    class Upper(ma.fields.String):
        def _serialize(self, value, attr, obj, **kwargs):
            log("upper", value, attr, self.name, type(self.root).__name__)
            return str(value).upper()

    class S(ma.Schema):
        Meta = type("Meta", (), {option: ("v", "w", "a"), "datetimeformat": "rfc"})
        a = ma.fields.Integer()
        TYPE_MAPPING = dict(ma.Schema.TYPE_MAPPING)
        if mapping == "own":
            TYPE_MAPPING |= {str: Upper, dict: ma.fields.List, float: ma.fields.Integer}
            del TYPE_MAPPING[bytes]

    reused, parent = S(), ma.Schema.from_dict({"n": ma.fields.Nested(S, many=True)})()
    for round in range(3):
        for value in INFERRED:
            data = {"v": value, "w": 1, "a": "2"}
            for schema in (reused, S(), S(only=("v",)), S(exclude=("a",))):
                log.attempt(schema.dump, data)
                log.attempt(schema.dumps, data)
                log.attempt(schema.load, data)
            log.attempt(reused.dump, [data, {"w": value}], many=True)
            log.attempt(parent.dump, {"n": [data]})
        if mapping == "changed":
            S.TYPE_MAPPING[int] = (Upper, ma.fields.Float, ma.fields.Raw)[round]
        elif mapping == "replaced":
            S.TYPE_MAPPING = {str: Upper} if round else {}
    log.attempt(S, only=("v", "zz"))
    log.attempt(S, exclude=("zz",))
    one, other = S(), S()
    one.dump({"v": MOMENT})
    copied = copy.deepcopy(one)
    log("made", [(n, type(f).__name__, f.name, f.parent is other) for n, f in other.fields.items()])
    log("found", other.fields["v"]._field_cache, copied.fields["v"].parent is copied)
    other.fields["v"]._field_cache[int] = 1
    log("alone", one.fields["w"]._field_cache, sorted(vars(S().fields["w"])))


@pytest.mark.parametrize("name", ["self", "Other", "nobody"])
def test_names_of_nested_schemas(ma, log, name):
    class Other(ma.Schema):
        a = ma.fields.Integer()

    class S(ma.Schema):
        a = ma.fields.Integer()
        n = ma.fields.Nested(name, only=("a",))
        m = ma.fields.List(ma.fields.Nested(name, exclude=("n", "m") if name == "self" else ()))

    data = {"a": 1, "n": {"a": "2"}, "m": [{"a": 3}, {"a": "x"}]}
    for _ in range(12):  # The last of them are lazy.
        schema = S()
        log.attempt(schema.dump, data)
        log.attempt(schema.load, data)
    log.attempt(lambda: (type(schema.fields["n"].schema).__name__, schema.fields["n"].schema.only))


@pytest.mark.parametrize("hook", [False, True])
@pytest.mark.parametrize("given", [{}, {"context": None}, {"context": {"by": 3}}])
def test_context(ma, log, given, hook):
    def times(self, value, context):
        return context.get("by", 1) * int(value) + len(self.context)

    class Inner(ma.Schema):
        m = ma.fields.Method("dumped", deserialize="loaded")

        def dumped(self, obj):
            return times(self, obj["m"], self.context)

        def loaded(self, value):
            return times(self, value, self.context)

    def bound(self, name, field):
        log("bound", name, self.context, field.context)

    members = {"on_bind_field": bound} if hook else {}
    members["n"] = ma.fields.Nested(Inner)
    members["f"] = ma.fields.Function(
        lambda obj, context: context.get("by", 1) * obj["f"],
        deserialize=lambda value, context: context.get("by", 1) * int(value),
    )
    members["g"] = ma.fields.Function(lambda obj: obj["g"], deserialize=int)
    cls = type("S", (ma.Schema,), members)
    data = {"f": 2, "g": "4", "n": {"m": 5}}
    for _ in range(12):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            schema = cls(**given)
        log("warned", [(each.category.__name__, str(each.message)) for each in caught])
        log.attempt(schema.dump, data)
        log.attempt(schema.load, data)
        schema.context = {"by": 7}
        log.attempt(schema.dump, data)
        log.attempt(schema.load, {**data, "f": "x"})
