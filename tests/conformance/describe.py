"""Any value as plain words, so that two runs can be compared with ``==``.

What two libraries return can not be compared directly: each run makes its own classes and
objects, and ``nan != nan``, ``1 == True``, ``{"a": 1, "b": 2} == {"b": 2, "a": 1}``. A
description keeps exact types, order, the sign of zero and of NaN, and *identity*: every
object that has one gets the number of its first appearance in the run.
"""

import datetime as dt
import decimal
import enum
import fractions
import functools
import ipaddress
import math
import re
import types
import uuid

Description = tuple[str, ...]
"""One word a value, each with its type first; what an object holds stands between the word that
ends with ``OPEN`` and the next ``CLOSE`` of its own. Equal when the described values are equal in
DESIGN's sense. It is flat because a run has millions of values: nested tuples kept the garbage
collector busier than the libraries."""

OPEN = " ("
CLOSE = ")"

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")
_FUNCTIONS = ("function", "cython_function_or_method", "builtin_function_or_method")
_RENAMED = "althaia.marshmallow"


def neutral(text):
    """``text`` without what legitimately differs: our package's prefix, memory addresses.

    >>> neutral("<class 'althaia.marshmallow.schema.Schema'> at 0x7f00aa")
    "<class 'marshmallow.schema.Schema'> at 0x"
    """
    if "althaia" in text or "<" in text:
        text = text.replace(_RENAMED, "marshmallow").replace("<cyfunction", "<function")
    return _ADDRESS.sub("0x", text) if "0x" in text else text


def type_name(cls):
    """The full name of ``cls``, the same for upstream's class and for ours."""
    module = type.__getattribute__(cls, "__module__")
    return neutral(f"{module}.{cls.__qualname__}")


class _TextWords(dict[str, str]):
    """The word for each text; short ones are kept, because the same keys come again and again."""

    def __missing__(self, value):
        word = f"str {neutral(value)}"
        if len(value) < 100 and len(self) < 10_000:
            self[value] = word
        return word


def _float_word(value):
    if value == value:
        return f"float {value!r}"
    return "float -nan" if math.copysign(1, value) < 0 else "float nan"


def _plain_word(value):
    return f"{type(value).__name__} {neutral(repr(value))}"


_PLAIN_REPR = (
    type(...), type(NotImplemented), complex, bytes, bytearray, range, slice, dt.datetime, dt.date,
    dt.time, dt.timedelta, dt.timezone, decimal.Decimal, fractions.Fraction, uuid.UUID, re.Pattern,
    ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Interface, ipaddress.IPv6Interface,
    ipaddress.IPv4Network, ipaddress.IPv6Network,
)  # fmt: skip
# The word for each value of a class without identity.
_PLAIN = {
    str: _TextWords().__getitem__,
    type(None): {None: "NoneType None"}.__getitem__,
    bool: {False: "bool False", True: "bool True"}.__getitem__,
    int: "int {:#x}".format,
    float: _float_word,
    **dict.fromkeys(_PLAIN_REPR, _plain_word),
}


class Describer:
    """Describes values; numbers objects by first appearance over its whole life.

    >>> Describer()([1, "a"])
    ('builtins.list#0 (', 'int 0x1', 'str a', ')')
    """

    def __init__(self, missing=None):
        self._missing = missing
        self._numbers = {}
        self._alive = []
        # What was found out about a class: how its instances are described.
        self._ways = {}

    def __call__(self, *values):
        """The description of ``values`` as they are now; contents are read anew on every call."""
        words = []
        for value in values:
            self._describe(value, words, set())
        return tuple(words)

    def _describe(self, value, words, seen):
        cls = type(value)
        plain = _PLAIN.get(cls)
        if plain is not None:
            words.append(plain(value))
        elif value is self._missing:
            words.append("missing")
        else:
            way = self._ways.get(cls)
            if way is None:
                way = self._ways[cls] = self._way(cls)
            way(value, words, seen)

    def _way(self, cls):
        if cls is tuple:
            return self._tuple
        if issubclass(cls, type):
            return _word(lambda value: f"class {type_name(value)}")
        if issubclass(cls, enum.Enum):
            name = type_name(cls)
            return _word(lambda value: f"enum {name} {object.__getattribute__(value, '_name_')}")
        if cls.__name__ in _FUNCTIONS:
            return _word(_function_word)
        if cls is types.MethodType or cls.__name__ == "method":
            return self._method
        if issubclass(cls, types.ModuleType):
            return _word(_module_word)
        if cls is functools.partial:
            return self._partial
        return self._object(cls)

    def _several(self, word, values, words, seen):
        words.append(word + OPEN)
        for value in values:
            self._describe(value, words, seen)
        words.append(CLOSE)

    def _tuple(self, value, words, seen):
        self._several("tuple", value, words, seen)

    def _method(self, value, words, seen):
        name = neutral(value.__func__.__qualname__)
        self._several(f"method {name}", [value.__self__], words, seen)

    def _partial(self, value, words, seen):
        self._several("partial", (value.func, value.args, value.keywords), words, seen)

    def _object(self, cls):
        name, contents, describe = type_name(cls), _contents_of(cls), self._describe
        numbers, alive = self._numbers, self._alive

        def way(value, words, seen):
            number = numbers.get(id(value))
            if number is None:
                number = numbers[id(value)] = len(numbers)
                alive.append(value)
            if number in seen:
                words.append(f"{name}#{number}")
                return
            seen.add(number)
            words.append(f"{name}#{number}{OPEN}")
            contents(describe, value, words, seen)
            words.append(CLOSE)

        return way


def _function_word(value):
    return f"function {neutral(str(getattr(value, '__qualname__', type(value).__name__)))}"


def _module_word(value):
    return f"module {neutral(types.ModuleType.__getattribute__(value, '__name__'))}"


def _word(of):
    return lambda value, words, seen: words.append(of(value))


# ---- What objects hold ----------------------------------------------------------------
# Always read through the base type's own methods: describing must not call user code.


def _own(of):
    return lambda describe, value, words, seen: words.append(of(value))


# These two are half of what describing takes, so they ask for the plain word themselves.
def _entries(describe, value, words, seen):
    for entry in dict.items(value):
        for each in entry:
            plain = _PLAIN.get(type(each))
            if plain is not None:
                words.append(plain(each))
            else:
                describe(each, words, seen)


def _items(base, describe, value, words, seen):
    for each in base.__iter__(value):
        plain = _PLAIN.get(type(each))
        if plain is not None:
            words.append(plain(each))
        else:
            describe(each, words, seen)


def _members(base, describe, value, words, seen):
    members = []
    for item in base.__iter__(value):
        members.append([])
        describe(item, members[-1], seen)
    for member in sorted(members):
        words += member


def _ordered_set(describe, value, words, seen):
    for item in value:
        describe(item, words, seen)


def _nothing(describe, value, words, seen):
    pass


def _exception(describe, error, words, seen):
    # How deep a recursion got is worded by the interpreter according to where it stood.
    if not isinstance(error, RecursionError):
        words.append("args" + OPEN)
        for arg in error.args:
            describe(arg, words, seen)
        words.append(CLOSE)
    for name, item in sorted(vars(error).items()):
        words.append(name)
        describe(item, words, seen)
    words.append("cause")
    describe(error.__cause__, words, seen)
    words.append(f"suppress_context {error.__suppress_context__}")


_HOLDERS = (
    (str, _own(lambda value: f"str {neutral(str.__str__(value))}")),
    (int, _own(lambda value: f"int {int.__repr__(value)}")),
    (float, _own(lambda value: f"float {float.__repr__(value)}")),
    ((bytes, bytearray), _own(lambda value: f"bytes {bytes.__repr__(bytes(value))}")),
    (dict, _entries),
    (list, functools.partial(_items, list)),
    (tuple, functools.partial(_items, tuple)),
    (set, functools.partial(_members, set)),
    (frozenset, functools.partial(_members, frozenset)),
)


def _contents_of(cls):
    """What reads the parts of an object of a class: of a builtin type, and in its ``__dict__``."""
    if issubclass(cls, BaseException):
        return _exception
    held = next((read for base, read in _HOLDERS if issubclass(cls, base)), _nothing)
    if held is _nothing and cls.__name__ == "OrderedSet":
        held = _ordered_set
    if cls.__module__ == "builtins" or _is_library_object(cls):
        return held

    def with_state(describe, value, words, seen):
        held(describe, value, words, seen)
        try:
            state = object.__getattribute__(value, "__dict__")
        except AttributeError:
            return
        if type(state) is dict and state:
            words.append("vars" + OPEN)
            _entries(describe, state, words, seen)
            words.append(CLOSE)

    return with_state


def _is_library_object(cls):
    return any(
        type_name(base) in ("marshmallow.schema.Schema", "marshmallow.fields.Field")
        for base in cls.__mro__
    )
