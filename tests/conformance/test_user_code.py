"""User code in the middle of upstream's own kinds of fields and validators: how often it is
called, and what its exceptions become."""

import math

import pytest

from tests.conformance.material import HOLDERS, Color, Proxy, schema_of, subclass

TIMES = 4


def repeat(log, function, *args, **kwargs):
    """Often enough for the engine to plan in between, whatever it waits for."""
    for _ in range(TIMES):
        log.attempt(function, *args, **kwargs)


PARTIALS = {
    "tuple": lambda: ("c.x", "many.x", "list.x"),
    "list": lambda: ["c.x", "many"],
    "set": lambda: {"values.x"},
    "true": lambda: True,
    "empty": lambda: (),
}


@pytest.mark.parametrize("partial", PARTIALS)
def test_a_hook_that_changes_its_partial(ma, log, partial):
    class Child(ma.Schema):
        x = ma.fields.Integer(required=True)
        x0 = ma.fields.Integer(required=True)

        @ma.pre_load
        def change(self, data, *, partial, **kwargs):
            log("partial", partial)
            if isinstance(partial, list):
                partial.append(f"x{len(partial)}")
            return data

    class Parent(ma.Schema):
        c = ma.fields.Nested(Child)
        many = ma.fields.Nested(Child, many=True)
        list = ma.fields.List(ma.fields.Nested(Child))
        values = ma.fields.Dict(values=ma.fields.Nested(Child))

        @ma.pre_load
        def change(self, data, *, partial, **kwargs):
            if isinstance(partial, list):
                partial.append("values.x0")
            return data

    schema = Parent()
    item = {"c": {}, "many": [{}, {}], "list": [{}, {}], "values": {"a": {}, "b": {}}}
    given = PARTIALS[partial]()
    repeat(log, schema.load, item, partial=given)
    repeat(log, schema.load, [item, item], many=True, partial=given)
    log("given", given)


def test_an_enum_class_that_is_a_proxy(ma, log):
    schema = schema_of(ma, {"f": ma.fields.Enum(Color)})
    schema.fields["f"].enum = Proxy(Color)
    for value in (Color.RED, "RED", None):
        repeat(log, schema.dump, {"f": value})
        repeat(log, schema.load, {"f": value})


ERRORS = {
    "validation-dict": lambda ma: ma.ValidationError({"own": ["message"]}),
    "validation-text": lambda ma: ma.ValidationError("message"),
    "type": lambda ma: TypeError("wording"),
    "key": lambda ma: KeyError("wording"),
}
VALIDATORS = {
    "OneOf": lambda ma, base: base([1]),
    "NoneOf": lambda ma, base: base([2, "b"]),
    "Equal": lambda ma, base: base(1),
    "Regexp": lambda ma, base: base("a"),
    "Range": lambda ma, base: base(1, 1),
    "Length": lambda ma, base: base(1, 1),
}


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("name", VALIDATORS)
def test_a_validator_that_fails_to_word_its_message(ma, log, name, error):
    class Own(getattr(ma.validate, name)):
        def _format_error(self, *args):
            log("wording", args)
            raise ERRORS[error](ma)

    validators = [VALIDATORS[name](ma, Own), lambda value: log("next", value)]
    schema = schema_of(ma, {"f": ma.fields.Raw(validate=validators)})
    for value in (1, 2, "a", "b", [], {}):
        repeat(log, schema.load, {"f": value})


@pytest.mark.parametrize("name", VALIDATORS)
def test_a_value_whose_comparison_is_a_validation_error(ma, log, name):
    def compare(self, other):
        raise ma.ValidationError("from the value")

    value = type("Value", (), {"__eq__": compare, "__ne__": compare, "__lt__": compare})()
    validator = VALIDATORS[name](ma, getattr(ma.validate, name))
    first, last = (lambda value: log("first")), (lambda value: log("last"))
    schema = schema_of(ma, {"f": ma.fields.Raw(validate=[first, validator, last])})
    repeat(log, schema.load, {"f": value})


class Member:
    """Equal to what its answer says; an exception is raised."""

    def __init__(self, name, answer):
        self.name, self.answer = name, answer

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize("answer", [True, False, ValueError("v")], ids=repr)
def test_truthy_and_falsy_members_of_the_users(ma, log, answer):
    schema = schema_of(
        ma, {"f": ma.fields.Boolean(truthy=[Member("yes", answer)], falsy=[Member("no", answer)])}
    )
    for value in ("yes", "no", "other", 1, True):
        repeat(log, schema.load, {"f": value})


@pytest.mark.parametrize("place", ["validate", "exceptions"])
def test_errors_made_in_another_way(ma, log, place):
    schema = schema_of(
        ma,
        {
            "a": ma.fields.Raw(validate=[ma.validate.OneOf([1]), ma.validate.Equal(1)]),
            "b": ma.fields.String(validate=[ma.validate.Length(9), ma.validate.Regexp("a")]),
            "c": ma.fields.Nested({"x": ma.fields.Integer()}),
            "d": ma.fields.List(ma.fields.Integer()),
            "e": ma.fields.Raw(required=True),
        },
    )
    data = {"a": 2, "b": "b", "c": {"x": "x"}, "d": ["y"]}
    repeat(log, schema.load, data)
    made = ma.ValidationError.__init__

    def init(self, message, *args, **kwargs):
        log("made", message, sorted(kwargs))
        made(self, ["another", message] if isinstance(message, str) else message, *args, **kwargs)

    if place == "validate":
        own = type("Own", (ma.ValidationError,), {"__init__": init})
        log.patch(ma.validate, "ValidationError", own)
    else:
        log.patch(ma.ValidationError, "__init__", init)
    repeat(log, schema.load, data)


def test_isnan_replaced(ma, log):
    schema = schema_of(ma, {"f": ma.fields.Float()})
    repeat(log, schema.load, {"f": 1.5})
    log.patch(math, "isnan", lambda value: True)
    repeat(log, schema.load, {"f": 1.5})


def test_a_default_that_becomes_callable(ma, log):
    Default = subclass()
    default = Default()
    schema = schema_of(ma, {"f": ma.fields.Raw(load_default=default, dump_default=default)})
    for callable_ in (False, True, False):
        if callable_:
            Default.__call__ = lambda self: "called"
        elif "__call__" in vars(Default):
            del Default.__call__
        repeat(log, schema.load, {})
        repeat(log, schema.dump, {})


@pytest.mark.parametrize(
    "name",
    ["Integer", "Float", "Decimal", "UUID", "DateTime", "AwareDateTime", "Date", "TimeDelta", "IP"],
)
def test_make_error_that_raises_says_what_it_was_called_for(ma, log, name):
    class Own(getattr(ma.fields, name)):
        def make_error(self, key, **kwargs):
            raise KeyError(key)

    schema = schema_of(ma, {"f": Own()})
    for _ in range(4):
        with pytest.raises(KeyError) as caught:
            schema.load({"f": "x"})
        chain, error = [], caught.value.__context__
        while error is not None:
            chain.append(type(error).__name__)
            error = error.__context__
        log("context", chain)


CARRIED = {
    "nothing": {}, "its own": {"reason": "text"},
    "what an error is made of": {"valid_data": [1], "data": 2},
    "the message again": {"message": "other"}, "no text": {1: 2}, "no mapping": 5,
}  # fmt: skip


def make_error(ma, kind):
    class Bare(ma.ValidationError):
        def __init__(self):
            self.messages = ["no"]

    class Silent(ma.ValidationError):
        @property
        def messages(self):
            raise KeyError("messages")

        @messages.setter
        def messages(self, value):
            pass

    made = {"stop": StopIteration(), "bare": Bare(), "silent": Silent("no", valid_data=1)}
    if kind in made:
        return made[kind]
    error = ma.ValidationError("no")
    error.kwargs = CARRIED[kind]
    return error


@pytest.mark.parametrize("raiser", ["field", "validator"])
@pytest.mark.parametrize("kind", ["stop", "bare", "silent", *CARRIED])
@pytest.mark.parametrize("container", HOLDERS)
def test_what_an_error_carries(ma, log, container, kind, raiser):
    def fail(*args, **kwargs):
        raise make_error(ma, kind)

    members = {"_serialize": fail, "_deserialize": fail} if raiser == "field" else {}
    validate = [fail, ma.validate.Equal(1), fail]
    field = type("Own", (ma.fields.Raw,), members)(validate=validate)
    schema = schema_of(ma, {"f": HOLDERS[container][0](ma, field)})
    for value in ((1, 2), {"x": 1, "y": 2}):
        # A generator of upstream's dumps a tuple, which words the StopIteration.
        if (container, kind) != ("tuple", "stop"):
            repeat(log, schema.dump, {"f": value})
            repeat(log, schema.dump, [{"f": value}], many=True)
        # Plans read an error's valid_data also where it is a key that is refused.
        if (container, kind, raiser) != ("keys", "bare", "field"):
            repeat(log, schema.load, {"f": value})
