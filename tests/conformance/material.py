"""Values, objects and fields that the scenarios combine.

Everything is a factory called anew for each use: generators are consumed, mappings grow,
and no object may be shared between the two libraries.
"""

import builtins
import collections
import dataclasses
import datetime as dt
import decimal
import dis
import enum
import fractions  # noqa: F401
import ipaddress  # noqa: F401
import operator
import types
import uuid
from collections.abc import Mapping, Sequence
from textwrap import indent
from typing import Any, NamedTuple

import attrs

UTC = dt.UTC
UUID_TEXT = "12345678-1234-5678-1234-567812345678"


# --- values that lie about what they are -------------------------------------------------


class Text(str):
    """A str subclass whose ``str()`` is again a subclass."""

    def __str__(self):
        return Text(str.__str__(self) + "!")

    def strip(self, *args):
        return Text("stripped")


class PlainText(str):
    __slots__ = ()


def answering(base, **answers):
    """A class whose methods give these answers, whatever they are asked."""

    def method(name, answer):
        return lambda *args, **kwargs: iter(answer) if name == "__iter__" else answer

    return type("Answering", (base,), {name: method(name, each) for name, each in answers.items()})


Number = answering(int, __int__=41, __str__="a number")
PlainNumber = answering(int)
Real = answering(float, __float__=2.5, __str__="3.5")
Bytes = answering(bytes, decode="decoded")
Moment = answering(dt.datetime, isoformat="a moment", strftime="formatted")
Day = answering(dt.date, isoformat="a day")
Clock = answering(dt.time, isoformat="a clock")
Identifier = answering(uuid.UUID, __str__="an identifier")
Money = answering(decimal.Decimal, __str__="12.50")
Numeric = answering(object, __int__=5, __float__=5.5, __str__="5.25")
Index = answering(object, __index__=6, __str__="6")


class Span(dt.timedelta):
    @property
    def days(self):
        return 7


class Zone(dt.tzinfo):
    """A time zone with an offset that ISO formatting must spell out to the microsecond."""

    def utcoffset(self, when):
        return dt.timedelta(hours=5, minutes=30, seconds=7, microseconds=11)

    def dst(self, when):
        return None

    def tzname(self, when):
        return "ODD"


class NoOffset(Zone):
    def utcoffset(self, when):
        return None


class Stringable:
    def __init__(self, text):
        self.text = text

    def __str__(self):
        if isinstance(self.text, Exception):
            raise self.text
        return self.text


def refusing(method, error, base=object):
    """A class one of whose methods raises an error of a class."""

    def refuse(self, *args):
        raise error(method)

    return type("Refusing", (base,), {method: refuse})


Unequal = refusing("__eq__", RuntimeError)
Unhashable = refusing("__hash__", LookupError)
Undecided = refusing("__bool__", ArithmeticError)
BrokenZone = refusing("utcoffset", KeyError, Zone)


class EqualToOne:
    def __eq__(self, other):
        return other == 1

    def __hash__(self):
        return 1

    def __str__(self):
        return "one"


def _forwarded(function):
    """A method of a proxy that calls a function with the proxy's target in its place."""
    return lambda self, *args: function(object.__getattribute__(self, "_target"), *args)


class Proxy:
    """Claims another class by ``__class__``, as werkzeug's local proxies do."""

    def __init__(self, target):
        object.__setattr__(self, "_target", target)

    __class__ = property(_forwarded(type))
    __getattr__ = _forwarded(getattr)
    __getitem__ = _forwarded(operator.getitem)
    __iter__ = _forwarded(iter)
    __len__ = _forwarded(len)
    __contains__ = _forwarded(operator.contains)
    __str__ = _forwarded(str)
    __eq__ = _forwarded(operator.eq)
    __hash__ = _forwarded(hash)


class Color(enum.Enum):
    RED = 1
    GREEN = "green"
    CRIMSON = 1  # noqa: PIE796


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 10


class Word(str, enum.Enum):  # noqa: UP042
    YES = "yes"
    NO = "no"


class Maybe(enum.Enum):
    NOTHING = None
    SOME = 1


class When(enum.Enum):
    NEW_YEAR = dt.date(2020, 1, 1)
    LEAP = dt.date(2020, 2, 29)


class Flags(enum.Flag):
    A = 1
    B = 2


class Fused(enum.Enum):
    A = "1"
    B = "2"

    @classmethod
    def _missing_(cls, value):
        if value == "raise":
            raise ValueError("no such member")
        return cls.A if value == "0" else None


class Pair(NamedTuple):
    x: Any
    y: Any = None


class ListLike(list[Any]):
    def __iter__(self):
        return iter(["from", "iter"])

    def __len__(self):
        return 99


class TupleLike(tuple[Any, ...]):
    def __iter__(self):
        return iter(("x", "y"))


class DictLike(dict[Any, Any]):
    """A dict whose own methods answer otherwise than its storage."""

    def items(self):
        return [("k", "from items")]

    def get(self, key, default=None):
        return "from get"

    def __iter__(self):
        return iter(["k"])


class Query:
    """Iterated exactly once, never asked for its length."""

    def __init__(self, *items):
        self._items = items
        self.iterated = 0

    def __iter__(self):
        self.iterated += 1
        return iter(self._items)

    def __len__(self):
        raise AssertionError("asked for the length")


class Sequenced(Sequence[Any]):
    def __init__(self, *items):
        self._items = items

    def __getitem__(self, index):
        return self._items[index]

    def __len__(self):
        return len(self._items)


class OldSequence:
    """Iterable by ``__getitem__`` alone."""

    def __getitem__(self, index):
        if index > 2:
            raise IndexError(index)
        return index


class Mapped(Mapping[Any, Any]):
    def __init__(self, data):
        self._data = dict(data)

    def __getitem__(self, key):
        return self._data[key]

    def __iter__(self):
        return iter(self._data)

    def __len__(self):
        return len(self._data)


class MultiDict(dict[Any, Any]):
    """First value on ``[]`` and ``get``, lists in storage, as web frameworks' form data."""

    def __getitem__(self, key):
        return dict.__getitem__(self, key)[0]

    def get(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            return default


def failing_iterator():
    yield 1
    raise KeyError("while iterating")


CONSTANTS = {
    "none": None, "true": True, "false": False, "zero": 0, "one": 1, "minus": -5, "int": 42,
    "big": 2**70, "huge": 10**5000, "float": 1.5, "whole-float": 3.0, "minus-zero": -0.0,
    "small-float": 1e-320, "large-float": 1e300, "complex": 1 + 2j, "str": "text", "empty": "",
    "blank": "  ", "unicode": "žluťoučký \U0001f40e", "surrogate": "\ud800", "nul": "a\0b",
    "digits": "12", "spaced-digits": " 12 ", "underscored-digits": "1_000", "arabic-digits": "٣",
    "decimal-digits": "12.50", "exponent": "1e3", "nan-text": "NaN", "inf-text": "-Infinity",
    "many-digits": "9" * 5000, "yes": "yes", "On": "On", "false-text": "false", "bytes": b"raw",
    "bad-bytes": b"\xff\xfe", "sixteen-bytes": b"0123456789abcdef",
    "iso-datetime": "2020-02-29T12:30:15.123456+02:00", "iso-z": "2020-02-29T12:30:15Z",
    "iso-basic": "20200229T123015", "iso-date": "2020-02-29", "iso-week": "2020-W09-6",
    "iso-time": "12:30:15.5", "not-a-date": "2021-02-29", "rfc": "Sat, 29 Feb 2020 12:30:15 +0100",
    "rfc-minus-zero": "Sat, 29 Feb 2020 12:30:15 -0000", "ipv4-text": "192.168.0.1",
    "ipv4-zeros": "192.168.000.1", "ipv6-text": "::1", "ip-interface-text": "192.168.0.1/24",
    "email": "a.b@example.org", "email-odd": '"quoted"@[127.0.0.1]', "not-email": "a@b",
    "url": "https://example.org:8080/a?b=c#d", "url-relative": "/a/b",
    "url-file": "file:///etc/hosts", "not-url": "http://", "enum-name": "RED",
    "enum-alias-name": "CRIMSON", "enum-value": "green",
}  # fmt: skip


def moved():
    """A dictionary whose order is not that in which its keys were added."""
    found = collections.OrderedDict(a=2, b=1)
    found.move_to_end("a")
    return found


def zone(**offset):
    return dt.timezone(dt.timedelta(**offset))


def _value(text):
    code = compile(text, f"the value {text}", "eval")
    return lambda: eval(code)


VALUE_TEXTS = {
    "int-subclass": "Number(7)", "plain-int-subclass": "PlainNumber(7)", "nan": 'float("nan")',
    "inf": 'float("inf")', "minus-inf": 'float("-inf")', "float-subclass": "Real(9.5)",
    "fraction": "fractions.Fraction(3, 2)", "utf8-bytes": '"é".encode()',
    "bytes-subclass": 'Bytes(b"x")', "bytearray": 'bytearray(b"ba")',
    "memoryview": 'memoryview(b"mv").tobytes()', "str-subclass": 'Text("sub")',
    "plain-str-subclass": 'PlainText("sub")', "datetime": "dt.datetime(2020, 2, 29, 12, 30, 15)",
    "datetime-micro": "dt.datetime(2020, 2, 29, 12, 30, 15, 123)",
    "datetime-utc": "dt.datetime(2020, 2, 29, 12, 30, 15, 120000, tzinfo=UTC)",
    "datetime-offset": "dt.datetime(2020, 2, 29, 12, tzinfo=zone(hours=-3, minutes=-30))",
    "datetime-odd-zone": "dt.datetime(2020, 2, 29, 12, tzinfo=Zone())",
    "datetime-seconds-offset": "dt.datetime(2020, 2, 29, tzinfo=zone(seconds=-1))",
    "datetime-micro-offset": "dt.datetime(2020, 2, 29, tzinfo=zone(microseconds=-1))",
    "datetime-no-offset": "dt.datetime(2020, 2, 29, 12, tzinfo=NoOffset())",
    "datetime-broken-zone": "dt.datetime(2020, 2, 29, 12, tzinfo=BrokenZone())",
    "datetime-min": "dt.datetime.min", "datetime-max": "dt.datetime.max",
    "datetime-fold": "dt.datetime(2020, 2, 29, fold=1)", "datetime-subclass": "Moment(2020, 1, 1)",
    "date": "dt.date(2020, 2, 29)", "date-early": "dt.date(33, 4, 3)",
    "date-subclass": "Day(2020, 1, 1)", "time": "dt.time(1, 2, 3)",
    "time-micro": "dt.time(1, 2, 3, 4)", "time-utc": "dt.time(1, 2, tzinfo=UTC)",
    "time-fold": "dt.time(1, 2, fold=1)", "time-odd-zone": "dt.time(1, 2, 3, tzinfo=Zone())",
    "time-subclass": "Clock(1)", "timedelta": "dt.timedelta(days=1, seconds=2, microseconds=3)",
    "timedelta-minus": "dt.timedelta(microseconds=-1)", "timedelta-max": "dt.timedelta.max",
    "timedelta-subclass": "Span(1)", "uuid": "uuid.UUID(UUID_TEXT)",
    "uuid-subclass": "Identifier(UUID_TEXT)", "uuid-text": "UUID_TEXT",
    "uuid-hex": 'UUID_TEXT.replace("-", "").upper()', "uuid-braces": '"{" + UUID_TEXT + "}"',
    "decimal": 'decimal.Decimal("12.345")', "decimal-zero": 'decimal.Decimal("-0")',
    "decimal-exponent": 'decimal.Decimal("1E+10")', "decimal-far": 'decimal.Decimal("1E+9999")',
    "decimal-nan": 'decimal.Decimal("NaN")', "decimal-snan": 'decimal.Decimal("-sNaN")',
    "decimal-inf": 'decimal.Decimal("-Infinity")',
    "decimal-long": 'decimal.Decimal("1.23456789012345678901234567890123456789")',
    "decimal-subclass": 'Money("9")', "ipv4": 'ipaddress.ip_address("10.0.0.1")',
    "ipv6": 'ipaddress.ip_address("2001:db8::1")',
    "ipv6-scope": 'ipaddress.ip_address("fe80::1%eth0")',
    "ip-interface": 'ipaddress.ip_interface("10.0.0.1/24")',
    "ipv6-interface": 'ipaddress.ip_interface("2001:db8::1/64")',
    "long email": '"a" * 400 + "@example.org"', "enum": "Color.RED", "enum-alias": "Color.CRIMSON",
    "int-enum": "Level.HIGH", "str-enum": "Word.YES", "flag": "Flags.A | Flags.B",
    "list": '[1, "2", 3.0]', "empty-list": "list()", "list-of-none": "[None, None]",
    "nested-list": "[[1], [2, [3]]]", "list-subclass": "ListLike([1, 2])",
    "list-of-pairs": '[("a", 1), ("b", 2)]', "list-of-dicts": '[{"a": 1}, {"a": "x"}, {}]',
    "tuple": '(1, "2")', "tuple-subclass": "TupleLike((1, 2))", "namedtuple": "Pair(1, 2)",
    "set": "{3}", "frozenset": "frozenset({4})", "range": "range(3)",
    "deque": "collections.deque([1, 2])", "generator": "(number for number in (1, 2))",
    "failing-generator": "failing_iterator()", "query": "Query(1, 2)",
    "sequence": "Sequenced(1, 2)", "old-sequence": "OldSequence()", "dict": '{"a": 1, "b": "2"}',
    "empty-dict": "dict()", "int-keyed": '{1: 2, "1": 3, None: 4}',
    "dict-of-lists": '{"a": [1], "b": ["x"]}', "dict-subclass": "DictLike(a=1)",
    "ordered-dict": "moved()", "counter": 'collections.Counter("abb")',
    "defaultdict": "collections.defaultdict(int, a=1)",
    "mapping-proxy": 'types.MappingProxyType({"a": 1})', "mapping": 'Mapped({"a": 1})',
    "multidict": "MultiDict(a=[1, 2])", "chainmap": 'collections.ChainMap({"a": 1}, {"b": 2})',
    "object": 'types.SimpleNamespace(a=1, b="2")', "stringable": 'Stringable("spoken")',
    "stringable-subclass": 'Stringable(PlainText("spoken"))',
    "stringable-broken": 'Stringable(OSError("no words"))', "stringable-number": "Stringable(7)",
    "numeric": "Numeric()", "index": "Index()", "unequal": "Unequal()",
    "unhashable": "Unhashable()", "undecided": "Undecided()", "equal-to-one": "EqualToOne()",
    "proxy-str": 'Proxy("proxied")', "proxy-int": "Proxy(3)", "proxy-float": "Proxy(7.5)",
    "proxy-bytes": 'Proxy(b"0123456789abcdef")', "proxy-list": "Proxy([1, 2])",
    "proxy-dict": 'Proxy({"a": 1})', "proxy-datetime": "Proxy(dt.datetime(2020, 1, 1))",
    "proxy-uuid": "Proxy(uuid.UUID(UUID_TEXT))", "class": "Stringable",
    "function": "failing_iterator",
}  # fmt: skip
VALUES = {name: lambda value=value: value for name, value in CONSTANTS.items()}
VALUES.update((name, _value(text)) for name, text in VALUE_TEXTS.items())


def _identity(value):
    return value


def _child(ma):
    return ma.Schema.from_dict(
        {"a": ma.fields.Integer(), "b": ma.fields.String(data_key="B", attribute="b")}, name="Child"
    )


def _field(text):
    """What makes the field of a text, in which ``Child`` is a schema class."""
    code = compile(text, f"the field {text}", "eval")

    def make(ma):
        child = {"Child": _child(ma)} if "Child" in text else {}
        return eval(code, {**vars(ma.fields), **globals(), "ma": ma, **child})

    return make


FIELD_TEXTS = {
    "raw": "Raw()", "string": "String()", "email": "Email()", "url": "URL()",
    "url-relative": 'URL(relative=True, schemes={"file", "http"})',
    "url-relative-only": "URL(relative=True, absolute=False)",
    "url-no-tld": "URL(require_tld=False)", "integer": "Integer()",
    "integer-strict": "Integer(strict=True)", "integer-text": "Integer(as_string=True)",
    "float": "Float()", "float-nan": "Float(allow_nan=True)", "float-text": "Float(as_string=True)",
    "decimal": "Decimal()", "decimal-nan": "Decimal(allow_nan=True)",
    "decimal-text": "Decimal(as_string=True)", "decimal-places": "Decimal(2)",
    "decimal-up": "Decimal(1, decimal.ROUND_UP, allow_nan=True)",
    "decimal-all": "Decimal(places=3, rounding=decimal.ROUND_DOWN, allow_nan=True, as_string=True)",
    "boolean": "Boolean()", "boolean-own": 'Boolean(truthy={"yes", 42}, falsy=["text", 0])',
    "boolean-any": "Boolean(truthy=())", "datetime": "DateTime()",
    "datetime-iso": 'DateTime("iso8601")', "datetime-rfc": 'DateTime("rfc")',
    "datetime-timestamp": 'DateTime("timestamp")',
    "datetime-timestamp-ms": 'DateTime(format="timestamp_ms")',
    "datetime-format": 'DateTime("%d.%m.%Y %H:%M")', "datetime-bad-format": 'DateTime("%")',
    "naive": "NaiveDateTime()", "naive-zone": "NaiveDateTime(timezone=UTC)",
    "naive-timestamp": 'NaiveDateTime("timestamp", timezone=UTC)', "aware": "AwareDateTime()",
    "aware-zone": "AwareDateTime(default_timezone=UTC)",
    "aware-rfc": 'AwareDateTime("rfc822", default_timezone=Zone())', "date": "Date()",
    "date-format": 'Date("%d/%m/%y")', "time": "Time()", "time-format": 'Time(format="%H.%M")',
    "timedelta": "TimeDelta()", "timedelta-days": 'TimeDelta("days")',
    "timedelta-micro": 'TimeDelta(precision="microseconds")', "uuid": "UUID()", "ip": "IP()",
    "ip-exploded": "IP(exploded=True)", "ipv4": "IPv4()", "ipv6": "IPv6(exploded=True)",
    "ip-interface": "IPInterface()", "ipv4-interface": "IPv4Interface()",
    "ipv6-interface": "IPv6Interface(exploded=True)", "enum": "Enum(Color)",
    "enum-value": "Enum(Color, by_value=True)",
    "enum-field": 'Enum(When, by_value=Date("%d.%m.%Y"))',
    "enum-int": "Enum(Level, by_value=Integer)", "enum-str": "Enum(Word, by_value=True)",
    "enum-none": "Enum(Maybe, by_value=True)", "enum-none-name": "Enum(Maybe)",
    "enum-flag": "Enum(Flags, by_value=True)", "enum-missing": "Enum(Fused, by_value=True)",
    "list-raw": "List(Raw())", "list-int": "List(Integer)",
    "list-str": "List(String(allow_none=True))", "list-list": "List(List(Float()))",
    "list-nested": "List(Nested(Child))",
    "list-nested-unknown": "List(Nested(Child, unknown=ma.EXCLUDE))",
    "list-enum": "List(Enum(Level, by_value=True))", "list-datetime": "List(DateTime())",
    "list-pluck": 'List(Pluck(Child, "a"))', "tuple": "Tuple((Integer(), String))",
    "tuple-empty": "Tuple(())",
    "tuple-three": "Tuple([Integer(), String(), Float(allow_none=True)])", "dict": "Dict()",
    "dict-keys": "Dict(keys=String())", "dict-int-keys": "Dict(keys=Integer(allow_none=True))",
    "dict-values": "Dict(values=Integer)",
    "dict-both": "Dict(keys=String, values=Float(allow_none=True))",
    "dict-nested": "Dict(keys=String(), values=Nested(Child))",
    "dict-lists": "Dict(values=List(Integer()))", "nested": "Nested(Child)",
    "nested-many": "Nested(Child, many=True)", "nested-instance": "Nested(Child(many=True))",
    "nested-lambda": 'Nested(lambda: Child(only=("a",)))',
    "nested-dict": 'Nested({"a": Boolean()})',
    "nested-include": "Nested(Child, unknown=ma.INCLUDE)", "pluck": 'Pluck(Child, "a")',
    "pluck-key": 'Pluck(Child, "b")', "pluck-many": 'Pluck(Child, "a", many=True)',
    "constant": 'Constant("always")', "constant-none": "Constant(None)",
    "constant-list": "Constant([1])", "function": "Function(_identity, _identity)",
    "function-type": "Function(lambda obj: type(obj).__name__, lambda value: [value])",
    "method-none": "Method()", "with-default": 'String(dump_default="d", load_default="l")',
    "with-callable-default": "List(Integer(), dump_default=list, load_default=list)",
    "none-default": "Integer(dump_default=None, load_default=None)",
    "required": "Integer(required=True)",
    "required-none": "Integer(required=True, allow_none=True)",
    "allow-none": "DateTime(allow_none=True)",
    "no-none": "String(allow_none=False, load_default=None)", "data-key": 'Integer(data_key="f")',
    "validated": "Integer(validate=[ma.validate.Range(1, 50), ma.validate.OneOf([1, 42, 7])])",
    "length": "Raw(validate=ma.validate.Length(min=1, max=3))",
    "processed": "Raw(pre_load=[_identity, str], post_load=len)",
}  # fmt: skip
FIELDS = {name: _field(text) for name, text in FIELD_TEXTS.items()}


# --- objects to dump ---------------------------------------------------------------------


class Plain:
    def __init__(self, **attributes):
        vars(self).update(attributes)


class Slotted:
    __slots__ = ("f", "g")

    def __init__(self, **attributes):
        for name, value in attributes.items():
            setattr(self, name, value)


class Inherited(Slotted):
    pass


class Hidden:
    def __init__(self, **attributes):
        self._attributes = attributes


class WithProperty(Hidden):
    f = property(lambda self: self._attributes["f"])
    g = property(lambda self: self._attributes["g"])


def raising(error):
    """A class of objects whose property ``f`` raises ``error``, whatever their dictionary holds."""

    def fail(self):
        raise error

    return type("Raising", (Plain,), {"f": property(fail)})


class Dynamic(Hidden):
    """Everything by ``__getattr__``."""

    def __getattr__(self, name):
        try:
            return object.__getattribute__(self, "_attributes")[name]
        except KeyError:
            raise AttributeError(name) from None


class Intercepted(Plain):
    def __getattribute__(self, name):
        value = object.__getattribute__(self, name)
        return ("seen", value) if name == "f" else value


class BrokenGetattr(Plain):
    def __getattr__(self, name):
        raise KeyError(name)


class Subscript(Hidden):
    def __getitem__(self, key):
        return self._attributes[key]


class ClassItem(Plain):
    """``__getitem__`` found on the instance only, which ``[]`` does not use."""

    def __init__(self, **attributes):
        super().__init__(**attributes)
        self.__getitem__ = lambda key: "instance"


class NoneItem(Plain):
    __getitem__ = None


class Missing(dict[str, Any]):
    def __missing__(self, key):
        return "missing " + key


class MissingRaises(dict[str, Any]):
    def __missing__(self, key):
        raise AttributeError(key)


class GetItem(dict[str, Any]):
    def __getitem__(self, key):
        return ("item", dict.get(self, key))


class DictWithAttributes(dict[str, Any]):
    g = "class attribute"

    @property
    def h(self):
        return "property"


@dataclasses.dataclass
class Data:
    f: Any = None
    g: Any = "g"


@dataclasses.dataclass(frozen=True, slots=True)
class FrozenData:
    f: Any = None
    g: Any = "g"


@attrs.define
class Attrs:
    f: Any = None
    g: Any = "g"


class Named(NamedTuple):
    f: Any = None
    g: Any = "g"


class ClassAttributes:
    f = "on the class"

    @classmethod
    def g(cls): ...

    def __init__(self, **attributes): ...


class Descriptor:
    def __init__(self, name):
        self.name = name

    def __get__(self, instance, owner):
        return ("descriptor", instance is None, instance._attributes.get(self.name))


class Described(Hidden):
    f = Descriptor("f")


OBJECTS = {
    "dict": dict,
    "ordered-dict": collections.OrderedDict,
    "missing": Missing,
    "missing-raises": MissingRaises,
    "defaultdict": lambda **kw: collections.defaultdict(list, kw),
    "defaultdict-without-factory": lambda **kw: collections.defaultdict(None, kw),
    "counter": lambda **kw: collections.Counter(dict.fromkeys(kw, 1)),
    "dict-getitem": GetItem,
    "dict-attributes": DictWithAttributes,
    "dict-like": DictLike,
    "multidict": lambda **kw: MultiDict({k: [v] for k, v in kw.items()}),
    "user-dict": lambda **kw: collections.UserDict(kw),
    "mapping": lambda **kw: Mapped(kw),
    "mapping-proxy": lambda **kw: types.MappingProxyType(kw),
    "chainmap": lambda **kw: collections.ChainMap({}, kw),
    "namespace": types.SimpleNamespace,
    "plain": Plain,
    "slotted": Slotted,
    "slotted-with-dict": Inherited,
    "properties": WithProperty,
    "raises-attribute-error": raising(AttributeError("inner")),
    "raises-key-error": raising(KeyError("inner")),
    "raises-type-error": raising(TypeError("inner")),
    "raises-index-error": raising(IndexError("inner")),
    "raises-value-error": raising(ValueError("inner")),
    "dynamic": Dynamic,
    "intercepted": Intercepted,
    "broken-getattr": BrokenGetattr,
    "subscript": Subscript,
    "subscript-key-error": refusing("__getitem__", KeyError, Plain),
    "subscript-index-error": refusing("__getitem__", IndexError, Plain),
    "subscript-type-error": refusing("__getitem__", TypeError, Plain),
    "subscript-attribute-error": refusing("__getitem__", AttributeError, Plain),
    "subscript-value-error": refusing("__getitem__", ValueError, Plain),
    "subscript-lookup-error": refusing("__getitem__", LookupError, Plain),
    "instance-getitem": ClassItem,
    "none-getitem": NoneItem,
    "dataclass": lambda **kw: Data(**{k: v for k, v in kw.items() if k in "fg"}),
    "slots-dataclass": lambda **kw: FrozenData(**{k: v for k, v in kw.items() if k in "fg"}),
    "attrs": lambda **kw: Attrs(**{k: v for k, v in kw.items() if k in "fg"}),
    "namedtuple": lambda **kw: Named(**{k: v for k, v in kw.items() if k in "fg"}),
    "class-attributes": ClassAttributes,
    "class-itself": lambda **kw: ClassAttributes,
    "generic-alias": lambda **kw: list[int],
    "descriptor": Described,
    "module": lambda **kw: types.ModuleType("a_module"),
    "proxy-dict": lambda **kw: Proxy(kw),
    "proxy-object": lambda **kw: Proxy(Plain(**kw)),
    "str": lambda **kw: "a string",
    "bytes": lambda **kw: b"bytes",
    "int": lambda **kw: 3,
    "none": lambda **kw: None,
    "list": lambda **kw: list(kw.values()),
    "tuple": lambda **kw: tuple(kw.values()),
    "set": lambda **kw: {1},
    "function": lambda **kw: raising,
    "exception": lambda **kw: ValueError("f"),
    "simple-class": lambda **kw: Plain,
}


# Around a field: what holds it, and a value of it, of which ``make()`` gives another each time.
HOLDERS = {
    "alone": (lambda ma, field: field, lambda make: make()),
    "list": (lambda ma, field: ma.fields.List(field), lambda make: [make(), None, make()]),
    "dict": (lambda ma, field: ma.fields.Dict(values=field), lambda make: {"a": make(), "b": None}),
    "tuple": (
        lambda ma, field: ma.fields.Tuple([field, ma.fields.Integer()]),
        lambda make: (make(), "x"),
    ),
    "keys": (lambda ma, field: ma.fields.Dict(keys=field), lambda make: {make(): 1, "x": "y"}),
    "nested": (lambda ma, field: ma.fields.Nested({"x": field}), lambda make: {"x": make()}),
}


def schema_of(ma, fields, **options):
    """An instance of a schema class with ``fields``."""
    return ma.Schema.from_dict(fields)(**options)


def subclass(*bases):
    """A class of these bases that adds nothing to them."""

    class Own(*bases):
        pass

    return Own


def watching(ma, log):
    """A field class that shows what it sees of itself and its schema whenever it runs."""

    class Watching(ma.fields.String):
        def see(self, what):
            own, parent, root = sorted(vars(self)), self.parent, self.root
            log(what, self.name, [name for name in own if name.startswith("own_")])
            log("in", type(parent).__name__, type(root).__name__, parent is root)
            log("tag", getattr(root, "tag", None))

        def _serialize(self, value, attr, obj, **kwargs):
            self.see("serialize")
            return super()._serialize(value, attr, obj, **kwargs)

        def _deserialize(self, value, attr, data, **kwargs):
            self.see("deserialize")
            return super()._deserialize(value, attr, data, **kwargs)

    return Watching


def state(log, schema):
    """Show what there is of a schema, on its way or later, and whose its fields are.

    Reading a name that is not made yet is what builds it.
    """
    log("names", type(schema).__name__, sorted(vars(schema)))
    for name in ("fields", "load_fields", "dump_fields", "declared_fields"):
        found = getattr(schema, name, {})
        log(name, type(found), [(key, field is None) for key, field in found.items()])
    declared, held = schema.declared_fields, getattr(schema, "fields", {})
    for name, field in declared.items():
        if field is not None:
            log("field", name, field.name, type(field).__name__, list(vars(field)))
            log("bound", field.parent is schema, getattr(field, "root", None) is schema)
            shared = type(schema)._declared_fields.get(name)
            log("same", field is held.get(name), field is shared)
    for name in ("only", "exclude", "load_only", "dump_only", "many", "partial", "unknown"):
        log(name, getattr(schema, name, "none"))
    log("messages", schema.error_messages)


def written(names, parameters, **bodies):
    """Functions by their names, of the same parameters, each given as the text of its body.

    :param names: what the texts may use beside their parameters and the builtins
    :raises NameError: a text uses another name
    """
    made = {}
    for name, body in bodies.items():
        exec(f"def {name}({parameters}):\n    pass\n{indent(body, '    ')}", names, made)
        if unknown := _globals_of(made[name].__code__) - names.keys() - vars(builtins).keys():
            raise NameError(f"{name} uses {', '.join(sorted(unknown))}")
    return made


def _globals_of(code):
    inside = (each for each in code.co_consts if isinstance(each, types.CodeType))
    used = {each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL"}
    return used.union(*map(_globals_of, inside))


def meta(**options):
    """A ``class Meta`` of these options."""
    return type("Meta", (), options)
