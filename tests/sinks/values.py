"""Values that JSON encoders meet: plain ones, subclasses, and those with user code inside."""

import collections
import decimal
import enum
import types

Color = enum.Enum("Color", {"RED": 1})
Level = enum.IntEnum("Level", {"HIGH": 3})
Mark = enum.StrEnum("Mark", {"STAR": "st\u00e4r"})


def raising(*args):
    raise LookupError("no items")


def made(base, **members):
    """A class with these methods; of a constant, one that returns it."""
    for name, value in members.items():
        if not callable(value):
            members[name] = lambda self, value=value: value
    return type("Own", (base,), members)


# An encoder asks none of these methods.
Text = made(str, __str__="never", __len__=1, __iter__=lambda self: iter("never"))
Whole = made(int, __repr__="never", __str__="never", __index__=12345)
Real = made(float, __repr__="a real", __float__=9.75)
OwnList = made(list, __iter__=lambda self: iter(["own", *list.__iter__(self)]))
FalseList = made(list, __bool__=False)
RaisingList = made(list, __iter__=raising)
OwnDict = made(dict, items=lambda self: [("own", 1), *dict.items(self)])
EmptyItems = made(dict, items=[])
BadItems = made(dict, items=[("a", 1, 2)])
ListItems = made(dict, items=[["a", 1]])
NoItems = made(dict, items=3)
RaisingItems = made(dict, items=raising)
# No containers and no text, but they say so.
LikeList = made(object, __class__=list, __iter__=lambda self: iter([1, 2]))
LikeStr = made(object, __class__=str)
LikeDict = made(object, __class__=dict, items=[("like", "dict")])
UnreadableKey = made(str, __repr__=raising)


class Plain:
    def __init__(self, inside=None):
        self.inside = inside


Point = collections.namedtuple("Point", "x y")


def circular(value):
    inside = [value] if isinstance(value, list) else (value,)
    value.append(inside) if isinstance(value, list) else value.update(b=inside)
    return value


def deep(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


VALUES = {
    "none": lambda: None,
    "true": lambda: True,
    "false": lambda: False,
    "zero": lambda: 0,
    "int64": lambda: [2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 10**30],
    "4300 digits": lambda: 10**4299,
    "4301 digits": lambda: [1, {"a": 10**4300}],
    "floats": lambda: [0.0, -0.0, 1.5, 1e16, 1e15, 1e-4, 1e-5, 0.1 + 0.2, 5e-324, 1.7e308],
    "nan": lambda: float("nan"),
    "nan inside": lambda: [1.0, {"a": float("nan")}, float("inf"), -float("inf")],
    "empty": lambda: ["", [], (), {}],
    "escapes": lambda: 'a"b\\c/\b\f\n\r\t\x00\x1f\x7f\x80',
    "all below 256": lambda: "".join(map(chr, range(256))),
    "latin": lambda: "äöü" * 50,
    "cyrillic": lambda: {"ключ": "значение" * 30},
    "astral": lambda: "\U0001f600x" * 50,
    "lone surrogates": lambda: "\ud800x\udc00\ud800\udc00",
    "long": lambda: "x" * 10_000 + '"' * 10_000,
    "eights": lambda: ["1234567" + c for c in '"\\\x1f\x20\x7f!'],
    "nested": lambda: {"a": [1, {"b": (2, [{}, []])}], "c": None},
    "keys": lambda: {1: 1, 1.5: 2, None: 3, "1": 4, float("inf"): 5, -7: 6, 10**20: 7},
    "keys true": lambda: {True: 1, False: 2},
    "key nan": lambda: {"a": {float("nan"): 1}},
    "key tuple": lambda: [{(1, 2): 3}],
    "key bytes": lambda: {b"a": 1},
    "key decimal": lambda: {decimal.Decimal(1): 1},
    "rows": lambda: [{"b": i, "a": {"d": 1, "c": [i]}} for i in range(5)],
    "rows of odd keys": lambda: [{Text("b"): i, "a": 1, Text("a"): 2} for i in range(5)],
    "key subclasses": lambda: {Text("a\xe9"): 1, Whole(5): 2, Real(2.5): 3, Level.HIGH: 4},
    "key unreadable": lambda: {"a": {UnreadableKey("b"): {1}}},
    "keys unsorted": lambda: {"b": 1, "a": {"d": 1, "c": 2, "": 3, "é": 4}},
    "keys mixed": lambda: {"b": 1, 2: {}},
    "subclasses": lambda: [
        Text("tex\xe4"),
        Whole(7),
        Real(1.5),
        Real("nan"),
        Level.HIGH,
        Mark.STAR,
    ],
    "enum": lambda: [Color.RED],
    "namedtuple": lambda: [Point(1, [2])],
    "ordered": lambda: collections.OrderedDict(b=1, a={1}),
    "default dict": lambda: collections.defaultdict(list, a=[1]),
    "counter": lambda: collections.Counter("aab"),
    "own list": lambda: OwnList([1, 2]),
    "own list empty": lambda: [OwnList()],
    "false list": lambda: FalseList([1]),
    "raising list": lambda: [0, RaisingList([1])],
    "own dict": lambda: OwnDict(a=2),
    "own dict empty": lambda: OwnDict(),
    "empty items": lambda: EmptyItems(a=2),
    "bad items": lambda: BadItems(a=2),
    "list items": lambda: ListItems(a=2),
    "no items": lambda: [NoItems(a=2)],
    "raising items": lambda: {"x": RaisingItems(a=2)},
    "like list": lambda: [LikeList()],
    "like str": lambda: [LikeStr()],
    "like dict": lambda: [LikeDict()],
    "like list alone": LikeList,
    "set": lambda: [1, {"k": {1, 2}}],
    "decimal": lambda: {"a": (1, decimal.Decimal("1.50"))},
    "object": lambda: [Plain([Plain(2)])],
    "object unserializable": lambda: [Plain({1: {2, 3}})],
    "bytes": lambda: [b"bytes"],
    "mapping": lambda: types.MappingProxyType({"a": 1}),
    "circular list": lambda: circular([1]),
    "circular dict": lambda: circular({"a": 1}),
    "same twice": lambda: [shared := [1], shared, {"a": shared}],
    "100 levels": lambda: deep(100),
    "900 levels": lambda: deep(900),
    "100000 levels": lambda: deep(100_000),
}


class Default:
    """A ``default`` that remembers what it was called with."""

    def __init__(self):
        self.calls = []

    def __call__(self, value):
        self.calls.append(type(value).__name__)
        if isinstance(value, set):
            return sorted(value)
        if isinstance(value, Plain):
            return {"inside": value.inside}
        if isinstance(value, enum.Enum | bytes):
            return value if isinstance(value, enum.Enum) else [value]
        raise ZeroDivisionError(type(value).__name__)


OPTIONS = {
    "none": {},
    "unescaped": {"ensure_ascii": False},
    "compact": {"separators": (",", ":")},
    "sorted": {"sort_keys": True},
    "sorted compact": {"sort_keys": True, "separators": [",", ":"]},
    "no nan": {"allow_nan": False},
    "indented": {"indent": 2},
    "indented, sorted": {"indent": 1, "sort_keys": True, "ensure_ascii": False},
    "indented, no nan": {"indent": "\t", "allow_nan": False},
    "indented by nothing": {"indent": 0},
    "indented by less": {"indent": -1},
    "odd separators": {"separators": ("\xe9", "\U0001f600"), "indent": "\u0416"},
    "as given": {
        "skipkeys": False, "ensure_ascii": True, "check_circular": True, "allow_nan": True,
        "cls": None, "indent": None, "separators": None, "default": None, "sort_keys": False,
    },
    "left to json": {"skipkeys": True},
    "left to json, in circles": {"check_circular": False, "ensure_ascii": False},
    "indent true": {"indent": True},
    "indent float": {"indent": 1.5},
    "separators text": {"separators": ",:"},
    "separators no text": {"separators": (b",", b":")},
    "separators too few": {"separators": (",",)},
    "unknown": {"unknown": 1},
    "true by number": {"sort_keys": 1, "ensure_ascii": 0},
}  # fmt: skip
