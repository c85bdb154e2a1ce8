"""NDJSON in: what each line loads to, whatever the chunks; bad lines do not end the stream."""

import asyncio
import io
import json
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

import althaia
from althaia.bulk.lines import LineTooLongError
from althaia.marshmallow import Schema, ValidationError, fields, validate


class RowSchema(Schema):
    number = fields.Integer(required=True, validate=validate.Range(min=0))
    text = fields.String()


LINES = [
    b'{"number": 1, "text": "a"}',
    b"",
    b'{"number": "2", "text": "\xc3\xa9\\n"}\r',
    b'{"number": "x"}',
    b'{"number": 3',
    b"   \t",
    b'[{"number": 4}]',
    b'{"text": "\xff"}',
    b"[" * 100_000,
    b'{"number": ' + b"1" * 5000 + b"}",
    b'{"number": 5, "other": 1}',
    b'{"number": 6}',
]


def outcome(line):
    error = line.error
    said = error.messages if isinstance(error, ValidationError) else str(error)
    return line.number, line.value, type(error), said


def expected(lines, options):
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            yield number, RowSchema().loads(text, **options), type(None), "None"
        except ValidationError as error:
            yield number, None, ValidationError, error.messages
        except (ValueError, RecursionError) as error:
            yield number, None, type(error), str(error)


@pytest.mark.parametrize("options", [{}, {"unknown": "exclude", "partial": True}], ids=str)
@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n"])
@pytest.mark.parametrize("size", [1, 7, 65536, 10_000_000])
def test_each_line(size, end, options):
    lines = [*LINES]
    if size == 1:  # each chunk of a long line costs
        lines[8] = b"[" * 2000
    data = b"\n".join(lines) + end
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    found = [outcome(line) for line in althaia.loads_stream(RowSchema(), chunks, **options)]
    assert found == [*expected(lines, options)]
    file = io.BytesIO(data)
    assert [outcome(line) for line in althaia.loads_stream(RowSchema(), file, **options)] == found


@given(st.lists(st.integers(0, 60)))
def test_chunks_may_be_cut_anywhere(cuts):
    data = b'{"number": 1}\n\n{"number": 2, "text": "\xe6\x97\xa5"}\n{"number": -3}\nx'
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    chunks = [data[a:b] for a, b in pairwise(places)]
    found = [*althaia.loads_stream(RowSchema(), chunks)]
    assert [line.number for line in found] == [1, 3, 4, 5]
    assert found[1].value == {"number": 2, "text": "日"}
    assert isinstance(found[2].error, ValidationError)
    assert isinstance(found[3].error, json.JSONDecodeError)


def test_asynchronous():
    async def chunks():
        yield b'{"number": 1}\n{"nu'
        await asyncio.sleep(0)
        yield b'mber": 2}\nx\n'

    async def collect():
        return [line async for line in althaia.loads_stream(RowSchema(), chunks())]

    first, second, third = asyncio.run(collect())
    assert (first.value, second.value) == ({"number": 1}, {"number": 2})
    assert third.number == 3
    assert isinstance(third.error, json.JSONDecodeError)


def test_what_other_code_raises_ends_the_stream():
    class Broken(Schema):
        number = fields.Function(deserialize=lambda value: int(value))

    stream = althaia.loads_stream(Broken(), [b'{"number": "1"}\n{"number": "x"}\n'])
    assert next(stream).value == {"number": 1}
    with pytest.raises(ValueError, match="invalid literal"):
        next(stream)


def test_long_lines_are_not_kept():
    def chunks():
        yield b'{"number": 1}\n'
        for _ in range(200):
            yield b"x" * 100_000
        yield b'\n{"number": 2}\n'

    tracemalloc = pytest.importorskip("tracemalloc")
    tracemalloc.start()
    try:
        found = [*althaia.loads_stream(RowSchema(), chunks(), max_line_bytes=1000)]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [line.value for line in found] == [{"number": 1}, None, {"number": 2}]
    assert isinstance(found[1].error, LineTooLongError)
    assert str(found[1].error) == "line 2 has more than 1000 bytes (max_line_bytes)"
    assert peak < 5_000_000


def test_what_is_refused_at_once():
    with pytest.raises(ValueError, match="max_line_bytes"):
        althaia.loads_stream(RowSchema(), [], max_line_bytes=0)
    with pytest.raises(althaia.StreamError, match="marshmallow schema is needed"):
        althaia.loads_stream(object(), [])
    with pytest.raises(TypeError, match="open a file with 'rb'"):
        next(althaia.loads_stream(RowSchema(), io.StringIO("{}")))


def test_there_and_back():
    rows = [{"number": number, "text": "é\n" * number} for number in range(50)]
    chunks = [*althaia.stream(RowSchema(), rows, chunk_bytes=100, lines=True)]
    # A schema for many loads one a line.
    for schema in (RowSchema(), RowSchema(many=True)):
        assert [line.value for line in althaia.loads_stream(schema, chunks)] == rows
