"""Starlette's responses, byte for byte, from values and from schemas."""

import asyncio

import pytest

pytest.importorskip("starlette")

from starlette.responses import JSONResponse as Plain

from althaia.adapters.starlette import JSONResponse, SchemaResponse, SchemaStream
from tests.adapters import conftest
from tests.adapters.conftest import OWN_TEXTS, VALUES


def outcome(call):
    return conftest.outcome(call, "body", "raw_headers", "status_code")


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_response_has_the_same_bytes(value):
    assert outcome(lambda: JSONResponse(value)) == outcome(lambda: Plain(value))


def same(schema, obj, many=None, **options):
    expected = outcome(lambda: Plain(schema.dump(obj, many=many), **options))
    assert outcome(lambda: SchemaResponse(schema, obj, many=many, **options)) == expected
    return expected


def test_a_schema_response_is_the_response_of_the_dump(schema, orders):
    for obj, many in ((orders[3], None), (orders, True), ([], True)):
        assert same(schema, obj, many, status_code=201)[-1] == 201


@pytest.mark.parametrize("price", [{"at": "ü"}, {"amount": "1.50"}], ids=str)
@pytest.mark.parametrize("make", OWN_TEXTS, ids=lambda make: make.__name__)
def test_a_schemas_own_text_is_not_what_is_sent(make, price):
    same(make(), price)
    same(make(), [price, price], many=True)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_stream_is_the_response_of_the_dumped_list(schema, orders, asynchronous):
    async def later():
        for each in orders:
            yield each

    async def collect():
        return [chunk async for chunk in response.body_iterator]

    source = later() if asynchronous else iter(orders)
    response = SchemaStream(schema, source, chunk_bytes=512)
    chunks = asyncio.run(collect())
    assert b"".join(chunks) == Plain(schema.dump(orders, many=True)).body
    assert len(chunks) > 5
    assert response.media_type == "application/json"
