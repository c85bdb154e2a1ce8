"""``althaia.msgpack.dumps`` gives what ``msgpack.packb`` gives."""

import pytest
from hypothesis import given, strategies as st

from althaia.msgpack import dumps
from tests.sinks.outcomes import outcome as whole_outcome
from tests.sinks.values import VALUES, Default, made, raising

msgpack = pytest.importorskip("msgpack")


SIZES = [0, 1, 15, 16, 31, 32, 255, 256, 65535, 65536]
EDGES = [
    edge + step
    for power in (5, 7, 8, 15, 16, 31, 32, 63, 64)
    for edge in (2**power, -(2**power))
    for step in (-1, 0, 1)
]
MORE = {
    "edges": [edge for edge in EDGES if -(2**63) <= edge < 2**64],
    "texts": ["x" * size for size in SIZES],
    "wide texts": ["ж" * size for size in SIZES],
    "bytes": [bytes(size) for size in SIZES],
    "lists": [[None] * size for size in SIZES],
    "dicts": [dict.fromkeys(range(size)) for size in SIZES],
    "buffers": [bytearray(b"ab"), memoryview(b"abc")],
    "extension": [msgpack.ExtType(5, b"abc"), msgpack.Timestamp(1, 2)],
    "too large": [2**64],
    "too small": [-(2**63) - 1],
}


AS_DEEP = pytest.mark.skipif(
    msgpack.version < (1, 2), reason="msgpack went 511 levels deep before its release 1.2"
)


def outcome(call, *args, **options):
    """The outcome; of an OverflowError not which error it replaced."""
    found = whole_outcome(call, *args, **options)
    return found[:3] if isinstance(found, tuple) and found[0] is OverflowError else found


def same(value, **options):
    assert outcome(dumps, value, **options) == outcome(msgpack.packb, value, **options)


@pytest.mark.parametrize(
    "value",
    [pytest.param(name, marks=AS_DEEP if name == "900 levels" else ()) for name in VALUES]
    + [*MORE],
)
def test_the_same_bytes_or_error(value):
    given = MORE[value] if value in MORE else VALUES[value]()
    same(given)
    theirs, ours = Default(), Default()
    assert outcome(dumps, given, default=ours) == outcome(msgpack.packb, given, default=theirs)
    assert ours.calls == theirs.calls


def test_classes_that_say_something_of_their_own():
    Unready = made(object, __class__=property(raising))
    Hidden, Pair, Keys = (made(base, __len__=0) for base in (list, tuple, dict))
    Loud = made(list, __len__=raising)
    Bytes, Array = (made(base, __bytes__=b"others") for base in (bytes, bytearray))
    memory = memoryview(bytes(range(12)))
    for value in (
        *(Unready(), [Unready()], {"a": Unready()}),
        *(Hidden([1, 2]), Loud([1]), Pair((1, 2)), Keys(a=1), [Hidden([1])]),
        *(Bytes(b"own"), Array(b"own"), [Bytes()], {"a": Array(b"x" * 300)}),
        *(memory[::2], memory.cast("I"), memory[::-1], [memory[3:]]),
    ):
        same(value)
    Number = made(int, __gt__=raising)
    for number in (5, -5, 0, 2**63 - 1, 2**63 + 1, -(2**63)):
        assert dumps([Number(number)]) == msgpack.packb([number])


def test_a_class_that_is_asked_for_once():
    class Once:
        asked = 0

        @property
        def __class__(self):
            self.asked += 1
            if self.asked > 1:
                raise KeyError("asked again")
            return int

    assert (
        outcome(dumps, Once(), default=repr)[0] is outcome(msgpack.packb, Once(), default=repr)[0]
    )


@pytest.mark.parametrize("base", [msgpack.Timestamp, msgpack.ExtType])
@pytest.mark.parametrize("default", [None, repr])
def test_subclasses_of_the_packages_own(base, default):
    own = type("Own", (base,), {"__slots__": (), "__repr__": lambda self: "own"})
    same(own(1, b"2" if base is msgpack.ExtType else 2), default=default)
    claiming = type("Claiming", (), {"__class__": base, "__repr__": lambda self: "claiming"})
    same(claiming(), default=default)


@AS_DEEP
@pytest.mark.parametrize("levels", [1000, 1023, 1024, 1025, 1026, 100_000])
def test_depth(levels):
    value = None
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    same(value)
    assert outcome(dumps, value)[0] is (ValueError if levels > 1024 else bytes)


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**64), 2**65) | st.floats() | st.text()
    | st.binary(max_size=300) | st.text(st.characters(codec=None), max_size=3),
    lambda inner: (
        st.lists(inner, max_size=20)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=20)
    ),
)  # fmt: skip


@given(values)
def test_random_values(value):
    same(value)
