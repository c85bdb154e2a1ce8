"""``althaia.msgpack.loads`` against the ``msgpack`` package's ``unpackb``, and JSON beside it."""

import json
import pickle

import pytest
from hypothesis import given, strategies as st

from althaia.msgpack import MessagePackDecodeError, loads
from tests.sources.compare import alike

msgpack = pytest.importorskip("msgpack")

numbers = st.one_of(st.integers(-(2**63), 2**64 - 1), st.integers(-200, 300), st.floats())
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, st.text(), st.binary()),
    lambda inner: st.one_of(
        st.lists(inner), st.dictionaries(st.one_of(st.text(), st.binary()), inner)
    ),
)


@given(values)
def test_values_come_back(value):
    data = msgpack.packb(value)
    assert alike(loads(data), msgpack.unpackb(data))
    assert alike(loads(bytearray(data)), msgpack.unpackb(data))
    assert alike(loads(memoryview(data)), msgpack.unpackb(data))


@given(st.floats(width=32))
def test_short_floats(number):
    assert alike(loads(msgpack.packb([number], use_single_float=True)), [number])


@given(values, st.integers(0), st.integers(0, 255), st.sampled_from(["change", "put", "cut"]))
def test_damaged_bytes(value, place, byte, how):
    data = msgpack.packb([value])
    at = 1 + place % len(data)
    rest = b"" if how == "cut" else bytes([byte]) + data[at + (how == "change") :]
    data = data[:at] + rest
    try:
        expected = msgpack.unpackb(data)
    except ValueError:
        with pytest.raises(MessagePackDecodeError) as caught:
            loads(data)
        assert 0 <= caught.value.pos <= len(data)
        return
    if _has_extensions(expected):
        with pytest.raises(MessagePackDecodeError, match="extension type"):
            loads(data)
    else:
        assert alike(loads(data), expected)


def _has_extensions(value):
    if isinstance(value, dict):
        return any(map(_has_extensions, value.values()))
    if isinstance(value, list):
        return any(map(_has_extensions, value))
    return isinstance(value, (msgpack.ExtType, msgpack.Timestamp))


@pytest.mark.parametrize("size", [0, 1, 15, 16, 31, 32, 255, 256, 65535, 65536])
def test_every_size(size):
    values = ("x" * size, "é" * size, b"x" * size, [0] * size, dict.fromkeys(map(str, range(size))))
    for value in values:
        assert alike(loads(msgpack.packb([value])), [value])


@pytest.mark.parametrize(
    ("data", "said", "pos"),
    [
        (b"\x92\x01", "cut off: a container of 2 begins, and 1 bytes follow", 1),
        (b"\x91\xa2a", "cut off: 2 bytes of text should follow, and 1 do", 2),
        (b"\xdd\xff\xff\xff\xff", "cut off: a container of 4294967295", 5),
        (b"\xdf\xff\xff\xff\xff\xa1a\x01", "cut off: a container of 4294967295", 5),
        (b"\xdb\xff\xff\xff\xffa", "cut off: 4294967295 bytes of text", 5),
        (b"\xc6\xff\xff\xff\xff", "cut off: 4294967295 bytes of text", 5),
        (b"\xcd\x01", "cut off: 2 bytes of a number or a size", 1),
        (b"\x91", "cut off: a container of 1 begins", 1),
        (b"\xc1\x00", "0xc1 begins nothing", 0),
        (b"\xc7\x00\x05", "an extension type", 0),
        (b"\x81\x01\x02", "the key of a mapping is neither text nor bytes", 1),
        (b"\x81\x90\x02", "the key of a mapping is neither text nor bytes", 1),
        (b"\x90\x01", "1 more bytes behind the value", 1),
        (b"\x91\xa2\xc3\x28", "text that is not UTF-8", 2),
        (b"\x91" * 1025 + b"\xc0", "nested more than 1024 deep", 1024),
        (b"\x91" * 10_000_000, "nested more than 1024 deep", 1024),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_what_is_wrong_and_where(data, said, pos):
    with pytest.raises(MessagePackDecodeError) as caught:
        loads(data)
    assert caught.value.msg.startswith(said)
    assert caught.value.pos == pos
    assert str(caught.value) == f"{caught.value.msg} (byte {pos})"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_as_deep_as_the_package_reads():
    data = b"\x91" * 1024 + b"\xc0"
    ours, theirs = loads(data), msgpack.unpackb(data)
    for _ in range(1024):
        (ours,), (theirs,) = ours, theirs
    assert ours is theirs is None


@given(st.one_of(values.filter(lambda value: type(value) is not bytes)))
def test_one_function_reads_both(value):
    text = json.dumps(value, default=repr) if _is_json(value) else "[]"
    assert alike(loads(text), json.loads(text))
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32-be"):
        data = text.encode(encoding)
        if len(data) > 1:
            assert alike(loads(data), json.loads(data))


def _is_json(value):
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(each) for key, each in value.items())
    if isinstance(value, list):
        return all(map(_is_json, value))
    return not isinstance(value, bytes)


def test_neither_and_no_text_and_options_for_json():
    for number in range(-40, 300):
        assert loads(msgpack.packb(number)) == number
    for data in (b"", b"\x01\x02", b"\xff\x00", b"hello"):
        with pytest.raises(json.JSONDecodeError):
            loads(data)
    for value in (None, 1, [1], {"a": 1}):
        with pytest.raises(TypeError):
            loads(value)
    assert loads("[1.5]", parse_float=str) == ["1.5"]
    assert loads(b"[1.5]", parse_float=str) == ["1.5"]
    with pytest.raises(TypeError, match=r"this is MessagePack: \['parse_float'\]"):
        loads(b"\x90", parse_float=str)
