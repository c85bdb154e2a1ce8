"""``althaia.json.loads`` against the interpreter's ``json.loads``."""

import codecs
import json
import sys
import tracemalloc

import pytest
from hypothesis import given, strategies as st

from althaia.json import loads
from tests.sinks.outcomes import outcome
from tests.sources.compare import alike

ENCODINGS = "utf-8 utf-8-sig utf-16 utf-16-le utf-16-be utf-32 utf-32-le utf-32-be"


def check(text, **options):
    # Not what error an error came after.
    ours, theirs = (outcome(load, text, **options)[:3] for load in (loads, json.loads))
    assert alike(ours, theirs), f"{text!r}: {ours} and {theirs}"


characters = st.one_of(
    st.sampled_from('ab"\\/\n\t\x00\x1f\x7féÿĀ日😀\ud800\udc00 u1{}[],:'), st.characters()
)
texts = st.text(characters)
ESCAPES = (
    *(f"\\{letter}" for letter in '"\\/bfnrtux'),
    *("\\u0041", "\\u007F", "\\u0080", "\\u00fF", "\\u0100", "\\uFFFF", "\\u0000", "\\u00g0"),
    *("\\ud83d", "\\uDE00", "\\ud83d\\ude00", "\\uDBFF\\udfff", "\\ud83d\\u0041", "\\ud83d\\u12"),
    *("x" * 7, "x" * 65, "\x7f", "é", "ÿ" * 9, "日", "日" * 65, "😀", "😀" * 65, "\ud800"),
)
escaped = st.builds(
    '["{}", "{}", "{}"]'.format,
    st.sampled_from(["", "é", "日", "😀"]),
    *[st.lists(st.sampled_from(ESCAPES), max_size=8).map("".join)] * 2,
)
numbers = st.one_of(
    st.integers(),
    st.integers(-(10**40), 10**40),
    st.floats(),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(float),
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(texts, inner)),
)
documents = st.builds(
    lambda value, ascii_, indent, separators: json.dumps(
        value, ensure_ascii=ascii_, indent=indent, separators=separators
    ),
    values,
    st.booleans(),
    st.sampled_from([None, None, 1]),
    st.sampled_from([None, (",", ":"), (" , ", "\t: ")]),
)
TOKENS = (
    *'{}[],:"\\-0 \n\t\r\x00\x0b\ufeffé日',
    *('"a"', '"a":', '"\\u00e9"', '"\\ud83d\\ude00"', '"\\ud83d"', '"\\ud83d\\u0041"'),
    *("1", "-0", "1.5", "1e5", "1E+5", "1e", ".5", "1.", "01", "0.0", "-0.0", "1_0", "٣"),
    *("NaN", "Infinity", "-Infinity", "-Inf", "nul", "null", "true", "false", "[]", "{}"),
    *("1" * n for n in (18, 19, 20, 639, 640, 641, 4300, 4301)),
    *("0." + "1" * n for n in (17, 18, 19, 30)),
    *("1e22", "1e23", "1e-22", "1e-23", "9007199254740993e3", "1e400", "1e-400"),
)
pieces = st.lists(st.sampled_from(TOKENS), max_size=12).map("".join)


@pytest.mark.parametrize("strategy", [documents, pieces, texts], ids=["json", "pieces", "text"])
@given(st.data())
def test_any_text(strategy, data):
    check(data.draw(strategy))


@given(escaped, st.integers(0, 60))
def test_escapes(text, cut):
    for each in (text, text.encode(errors="surrogatepass"), text[:-cut]):
        check(each)
    found = outcome(loads, text)
    if found[0] is list:
        # Two strs of the same characters may have other sizes only if one is none of CPython's.
        assert [*map(sys.getsizeof, found[1])] == [*map(sys.getsizeof, json.loads(text))]


@pytest.mark.parametrize("part", ["x" * 70 + "\\n", "\\/", "\\u0394", "\\ud83d\\ude00", "é\\n"])
def test_long_text_with_escapes_takes_no_more_room_than_itself(part):
    text = f'"{part * 20_000}"'
    tracemalloc.start()
    try:
        loads(text)
        assert tracemalloc.get_traced_memory()[1] < 1.1 * sys.getsizeof(text)
    finally:
        tracemalloc.stop()


@given(documents, st.lists(st.tuples(st.integers(0), st.sampled_from(["", *TOKENS])), max_size=3))
def test_damaged_documents(text, damage):
    for place, instead in damage:
        at = place % (len(text) + 1)
        text = text[:at] + instead + text[at + 1 :]
    check(text)


@given(documents, st.sampled_from(ENCODINGS.split()), st.integers(0, 40), st.integers(0, 255))
def test_bytes(text, encoding, cut, byte):
    data = text.encode(encoding, "surrogatepass")
    damaged = bytearray(data)
    if damaged:
        damaged[cut % len(damaged)] = byte
    for each in (data, bytearray(data), data[: len(data) - cut], bytes(damaged)):
        check(each)


@given(
    st.from_regex(r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
)
def test_numbers(text):
    check(text)
    check(f'{{"é": {text} , "日": [{text}]}}')


ONE_BY_ONE = [
    *("", " ", "[1] ", "[1] \x00", "\ufeff1", '{"a": 1, "b": 2, "a": 3}', '{"\\u0061": 1, "a": 2}'),
    *("[" * 64 + "]" * 64, "[" * 65 + "]" * 65, '{"a":' * 64 + "1" + "}" * 64),
    *("[" * 200_000, '{"a":' * 200_000, '"\\ud83d\\ud83d\\ude00"', '"\\ud83d\\', '"\\ud83d\\u12"'),
    *('"a\ud83d\ude00"', '"' + "x" * 1000 + "\\n" * 1000 + "\\u00e9日😀" + '"'),
    *('["' + '","'.join("abcdefghijklmnopqrstuvwxyz") + '"]', '{"": {"": []}}'),
    *(b"", b"1", b"\x00", b"1\x00", b"\x001", b"\xff", b"\xef\xbb\xbf", b"\xef\xbb\xbf[1]"),
    *(b'"\xed\xa0\x80"', b'["\xc3"]', bytearray(b'{"a": "\xc3\xa9"}'), memoryview(b"[1]")),
    *(type("Text", (str,), {})("[1]"), type("Bytes", (bytes,), {})(b"[1]"), None, 1, ["[1]"]),
]


@pytest.mark.parametrize("number", range(len(ONE_BY_ONE)))
def test_one_by_one(number):
    check(ONE_BY_ONE[number])


@pytest.mark.parametrize("before", ["", "é", "日", "😀"], ids=["ascii", "latin", "2", "4 bytes"])
def test_text_of_every_length(before):
    """Around the sizes that are read at once."""
    for size in range(40):
        check(f'["{before}", "{"x" * size}", "{"x" * size}\\n", {{"{"k" * size}": 1}}]')
        check(f'["{before}", "{"x" * size}')
        check(f'["{before}", "{"x" * size}\x1f"]')
        check(f'["{before}", "{"x" * size}é日"]')


def test_keys():
    first, second = loads('[{"symbol": 1}, {"symbol": 2}]')
    assert next(iter(first)) is next(iter(second))
    wide = loads('[{"symbol": "日"}, {"symbol": "日"}, {"日本": 1}, {"日本": 1}]')
    assert next(iter(wide[0])) is next(iter(wide[1]))
    assert next(iter(wide[2])) is next(iter(wide[3]))
    check(json.dumps([{f"{i}{j}": j for j in range(40)} for i in range(100)]))


OPTIONS = [
    *({"cls": json.JSONDecoder}, {"object_hook": list}, {"object_pairs_hook": tuple}),
    *({"parse_float": str}, {"parse_int": str}, {"parse_constant": str}, {"strict": False}),
    *({"object_hook": None, "strict": True}, {"no_such_option": 1}),
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options(options):
    check('{"a": [1, 2.5, NaN, "\t"]}', **options)


@pytest.mark.parametrize("digits", [0, 640, 5000])
def test_the_limit_of_digits_is_the_interpreters(digits):
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(digits)
    try:
        for size in (640, 641, 4300, 4301, 5001):
            check("1" * size)
    finally:
        sys.set_int_max_str_digits(before)


def test_the_text_is_let_go():
    text = '{"a": ["' + "x" * 5000 + '", 1]}'
    before = sys.getrefcount(text)
    kept = [loads(text) for _ in range(10)]
    assert sys.getrefcount(text) == before
    assert len(kept) == 10


def test_an_array_cannot_change_while_it_is_decoded():
    text = bytearray(b'{"a": "\xed\xa0\x80 and more"}' * 3)
    told = []

    def grow(error):
        assert isinstance(error, UnicodeDecodeError)
        try:
            text.extend(b"x" * 100_000)
        except BufferError as refused:
            told.append(refused)
        return "?", error.end

    pass_on = codecs.lookup_error("surrogatepass")
    codecs.register_error("surrogatepass", grow)
    try:
        ours, first = outcome(loads, text), len(told)
        theirs = outcome(json.loads, text)
    finally:
        codecs.register_error("surrogatepass", pass_on)
    assert alike(ours[:3], theirs[:3])
    assert first
