"""Functions and names of upstream's own modules are patched after a schema was used."""

import datetime as dt
import decimal
import enum
import importlib
import ipaddress
import uuid
from unittest import mock

import pytest

from tests.conformance.material import Plain
from tests.invalidation.usage import settle, use


class Colour(enum.Enum):
    RED = 1


MOMENT = dt.datetime(2024, 2, 29, 12, 30, 5, 250, tzinfo=dt.UTC)

DATA = {
    "text": "x", "bytes": b"x", "number": "5", "real": "1.5", "money": decimal.Decimal("1.25"),
    "truth": "yes", "moment": MOMENT, "stamp": MOMENT, "letter": MOMENT, "day": MOMENT.date(),
    "span": dt.timedelta(seconds=2.5), "id": uuid.UUID(int=3),
    "address": ipaddress.IPv4Address("10.0.0.1"), "colour": Colour.RED, "list": [1, "2"],
    "pair": (1, 2), "map": {"1": 2}, "inner": {"a": 1, "b": 2}, "many": [{"a": 1, "b": 2}],
    "path": {"er": {"est": 4}},
}  # fmt: skip


def _check(ma):
    def check(value):
        if value == "bad":
            raise ma.ValidationError(["one", "two"])

    return check


def _everything(ma):
    fields = ma.fields
    Inner = type("Inner", (ma.Schema,), {"a": fields.Integer(), "b": fields.String()})

    class Everything(ma.Schema):
        text = fields.String(validate=[_check(ma), ma.validate.Length(max=3)])
        bytes = fields.String()
        number = fields.Integer(as_string=True)
        real = fields.Float()
        money = fields.Decimal(places=1)
        truth = fields.Boolean()
        moment = fields.DateTime()
        stamp = fields.DateTime(format="timestamp_ms")
        letter = fields.DateTime(format="rfc")
        day = fields.Date()
        span = fields.TimeDelta()
        id = fields.UUID()
        address = fields.IP()
        colour = fields.Enum(Colour)
        list = fields.List(fields.Integer())
        pair = fields.Tuple([fields.Integer(), fields.Raw()])
        map = fields.Dict(keys=fields.Integer(), values=fields.String())
        inner = fields.Nested(Inner)
        many = fields.Pluck(Inner, "b", many=True)
        deep = fields.Raw(attribute="path.er.est")
        first = fields.Raw(attribute="list.0")
        absent = fields.Raw(dump_default=4)

    return Everything()


def _found(ma, path):
    """The module of upstream's that a path begins with, and the name in it."""
    module, _, name = path.partition(".")
    return importlib.import_module(f"{ma.__name__}.{module}"), name


FUNCTIONS = """
    schema.get_value schema.missing schema.Mapping schema.class_registry schema.Schema
    schema.SchemaMeta utils.get_value utils._get_value_for_key utils.missing
    utils.ensure_text_type utils.timedelta_to_microseconds utils.timestamp utils.timestamp_ms
    utils.pluck utils.is_collection fields.utils fields.decimal fields.missing_ fields.dt
    fields.numbers fields._Mapping fields.math fields.uuid fields.ipaddress fields.class_registry
    fields.And schema.set_value schema.is_collection schema.is_sequence_but_not_string
    schema.ErrorStore utils.is_sequence_but_not_string utils.is_iterable_but_not_string
    utils.from_timestamp utils.from_timestamp_ms utils.is_aware utils.set_value
    error_store.merge_errors error_store.copy_containers
"""


class Spy:
    """Stands for a function, class or module and tells what is asked of it."""

    def __init__(self, log, name, original):
        self._log, self._name, self._original = log, name, original

    def __call__(self, *args, **kwargs):
        self._log(self._name, "called", len(args), sorted(kwargs))
        return self._original(*args, **kwargs)

    def __getattr__(self, name):
        self._log(self._name, "asked for", name)
        return getattr(self._original, name)


def test_the_functions_named_here_exist():
    import marshmallow

    assert [path for path in FUNCTIONS.split() if not hasattr(*_found(marshmallow, path))] == []


@pytest.mark.parametrize("path", FUNCTIONS.split())
@pytest.mark.parametrize("before", [False, True])
def test_spied_on(ma, log, before, path):
    module, name = _found(ma, path)
    schema = _everything(ma)
    good = schema.dump(DATA)
    bad = {"text": "bad", "list": ["x", 1], "stamp": "x", "inner": {"a": "y"}, "many": 3}
    given = (DATA, Plain(**DATA), good, {**good, **bad}, {"text": "too long", "inner": 3})
    if not before:
        settle(log, schema, *given)
    original = getattr(module, name, None)
    with mock.patch.object(module, name, Spy(log, path, original), create=True):
        use(log, schema, *given)
    use(log, schema, *given)


CONSTANTS = """
    schema.EXCLUDE schema.INCLUDE schema.RAISE schema.PRE_DUMP schema.POST_DUMP schema.PRE_LOAD
    schema.POST_LOAD schema.VALIDATES schema.VALIDATES_SCHEMA error_store.SCHEMA
"""


@pytest.mark.parametrize("path", CONSTANTS.split())
def test_constant_replaced(ma, log, path):
    module, name = _found(ma, path)

    class S(ma.Schema):
        a = ma.fields.Integer(data_key="_schema")
        b = ma.fields.Integer(data_key="mine", validate=lambda value: value < 5)

        @ma.pre_dump
        @ma.post_dump
        @ma.pre_load
        @ma.post_load
        def hook(self, data, **kwargs):
            log("hook", data)
            return data

        @ma.validates("a")
        def validator(self, value, data_key):
            log("validator", value)

        @ma.validates_schema
        def validator_of_all(self, data, **kwargs):
            log("validator of all", data)

    schema = S()
    settle(log, schema, {"a": 1, "b": 2}, {"_schema": 1, "z": 2})
    with mock.patch.object(module, name, "mine"):
        use(log, schema, {"a": 1, "b": 2}, {"_schema": "x", "mine": 7}, {"_schema": 3, "z": 2})
        for unknown in ("raise", "include", "mine"):
            log.attempt(schema.load, {"_schema": 3, "z": 2}, unknown=unknown)
            log.attempt(schema.load, [5, {"mine": "x", "z": 2}], many=True, unknown=unknown)
    use(log, schema, {"_schema": "x", "mine": 7})


def _frozen(base):
    """A class in the place of ``base``, as freezegun has it."""
    kind = type("Kind", (type,), {"__instancecheck__": lambda cls, value: isinstance(value, base)})
    return kind("Frozen", (base,), {})


def test_classes_replaced(ma, log):
    schema = _everything(ma)
    settle(log, schema, DATA)

    class Own(decimal.Decimal):
        def quantize(self, *args, **kwargs):
            log("quantize", args)
            return super().quantize(*args, **kwargs)

    for module, own in {
        "decimal.Decimal": Own,
        "uuid.UUID": type("Own", (uuid.UUID,), {}),
        "datetime.datetime": _frozen(dt.datetime),
        "datetime.date": _frozen(dt.date),
    }.items():
        with mock.patch(module, own):
            use(log, schema, DATA, {**DATA, "id": uuid.UUID(int=3)})
        use(log, schema, DATA)


@pytest.mark.parametrize("way", ["set", "deleted"])
def test_module_namespace_edited(ma, log, way):
    module, _ = _found(ma, "schema.get_value")
    schema = _everything(ma)
    settle(log, schema, DATA)
    with mock.patch.dict(vars(module)):
        if way == "set":
            vars(module)["get_value"] = lambda *args: 3
        else:
            del vars(module)["get_value"]
        use(log, schema, DATA)
    use(log, schema, DATA)


NO_TYPES = """
    utils.Mapping utils.Sequence schema.Mapping fields._Mapping fields.numbers fields.dt
"""


@pytest.mark.parametrize("path", NO_TYPES.split())
def test_replaced_by_no_type(ma, log, path):
    """What upstream asks a class that the plan does not ask: it is an error upstream."""
    module, name = _found(ma, path)
    fields = ma.fields
    kinds = {
        "number": (fields.Integer(strict=True), 5),
        "list": (fields.List(fields.Integer()), [1]),
        "pair": (fields.Tuple((fields.Raw(),)), [1]),
        "map": (fields.Dict(values=fields.Raw()), {"a": 1}),
        "plain map": (fields.Dict(), {"a": 1}),
        "many": (fields.Nested({"a": fields.Raw()}, many=True), [{"a": 1}]),
        "moment": (fields.DateTime(), "2020-01-02"),
        "span": (fields.TimeDelta(), 5),
    }
    schemas = {name: ma.Schema.from_dict({"f": field})() for name, (field, _) in kinds.items()}

    def load_all():
        for kind, (_, value) in kinds.items():
            for _ in range(3):
                log(kind)
                log.attempt(schemas[kind].load, {"f": value})
            log.attempt(schemas[kind].load, [{"f": value}], many=True)

    load_all()
    with mock.patch.object(module, name, 5):
        load_all()
    load_all()
