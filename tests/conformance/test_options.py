"""A schema's options and settings where they are computed, odd, missing or changed by hooks."""

import pytest

from tests.conformance import harness
from tests.conformance.harness import FROM_FIRST_USE
from tests.conformance.material import meta
from tests.engine import NEEDS_ENGINE

MODES = FROM_FIRST_USE

ROWS = [{"a": "x"}, {"a": 1}, {"a": "y"}]


def _use(log, schema):
    for _ in range(3):
        log.attempt(schema.load, {"a": 1})
        log.attempt(schema.load, {"a": "x"})
        log.attempt(schema.load, ROWS, many=True)
        log.attempt(schema.validate, ROWS, many=True)
        log.attempt(schema.loads, '{"a": 1}')
        log.attempt(schema.dumps, {"a": 1})


OPTIONS = ["a property", "__getattribute__", "of the class", "__getattr__"]


def options_class(ma, log, kind):
    """A class of options that has ``index_errors`` in another way than as an attribute."""

    def without(self, *args, **kwargs):
        ma.SchemaOpts.__init__(self, *args, **kwargs)
        del self.index_errors

    def asked(self, name):
        log("asked for", name)
        return object.__getattribute__(self, name)

    def answered(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        log("asked", name)
        return name == "index_errors"

    computed = property(lambda self: bool(log("asked for it")), lambda self, value: None)
    members = {
        "a property": {"index_errors": computed},
        "__getattribute__": {"__getattribute__": asked},
        "of the class": {"index_errors": True, "__init__": without},
        "__getattr__": {"__getattr__": answered, "__init__": without},
    }[kind]
    return type("Options", (ma.SchemaOpts,), members)


@pytest.mark.parametrize("kind", OPTIONS)
def test_options_of_the_users_own(ma, log, kind):
    class S(ma.Schema):
        OPTIONS_CLASS = options_class(ma, log, kind)
        a = ma.fields.Integer()

    class Parent(ma.Schema):
        one = ma.fields.Nested(S)
        several = ma.fields.Nested(S, many=True)
        listed = ma.fields.List(ma.fields.Nested(S))

    _use(log, S())
    for data in ({"one": ROWS[0]}, {"several": ROWS}, {"listed": ROWS}):
        schema = Parent()
        for _ in range(2):
            log.attempt(schema.load, data)


def test_many_in_the_options(ma, log):
    S = type("S", (ma.Schema,), {"a": ma.fields.Integer(), "Meta": meta(many=True)})
    for options in ({}, {"many": False}, {"only": ("a",)}) * 12:
        schema = S(**options)
        log.attempt(schema.dump, [{"a": 1}])
        log.attempt(schema.load, {"a": 1})
        log("many", schema.many)


def test_a_class_without_options(ma, log):
    S = ma.Schema.from_dict({"a": ma.fields.Integer()})
    for _ in range(4):
        S().dump({})
    for options in (None, object(), type("O", (), {"exclude": (), "fields": ()})()):
        S.opts = options
        log.attempt(S)
        log.attempt(lambda: S(only=("a",)))


@pytest.mark.parametrize("setting", ["partial", "unknown"])
@pytest.mark.parametrize("deletes", [False, True])
def test_the_truth_of_many_changes_another_setting(ma, log, deletes, setting):
    S = ma.Schema.from_dict({"a": ma.fields.Integer()})

    class Truth:
        def __bool__(self):
            log("truth")
            if deletes:
                vars(schema).pop(setting, None)
            else:
                setattr(schema, setting, "include" if setting == "unknown" else True)
            return False

    schema = S()
    for _ in range(4):
        for given in (False, Truth()):
            schema.partial, schema.unknown = None, "raise"
            log.attempt(schema.loads, '{"a": 1, "u": 2}', many=given)
            schema.partial, schema.unknown = None, "raise"
            log.attempt(schema.load, {"a": 1, "u": 2}, many=given)
            log.attempt(schema.dump, {"a": 1}, many=given)
            log.attempt(schema.dumps, {"a": 1}, many=given)


def test_names_in_the_options_that_are_no_collection(ma, log):
    class Truth:
        def __bool__(self):
            log("truth")
            return False

    S = ma.Schema.from_dict({"a": ma.fields.Integer()})
    for name in ("fields", "exclude", "load_only", "dump_only"):
        before = getattr(S.opts, name)
        for value in (5, object(), None, Truth()):
            setattr(S.opts, name, value)
            for options in ({}, {"only": ["a"]}, {"exclude": ["a"]}) * 3:
                log.attempt(lambda options=options: S(**options).dump({"a": 1}))
        setattr(S.opts, name, before)


def test_declared_fields_are_asked_for_as_often_as_upstream_asks(ma, log):
    S = ma.Schema.from_dict({"a": ma.fields.Integer()})
    declared = S._declared_fields

    def ask(schema):
        log("asked")
        return dict(declared)

    S._declared_fields = property(ask)
    for _ in range(4):
        log.attempt(lambda: S().dump({"a": 1}))


def _declined(ma, log):
    """A schema class with a ``data_key`` that is computed, so that no plan serves it."""

    class Named(ma.fields.Integer):
        @property
        def data_key(self):
            log("asked for data_key")
            return None if self.name == "a" else f"_{self.name}"

        @data_key.setter
        def data_key(self, value):
            pass

    class Own(ma.fields.String):
        def deserialize(self, value, *args, **kwargs):
            log("deserialize", value, args, kwargs)
            return super().deserialize(value, *args, **kwargs)

    class S(ma.Schema):
        a = Named(required=True)
        b = Named(attribute="inner.b", load_default=7)
        c = Own(allow_none=True)
        d = ma.fields.List(ma.fields.Integer())

    return S


DECLINED_INPUTS = (
    {"a": 1, "_b": 2, "c": None, "d": [1]}, {"a": 1, "c": 3, "d": [1, "x", 3], "e": 5},
    {"_b": "x", "f": 1}, {}, [1],
)  # fmt: skip


@pytest.mark.parametrize("unknown", ["raise", "include", "exclude"])
@pytest.mark.parametrize("partial", [None, True, False, ("a",)])
def test_a_class_whose_plan_is_declined(ma, log, partial, unknown):
    schema = _declined(ma, log)(unknown=unknown, partial=partial)
    for given in DECLINED_INPUTS:
        log.attempt(schema.load, given)
        log.attempt(schema.validate, given)
        log.attempt(schema.load, [given, given], many=True)
        log.attempt(schema.dump, given)
        log.attempt(schema.dump, [given, given], many=True)


@NEEDS_ENGINE
def test_the_engine_answers_for_a_class_whose_plan_is_declined():
    _, ours = harness.libraries()
    with harness.plans_at_once():
        schema = _declined(ours, lambda *args: None)()
        store = ours.error_store.ErrorStore()
        assert harness.seam.serialize(schema, {"a": 1}, False) == {"a": 1}
        loaded = harness.seam.deserialize(schema, {"a": 1}, store, False, None, "raise", None)
    assert loaded == {"a": 1, "inner": {"b": 7}}


@pytest.mark.parametrize(
    "name",
    ["set_value", "ValidationError", "missing", "Mapping", "the class's", "the instance's"],
)
def test_a_declined_class_and_a_replaced_function(ma, log, name):
    cls = _declined(ma, log)
    schema = cls()
    log.attempt(schema.load, DECLINED_INPUTS[0])
    module = __import__(f"{ma.__name__}.schema", fromlist=["schema"])
    own = log.spy("_call_and_store", ma.Schema._call_and_store)
    if name == "the class's":
        cls._call_and_store = staticmethod(own)
    elif name == "the instance's":
        schema._call_and_store = own
    else:
        replaced = {"set_value": log.spy("set_value", module.set_value), "Mapping": list}
        log.patch(module, name, replaced.get(name, KeyError))
    for given in DECLINED_INPUTS:
        log.attempt(schema.load, given)


def test_fields_that_are_bound_again_before_each_call(ma, log):
    S = ma.Schema.from_dict({"a": ma.fields.Integer()})
    schema = S()
    for given in [*ROWS, {"a": "1", "b": 2}] * 9:
        schema._init_fields()
        log.attempt(schema.load, given)
        log.attempt(schema.dump, given)
