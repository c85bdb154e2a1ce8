"""The statements of upstream's source, given values of types that they were not written for.

Compiled, a statement may be decided by C types: taken a short way for an exact ``dict`` or
``str``, or accept what the interpreter refuses (``{**pairs}``). Each entry of :data:`STATEMENTS`
reaches one form of statement through the public functions, and gets every value of
:data:`VALUES`; both builds of ours must do what the interpreter does, message included.
"""

import collections
import datetime as dt
import decimal
import fractions
import types

import pytest


class Text(str):
    """A text that answers otherwise than its characters would."""

    def split(self, *args):
        return ["a", "b"]

    def startswith(self, *args):
        return True

    def __contains__(self, item):
        return True

    def __str__(self):
        return "other"

    def __format__(self, spec):
        return "formatted"

    def __getitem__(self, index):
        return "item"

    def __add__(self, other):
        return "sum"

    def __iter__(self):
        return iter(("a", "b"))

    def __len__(self):
        return 2


class Table(dict):
    """A dictionary with another view of its items."""

    def items(self):
        return [("b", 2), ("c", 3)]

    def keys(self):
        return ["b", "c"]

    def __getitem__(self, key):
        return 7

    def __iter__(self):
        return iter(["b", "c"])

    def __contains__(self, key):
        return True

    def get(self, key, default=None):
        return 8

    def copy(self):
        return self


class Items(list):
    """A list that counts and iterates otherwise."""

    def __iter__(self):
        return iter([("x", 1), ("y", 2)])

    def __len__(self):
        return 1

    def __contains__(self, item):
        return True

    def append(self, item):
        super().append((item, item))

    def __getitem__(self, index):
        return "item"

    def copy(self):
        return [("z", 1)]


class Pair(tuple):
    def __iter__(self):
        return iter(["p", "q", "r"])

    def __len__(self):
        return 3


class Keyed:
    """It has as much of a mapping as ``**`` asks for."""

    __iter__ = None

    def keys(self):
        return iter(["k"])

    def __getitem__(self, key):
        return key

    def copy(self):
        return self


class Copies:
    """It is empty until it is copied; the copy has pairs."""

    def copy(self):
        return [("a", 1)]


class Indexed:
    """Iterable by index alone."""

    def __getitem__(self, index):
        if index > 1:
            raise IndexError(index)
        return "ab"[index]

    def __len__(self):
        return 2


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


class Pretender:
    """Claims another class."""

    def __init__(self, cls):
        self._cls = cls

    @property
    def __class__(self):
        return self._cls

    @__class__.setter
    def __class__(self, value):
        raise AttributeError

    def __str__(self):
        return "pretender"


class Vague:
    """Compares to anything, with an answer that is neither true nor false until asked."""

    def __lt__(self, other):
        return []

    __gt__ = __le__ = __ge__ = __eq__ = __ne__ = __lt__
    __hash__ = None


class Whole:
    def __index__(self):
        return 3

    def __int__(self):
        return 4


VALUES = {
    "None": lambda: None,
    "True": lambda: True,
    "int": lambda: 5,
    "large int": lambda: 10**30,
    "float": lambda: 2.5,
    "nan": lambda: float("nan"),
    "complex": lambda: 1j,
    "decimal": lambda: decimal.Decimal("1.50"),
    "fraction": lambda: fractions.Fraction(1, 3),
    "text": lambda: "ab",
    "empty text": lambda: "",
    "dotted text": lambda: "a.b",
    "own text": lambda: Text("a.b"),
    "bytes": lambda: b"ab",
    "bytearray": lambda: bytearray(b"ab"),
    "memoryview": lambda: memoryview(b"ab"),
    "list": lambda: ["a", "b"],
    "empty list": list,
    "pairs": lambda: [("a", 1), ("b", 2)],
    "triples": lambda: [("a", 1, 2)],
    "singles": lambda: [("a",)],
    "own list": lambda: Items([1, 2]),
    "tuple": lambda: ("a", "b"),
    "own tuple": lambda: Pair((1, 2)),
    "set": lambda: {"a"},
    "dict": lambda: {"a": 1},
    "dict of int": lambda: {1: 2},
    "own dict": lambda: Table(a=1),
    "ordered dict": lambda: collections.OrderedDict(a=1, b=2),
    "default dict": lambda: collections.defaultdict(int, a=1),
    "user dict": lambda: collections.UserDict(a=1),
    "chain map": lambda: collections.ChainMap({"a": 1}, {"b": 2}),
    "proxy": lambda: types.MappingProxyType({"a": 1}),
    "keys": lambda: {"a": 1}.keys(),
    "items": lambda: {"a": 1}.items(),
    "deque": lambda: collections.deque(["a", "b"]),
    "range": lambda: range(3),
    "iterator": lambda: iter(["a", "b"]),
    "generator": lambda: (each for each in ["a", "b"]),
    "pairs iterator": lambda: iter([("a", 1)]),
    "keyed": Keyed,
    "copies": Copies,
    "indexed": Indexed,
    "nothing": Nothing,
    "broken": Broken,
    "pretends str": lambda: Pretender(str),
    "pretends dict": lambda: Pretender(dict),
    "pretends list": lambda: Pretender(list),
    "vague": Vague,
    "whole": Whole,
    "type": lambda: int,
    "function": lambda: len,
    "date": lambda: dt.date(2020, 1, 2),
}


def _with_messages(ma, value):
    class Own(ma.fields.Field):
        default_error_messages = value

    return Own().error_messages


def _schema_messages(ma, value):
    class Own(ma.Schema):
        error_messages = value

    return Own().error_messages


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


def _merged(ma, value):
    merge = ma.error_store.merge_errors
    return [merge(first, value) for first in (["x"], {"a": ["x"]}, "x")]


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


def _changed_arguments(ma, value):
    predicate = ma.validate.Predicate("upper")
    predicate.kwargs = value
    return _refused(lambda: predicate("a"))


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
    "dict.update": _with_messages,
    "dict.update, or {}": _schema_messages,
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
    "merged": _merged,
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
