"""Messages of invalid values, in each way in which a user may word them."""

import collections
import warnings
from pathlib import Path

import pytest

from tests.conformance.material import FIELDS, Color, Proxy, schema_of, written

BAD = (
    "x", "", "nan", "1e999", "1e400", "-inf", "٣", "1_0", "1e+_5", 3, 2.5, float("nan"),
    float("inf"), 10**400, True, None, [], ["x"], [1, "x"], {}, {"a": "x"}, b"x", "x" * 40,
    "2020-13-01", "RED", "name", ...,
)  # fmt: skip
TEXTS = {
    "input": "no {input}", "input, formatted": "no {input!r:>5}",
    "type": "{input.__class__.__name__} {obj_type} {choices}", "unknown word": "{nope}",
    "broken": "a } brace", "doubled": "{{input}}", "empty": "", "a list": ["a", "{input}"],
    "a dict": {"code": 3}, "bytes": b"bytes", "none": None,
}  # fmt: skip


class Lazy:
    """Text that is translated when it is shown."""

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return f"translated {self.text}"

    def format(self, **words):
        return f"formatted {self.text} {sorted(words)}"

    def __eq__(self, other):
        return isinstance(other, Lazy) and other.text == self.text

    __hash__ = None

    def __repr__(self):
        return f"Lazy({self.text!r})"


class Gettext(str):
    """What a catalogue gives: text with a method of its own."""

    def format(self, *args, **words):
        return "catalogue: " + str.format(self, *args, **words)


TEXTS["lazy"] = Lazy("{input}")
TEXTS["subclass of str"] = Gettext("{input}")
KEYS = (
    "required", "null", "invalid", "invalid_utf8", "invalid_uuid", "too_large", "special", "type",
    "unknown", "invalid_awareness", "format", "invalid_ip",
)  # fmt: skip


def see(ma, log, fields, *values, **options):
    """Load invalid values of the one field "f", as it is, in many and in text."""
    schema = schema_of(ma, fields, **options)
    for _ in range(2):
        for value in values:
            log.attempt(schema.validate, {"f": value})
        log.attempt(schema.load, {})
    log.attempt(schema.load, [{"f": each} for each in values], many=True)


def make_error(self, key, **words):
    error = type(self).__mro__[1].make_error(self, key, **words)
    error.messages.append(f"own {key} {sorted(words)}")
    return error


def fail(self, key, **words):
    raise AssertionError("nobody calls this")


def makes_a_class(self, key, **words):
    return KeyError


def makes_another(self, key, **words):
    return ValueError("another")


WAYS = written(
    {"collections": collections, "make_error": make_error, "fail": fail,
     "makes_a_class": makes_a_class, "makes_another": makes_another}, "ma, field",
    own_make_error='field.__class__ = type("Own", (type(field),), {"make_error": make_error})',
    own_fail='field.__class__ = type("Own", (type(field),), {"fail": fail})',
    makes_a_class='field.__class__ = type("Own", (type(field),), {"make_error": makes_a_class})',
    makes_another='field.__class__ = type("Own", (type(field),), {"make_error": makes_another})',
    make_error_of_the_instance="""def made(key, **words):
    return ma.ValidationError([key, sorted(words)])
field.make_error = made""",
    no_messages="field.error_messages = {}",
    a_dictionary_of_another_type="""words = field.error_messages
field.error_messages = collections.defaultdict(lambda: "made up", words)""",
)  # fmt: skip


@pytest.mark.parametrize("way", [*TEXTS, *WAYS])
@pytest.mark.parametrize("kind", FIELDS)
def test_words_of_the_field(ma, log, kind, way):
    field = FIELDS[kind](ma)
    if way in WAYS:
        WAYS[way](ma, field)
    else:
        field.required = field.load_default is ma.missing
        field.error_messages = field.error_messages | dict.fromkeys(KEYS, TEXTS[way])
    see(ma, log, {"f": field}, *BAD)


@pytest.mark.parametrize("kind", FIELDS)
def test_messages_are_looked_up_when_a_value_fails(ma, log, kind):
    schema = schema_of(ma, {"f": FIELDS[kind](ma)})
    for text in ("first", "second {input}", ["third"]):
        schema.fields["f"].error_messages.update(dict.fromkeys(KEYS, text))
        for value in BAD:
            log.attempt(schema.validate, {"f": value})
    log.patch(ma.fields.Field, "make_error", lambda self, key, **words: ma.ValidationError(key))
    for value in BAD:
        log.attempt(schema.validate, {"f": value})


PLACES = {
    "list": lambda ma, field: ma.fields.List(field),
    "dict": lambda ma, field: ma.fields.Dict(keys=ma.fields.Integer(), values=field),
    "tuple": lambda ma, field: ma.fields.Tuple((field, ma.fields.Integer())),
    "nested": lambda ma, field: ma.fields.Nested({"a": field, "b": ma.fields.Integer()}),
    "many": lambda ma, field: ma.fields.Nested({"a": field}, many=True),
    "keyed": lambda ma, field: ma.fields.List(field, data_key="F", attribute="x.y"),
}


@pytest.mark.parametrize("index_errors", [True, False])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["integer", "text", "enum", "date", "decimal", "own"])
def test_where_the_field_stands(ma, log, kind, place, index_errors):
    makers = {
        "integer": lambda: ma.fields.Integer(strict=True, required=True),
        "text": lambda: ma.fields.String(validate=ma.validate.Length(2)),
        "enum": lambda: ma.fields.Enum(Color, error_messages={"unknown": "{choices}"}),
        "date": lambda: ma.fields.Date(error_messages={"invalid": "{input} is no {obj_type}"}),
        "decimal": lambda: ma.fields.Decimal(places=2),
        "own": type("Own", (ma.fields.Integer,), {"make_error": make_error}),
    }
    members = {
        "f": PLACES[place](ma, makers[kind]()),
        "g": ma.fields.Integer(),
        "Meta": type("Meta", (), {"index_errors": index_errors}),
    }
    schema = type("S", (ma.Schema,), members)()
    key = "F" if place == "keyed" else "f"
    for value in (
        ["x"], ["x", "y"], [1, "x"], {"a": "x"}, {"1": "x", "x": 2}, [{"a": "x"}], "x", 3,
    ):  # fmt: skip
        for partial in (None, True, ("g", "f.a")):
            log.attempt(schema.load, {key: value}, partial=partial)
            log.attempt(schema.validate, {key: value, "g": "x", "h": 1}, partial=partial)
        log.attempt(schema.load, [{key: value}, {"g": 1}, {"g": "x"}], many=True)
        log.attempt(schema.validate, [{key: value}] * 3, many=True)


VALIDATORS = {
    "length-min": lambda v, **o: v.Length(min=3, **o),
    "length-max": lambda v, **o: v.Length(max=0, **o),
    "length-both": lambda v, **o: v.Length(3, 4, **o),
    "length-equal": lambda v, **o: v.Length(equal=7, **o),
    "range-min": lambda v, **o: v.Range(min=10, **o),
    "range-max": lambda v, **o: v.Range(max=1, **o),
    "range-both": lambda v, **o: v.Range(4, 4, **o),
    "range-open": lambda v, **o: v.Range(3, 10, min_inclusive=False, max_inclusive=False, **o),
    "one-of": lambda v, **o: v.OneOf(["a", 1], ["A", "one"], **o),
    "none-of": lambda v, **o: v.NoneOf(["x", 3], **o),
    "contains-only": lambda v, **o: v.ContainsOnly(["a", 1], **o),
    "contains-none-of": lambda v, **o: v.ContainsNoneOf(["x", 1], **o),
    "equal": lambda v, **o: v.Equal("a", **o),
    "regexp": lambda v, **o: v.Regexp("a+", **o),
    "email": lambda v, **o: v.Email(**o),
    "url": lambda v, **o: v.URL(**o),
    "url-relative": lambda v, **o: v.URL(relative=True, **o),
    "url-schemes": lambda v, **o: v.URL(schemes={"http", "https", "git"}, require_tld=False, **o),
    "predicate": lambda v, **o: v.Predicate("isdigit", **o),
}
ERRORS = {
    "none": {},
    "empty": {"error": ""},
    "plain": {"error": "plain"},
    "words": {"error": "{input} {min} {max} {equal}"},
    "input": {"error": "no {input}"},
    "choices": {"error": "{choices} {labels} {values} {other} {regex}"},
    "broken": {"error": "a } brace"},
    "lazy": {"error": Lazy("{input}")},
    "subclass of str": {"error": Gettext("{input}")},
}
REFUSED = (
    "", "x", "xx", "a", "ab@", "@", "a@b", "a@localhost", "é@é.fr", "http://", "http:// a",
    "ftp://x",
    "git://x", "://", "/a", "//a", 3, 3.5, 0, float("nan"), 10**30, True, None, [], ["x"],
    [1], ["a", 1], ["a", "x"], {}, {"a": 1}, ("x",), (1, 2),
)  # fmt: skip


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("kind", VALIDATORS)
def test_a_text_of_the_validator(ma, log, kind, error):
    validator = VALIDATORS[kind](ma.validate, **ERRORS[error])
    both = ma.validate.And(validator, ma.validate.Length(max=1, error="inner"))
    for field in (
        ma.fields.Raw(validate=validator),
        ma.fields.Raw(validate=[ma.validate.OneOf(["first"]), validator]),
        ma.fields.Raw(validate=[both, ma.validate.And(both)]),
        ma.fields.List(ma.fields.Raw(validate=validator), validate=ma.validate.Length(max=1)),
    ):
        see(ma, log, {"f": field}, *REFUSED)


def test_where_a_false_is_warned_of(ma, log):
    """Before release 4 a validator may return False, of which marshmallow warns."""
    false = ma.validate.And(lambda value: False)
    for validate in (false, [false], [ma.validate.Length(max=9), ma.validate.And(false)]):
        schema = schema_of(ma, {"f": ma.fields.Raw(validate=validate)})
        for _ in range(2):
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                log.attempt(schema.load, {"f": "a"})
            log("warned", [(each.category.__name__, Path(each.filename).name) for each in seen])


def own_format(self, value, *message):
    return ["own", type(value).__name__, len(message)]


CHANGES = written(
    {"Proxy": Proxy, "own_format": own_format}, "log, validator, base, call, own",
    nothing="",
    error='validator.error = "changed {input}"',
    no_error="validator.error = None",
    error_object='validator.error = Proxy("own {input}")',
    format='validator._format_error = lambda value, *message: "of the instance"',
    format_of_the_class='log.patch(base, "_format_error", own_format)',
    call_of_the_instance='validator.__call__ = lambda value: log("never")',
    call_of_the_class='log.patch(base, "__call__", call)',
    attributes='validator.min = validator.max = 1; validator.choices = validator.comparable = "c"',

    subclass="validator.__class__ = own()",
    slots="validator.__class__ = own(__slots__=())",
    own_call="validator.__class__ = own(__call__=call)",
    own_call_later="validator.__class__ = own(); type(validator).__call__ = call",
    own_formatting="validator.__class__ = own(_format_error=own_format)",
    computed="""asked = property(lambda self: log("asked") or [3])
error = property(lambda self: log("error") or "e", lambda self, value: None)
validator.__class__ = own(min=asked, choices=asked, error=error)""",
)  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", VALIDATORS)
def test_a_validator_that_changes(ma, log, kind, change):
    validator = VALIDATORS[kind](ma.validate)
    base = type(validator)
    original = base.__call__

    def call(self, value):
        log("call", value)
        return original(self, value)

    def own(**members):
        return type("Own", (base,), members)

    def use():
        for value in REFUSED:
            log.attempt(schema.validate, {"f": value})
            log.attempt(schema.load, [{"f": value}, {"f": "a"}], many=True)

    schema = schema_of(ma, {"f": ma.fields.Raw(validate=validator, allow_none=True)})
    use()
    log.attempt(CHANGES[change], log, validator, base, call, own)
    use()
    if change.startswith("format"):
        log.attempt(delattr, validator, "_format_error")
        use()


def test_messages_of_a_class(ma, log):
    class Short(ma.validate.Length):
        message_max = "more than {max}"

    class Low(ma.validate.Range):
        message_max = "above {{max}} {max_op}"

    class Named(ma.validate.OneOf):
        default_message = "of {choices}: {input}"

    for validator in (Short(max=1), Short(1, 1), Low(max=1), Low(0, 1), Named(["a"])):
        see(ma, log, {"f": ma.fields.Raw(validate=validator)}, *REFUSED)


@pytest.mark.parametrize("raises", ["nothing", "another", "error", "changes"])
def test_what_handle_error_gets(ma, log, raises):
    class S(ma.Schema):
        f = ma.fields.Integer(required=True)
        n = ma.fields.Nested({"g": ma.fields.Integer()})

        def handle_error(self, error, data, *, many, **options):
            log("handled", vars(error), error.args, str(error), error.__context__)
            log("given", data, many, options)
            if raises == "another":
                raise KeyError("own")
            if raises == "error":
                raise ma.ValidationError("own", "g") from error
            if raises == "changes":
                error.messages = "changed"

    for data in ({}, {"f": "x"}, {"f": "x", "n": {"g": "x"}}, 3, {"f": 1}):
        log.attempt(S().load, data)
        log.attempt(S().validate, data)
        log.attempt(S().validate, [data, {}], many=True)


def test_the_error_itself(ma, log):
    schema = schema_of(ma, {"f": ma.fields.Integer()})
    data = {"f": "x"}
    error = log.attempt(schema.load, data)
    log("vars", list(vars(error).items()), error.args, error.__cause__, error.__context__)
    log("same", error.data is data, error.args[0] is error.messages, error.__suppress_context__)
    log("type", type(error) is ma.ValidationError, error.normalized_messages())
    try:
        try:
            raise KeyError("around")
        except KeyError:
            schema.load(data)
    except ma.ValidationError as raised:
        log("context", raised.__context__, raised.__cause__)
    log("not shared", schema.validate(data) is schema.validate(data))
    schema.validate(data)["f"].append("mine")
    log.attempt(schema.validate, data)
