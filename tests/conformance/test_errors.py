"""Errors: what is raised where a schema is made, and what messages say and how they merge."""

import pickle

import pytest

from tests.conformance.harness import FROM_FIRST_USE
from tests.conformance.material import Proxy, meta, schema_of

MODES = FROM_FIRST_USE


def _class(ma, **members):
    return type("S", (ma.Schema,), members)


CLASSES = {
    "field-class": lambda ma: _class(ma, f=ma.fields.Raw),
    "fields-text": lambda ma: _class(ma, Meta=meta(fields="f")),
    "exclude-text": lambda ma: _class(ma, Meta=meta(exclude="f")),
    "fields-unknown": lambda ma: _class(ma, Meta=meta(fields=("nope",)))(),
    "exclude-unknown": lambda ma: _class(ma, Meta=meta(exclude=("nope",)))(),
    "only-unknown": lambda ma: _class(ma, f=ma.fields.Raw())(only=("f", "nope", "nope2")),
    "only-dotted": lambda ma: _class(ma, f=ma.fields.Raw())(only=("f.x",)),
    "only-dotted-unknown": lambda ma: _class(ma, f=ma.fields.Raw())(only=("nope.x",)),
    "data-keys": lambda ma: _class(ma, f=ma.fields.Raw(data_key="x"), x=ma.fields.Raw())(),
    "attributes": lambda ma: _class(ma, f=ma.fields.Raw(attribute="x"), x=ma.fields.Raw())(),
    "method": lambda ma: _class(ma, f=ma.fields.Method("nope"))(),
    "method-not-callable": lambda ma: _class(ma, f=ma.fields.Method("x"), x=3)(),
    "include": lambda ma: _class(ma, Meta=type("Meta", (), {"include": {"in": ma.fields.Raw()}}))(),
    "list-of-method": lambda ma: _class(ma, f=ma.fields.List(ma.fields.Method("x")), x=len)(),
    "bad-opts": lambda ma: _class(ma, OPTIONS_CLASS=3),
}


@pytest.mark.parametrize("what", CLASSES)
def test_making_schemas(ma, log, what):
    made = log.attempt(CLASSES[what], ma)
    log("text", repr(made))


ERRORS = {
    "text": lambda ma: ma.ValidationError("a"),
    "list": lambda ma: ma.ValidationError(["a", "b"]),
    "dict": lambda ma: ma.ValidationError({"x": ["a"]}),
    "dict-schema": lambda ma: ma.ValidationError({"_schema": ["a"], "f": "b"}),
    "dict-index": lambda ma: ma.ValidationError({0: "a", 1: {"x": "y"}}),
    "named": lambda ma: ma.ValidationError("a", "g"),
    "named-list": lambda ma: ma.ValidationError("a", field_name="f"),
    "kwargs": lambda ma: ma.ValidationError("a", code=3, data={"d": 1}, valid_data=[1]),
    "empty": lambda ma: ma.ValidationError(""),
    "empty-list": lambda ma: ma.ValidationError([]),
    "empty-dict": lambda ma: ma.ValidationError({}),
    "nested-list": lambda ma: ma.ValidationError([["a"], {"b": ["c"]}]),
    "tuple": lambda ma: ma.ValidationError(("a", "b")),
    "number": lambda ma: ma.ValidationError(3),
    "none": lambda ma: ma.ValidationError(None),
    "subclass": lambda ma: type("Own", (ma.ValidationError,), {})("a"),
}


@pytest.mark.parametrize("second", ["none", "dict", "list", "text"])
@pytest.mark.parametrize("first", ERRORS)
def test_errors_from_everywhere_are_merged(ma, log, first, second):
    def fail(which):
        def failing(*args, **kwargs):
            raise ERRORS[which](ma)

        return failing

    class S(ma.Schema):
        f = ma.fields.Raw(validate=[fail(first), fail(second)])
        g = ma.fields.List(ma.fields.Raw(validate=fail(first)))
        h = ma.fields.Dict(values=ma.fields.Raw(validate=fail(first)))
        n = ma.fields.Nested({"x": ma.fields.Raw(validate=fail(first))})
        o = ma.fields.Integer()
        validates_o = ma.validates("o", "f")(fail(first))
        whole = ma.validates_schema(skip_on_field_errors=False)(fail(second))
        again = ma.validates_schema(skip_on_field_errors=False)(fail(first))

    for data in (
        {"f": 1}, {"g": [1, 2], "h": {"a": 1, "b": 2}}, {"n": {"x": 1, "y": 2}, "z": 3}, {"o": 1},
        {"o": "x"}, {"f": 1, "g": [1], "n": {"x": 1}, "o": 1},
    ):  # fmt: skip
        log.attempt(S().load, data)
        log.attempt(S().load, [data, data], many=True)
        log.attempt(S().validate, data)


@pytest.mark.parametrize("error", ERRORS)
def test_validation_errors_themselves(ma, log, error):
    made = ERRORS[error](ma)
    log("text", str(made), repr(made), made.args)
    log.attempt(made.normalized_messages)
    log.attempt(lambda: made.messages_dict)
    if error != "subclass":
        log.attempt(lambda: vars(pickle.loads(pickle.dumps(made))))


PROXIED = {
    "text": "t", "bytes": b"t", "list": ["t"], "tuple": ("t",), "dict": {"k": ["t"]},
}  # fmt: skip


@pytest.mark.parametrize("wrap", [Proxy, lambda messages: messages], ids=["proxy", "plain"])
@pytest.mark.parametrize(
    "place", ["validator", "validators", "field", "handle_error", "hook", "subclass"]
)
@pytest.mark.parametrize("messages", PROXIED)
def test_messages_that_are_no_list(ma, log, messages, place, wrap):
    """Upstream raises another error with those of a nested schema, which makes a list of a text."""

    class Refused(ma.ValidationError):
        def normalized_messages(self):
            return wrap(PROXIED[messages])

    def fail(*args, **kwargs):
        raise Refused("no") if place == "subclass" else ma.ValidationError(wrap(PROXIED[messages]))

    def handle_error(self, error, data, **kwargs):
        error.messages = wrap(PROXIED[messages])

    failing = type("Failing", (ma.fields.Integer,), {"_deserialize": fail})
    field = {
        "validator": lambda: ma.fields.Raw(validate=fail),
        "validators": lambda: ma.fields.Raw(validate=[fail, ma.validate.Equal(2), fail]),
        "field": failing,
    }.get(place, ma.fields.Integer)()
    members = {
        "hook": {"after": ma.post_load(fail)},
        "subclass": {"before": ma.pre_load(fail)},
        "handle_error": {"handle_error": handle_error},
    }.get(place, {})
    inner = ma.fields.Nested(type("Inner", (ma.Schema,), {"f": field, **members}))
    outer = schema_of(
        ma, {"i": inner, "l": ma.fields.List(inner), "d": ma.fields.Dict(values=inner)}
    )
    bad = {"f": "x"}
    for schema in (inner.schema, outer):
        for data in ({"f": 1}, bad, {"i": {"f": 1}}, {"i": bad, "l": [bad] * 2, "d": {"k": bad}}):
            log.attempt(schema.load, data)
            log("validate", log.attempt(schema.validate, data))


def test_a_shared_message_is_not_shared_with_the_result(ma, log):
    messages = ["shared", {"inner": ["shared"]}]
    error = ma.ValidationError(messages)

    def fail(value):
        raise error

    schema = schema_of(ma, {name: ma.fields.Raw(validate=fail) for name in "fg"})
    first = log.attempt(schema.load, {"f": 1, "g": 2})
    first.messages["f"][1]["inner"].append("more")
    log.attempt(schema.load, {"f": 1, "g": 2})
    log.attempt(schema.load, [{"f": 1}, {"g": 2}], many=True)
    log("messages", messages)
