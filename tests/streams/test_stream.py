"""A stream's bytes are those of ``schema.dumps``; what cannot be streamed is refused at once."""

import asyncio
import json
import sys
from typing import Any

import pytest

import althaia.json
from althaia.marshmallow import Schema, fields, post_dump, pre_dump


class RowSchema(Schema):
    number = fields.Integer()
    text = fields.String(data_key="Text")
    when = fields.Raw()


class HookedSchema(RowSchema):
    @pre_dump
    def before(self, data, **kwargs):
        assert kwargs == {"many": True} or kwargs == {"many": False}
        return {**data, "text": data["text"].upper()}

    @post_dump(pass_original=True)
    def after(self, data, original, **kwargs):
        return {**data, "of": original["text"]}


class MarkedSchema(RowSchema):
    @post_dump
    def mark(self, data, **kwargs):
        return {**data, "marked": True}


class CollectionSchema(RowSchema):
    @post_dump(pass_collection=True)
    def envelope(self, data, many, **kwargs):
        return {"data": data}


def rows(count):
    return [{"number": n, "text": f"zeile ä {n}", "when": [n, {"n": None}]} for n in range(count)]


OPTIONS = [
    {},
    {"indent": 2},
    {"indent": ""},
    {"separators": (",", ":"), "ensure_ascii": False},
    {"separators": ("\u00e9", "\u0416"), "sort_keys": True},
    {"cls": None, "default": None},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("schema", [RowSchema, HookedSchema, MarkedSchema])
@pytest.mark.parametrize("chunk_bytes", [1, 500, 65536])
@pytest.mark.parametrize("count", [0, 1, 2, 17, 2000])
def test_joined_it_is_the_text(count, chunk_bytes, schema, options):
    given = rows(count)
    expected = schema().dumps(given, many=True, **options).encode()
    chunks = list(althaia.stream(schema(), iter(given), chunk_bytes=chunk_bytes, **options))
    assert b"".join(chunks) == expected
    assert all(chunks)
    if "indent" not in options:
        lines = althaia.stream(schema(), iter(given), lines=True, **options)
        expected_lines = [schema().dumps(row, **options).encode() + b"\n" for row in given]
        assert b"".join(lines) == b"".join(expected_lines)


def test_objects_are_taken_when_they_are_needed():
    taken = []

    def lazily():
        for row in rows(10_000):
            taken.append(row["number"])
            yield row

    stream = althaia.stream(RowSchema(), lazily(), chunk_bytes=1000)
    assert taken == []
    next(stream)
    assert 0 < len(taken) <= 16
    stream.close()
    assert len(taken) <= 16


@pytest.mark.parametrize("lines", [False, True])
@pytest.mark.parametrize("schema", [RowSchema, MarkedSchema])
@pytest.mark.parametrize("count", [1, 15, 16, 17, 300])
def test_what_the_objects_come_from_is_open_while_they_are_dumped(schema, lines, count):
    is_open = True
    Late = type("Late", (schema,), {"lazy": fields.Function(lambda row: bool(row) and is_open)})

    def read():
        nonlocal is_open
        yield from rows(count)
        is_open = False

    text = b"".join(althaia.stream(Late(), read(), lines=lines))
    assert text.count(b'"lazy": true') == count
    assert not is_open


@pytest.mark.parametrize("lines", [False, True])
@pytest.mark.parametrize("schema", [RowSchema, MarkedSchema, HookedSchema])
@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 300])
def test_asynchronous_objects_are_dumped_before_the_next_one(schema, lines, count):
    is_open, expected = True, rows(count)
    Late = type("Late", (schema,), {"lazy": fields.Function(lambda row: bool(row) and is_open)})

    async def read():
        nonlocal is_open
        same = {}
        try:
            for row in expected:
                await asyncio.sleep(0)
                same.update(row)
                yield same
        finally:
            is_open = False

    async def collect():
        return b"".join([each async for each in althaia.stream(Late(), read(), lines=lines)])

    text = Late().dumps(expected, many=True).encode()
    if lines:
        text = b"".join(Late().dumps(each).encode() + b"\n" for each in expected)
    assert asyncio.run(collect()) == text


def test_an_error_of_an_asynchronous_stream_reaches_its_reader():
    async def read():
        for row in rows(3):
            yield row
        raise OSError("the database is gone")

    async def collect():
        async for _ in althaia.stream(RowSchema(), read()):
            pass

    with pytest.raises(OSError, match="the database is gone"):
        asyncio.run(collect())


def test_an_error_ends_the_stream():
    given = rows(1000)
    given[700]["when"] = {1, 2}
    stream = althaia.stream(RowSchema(), given, chunk_bytes=1000)
    made = []
    with pytest.raises(TypeError, match="Object of type set is not JSON serializable") as caught:
        made.extend(stream)
    whole = RowSchema().dumps(given[:700], many=True).encode()
    assert whole.startswith(b"".join(made))
    with pytest.raises(StopIteration):
        next(stream)
    try:
        RowSchema().dumps(given, many=True)
    except TypeError as error:
        notes = getattr(error, "__notes__", None)
        assert getattr(caught.value, "__notes__", None) == notes


class OwnDump(RowSchema):
    def dump(self, obj, *, many=None):
        return super().dump(obj, many=many)


class OwnDumps(RowSchema):
    def dumps(self, obj, *args, many=None, **kwargs):
        return super().dumps(obj, *args, many=many, **kwargs)


class OtherForm(RowSchema):
    class Meta:
        render_module = type("form", (), {"dumps": staticmethod(repr), "__name__": "form"})


@pytest.mark.parametrize(
    ("schema", "options", "words"),
    [
        (CollectionSchema, {}, "envelope is a post_dump hook with pass_collection=True"),
        (OwnDump, {}, "has a dump of its own"),
        (OwnDumps, {"lines": True}, "has a dumps of its own"),
        (OtherForm, {}, "render_module = json"),
        (RowSchema, {"cls": json.JSONEncoder}, "give default="),
        (RowSchema, {"lines": True, "indent": 2}, "leave one of them out"),
        (lambda: RowSchema, {}, "an instance"),
    ],
)
def test_what_is_refused_is_refused_at_once(schema, options, words):
    def never():
        raise AssertionError("an object was taken")
        yield

    with pytest.raises(althaia.StreamError, match=words):
        althaia.stream(schema(), never(), **options)


def test_wrong_arguments_and_odd_objects():
    with pytest.raises(ValueError, match="at least 1"):
        althaia.stream(RowSchema(), [], chunk_bytes=0)
    with pytest.raises(TypeError, match="unknown"):
        althaia.stream(RowSchema(), [], unknown=1)
    with pytest.raises(TypeError, match="not iterable"):
        althaia.stream(RowSchema(), 5)

    class Both(list[Any]):
        def __aiter__(self):
            raise AssertionError

    assert b"".join(althaia.stream(RowSchema(), Both(rows(2)))).count(b"number") == 2
    lines = b"".join(althaia.stream(CollectionSchema(), rows(2), lines=True)).splitlines()
    assert [json.loads(line)["data"]["number"] for line in lines] == [0, 1]
    sizes = [len(chunk) for chunk in althaia.stream(RowSchema(), rows(20_000), chunk_bytes=10_000)]
    assert sizes[0] < 5_000
    assert all(5_000 < size < 20_000 for size in sizes[4:-2])


@pytest.mark.parametrize(
    "options", [{"separators": (1, 2)}, {"separators": (",",)}, {"indent": 1.5}]
)
def test_options_that_json_cannot_use(options):
    with pytest.raises((TypeError, ValueError)) as expected:
        json.dumps([], **options)
    with pytest.raises(expected.type) as caught:
        althaia.stream(RowSchema(), [], **options)
    assert str(caught.value) == str(expected.value)


PROGRAM = """
import resource, sys
import althaia
from althaia.marshmallow import Schema, fields

class Row(Schema):
    number = fields.Integer()
    text = fields.String()

def rows(count):
    for n in range(count):
        yield {"number": n, "text": "row"}

for count in (10_000, 300_000):
    for chunk in althaia.stream(Row(), rows(count)):
        pass
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB there")
def test_memory_does_not_grow_with_the_length(program):
    before, after = map(int, program(PROGRAM).split())
    assert after - before < 5 * 1024


@pytest.mark.parametrize("schema", [RowSchema, HookedSchema, CollectionSchema, OwnDumps])
@pytest.mark.parametrize("options", OPTIONS)
def test_dump_bytes(schema, options):
    for given, many in ((rows(3), True), (rows(1)[0], None)):
        expected = schema().dumps(given, many=many, **options).encode()
        assert althaia.json.dump_bytes(schema(), given, many=many, **options) == expected
    row = {"text": "\ud800"}
    assert althaia.json.dump_bytes(RowSchema(), row) == b'{"Text": "\\ud800"}'
    with pytest.raises(UnicodeEncodeError) as caught:
        althaia.json.dump_bytes(RowSchema(), row, ensure_ascii=False)
    assert caught.value.object == '{"Text": "\ud800"}'
