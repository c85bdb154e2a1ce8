"""Django's responses, byte for byte."""

import asyncio
import codecs
import datetime as dt

import pytest

pytest.importorskip("django")

from django.conf import settings

if not settings.configured:
    settings.configure(DEFAULT_CHARSET="utf-8", USE_I18N=False)

from django.http import JsonResponse

from althaia import StreamError
from althaia.adapters.django import SchemaResponse, SchemaStream
from tests.adapters.conftest import OWN_TEXTS


def same(schema, obj, many=None, **options):
    expected = JsonResponse(schema.dump(obj, many=many), safe=False, **options)
    answer = SchemaResponse(schema, obj, many=many, **options)
    assert answer.content == expected.content
    assert answer.headers == expected.headers
    assert answer.status_code == expected.status_code


def test_a_schema_response_is_the_response_of_the_dump(schema, orders):
    orders[3]["extra"] = {"at": dt.datetime(2024, 1, 2, tzinfo=dt.UTC), "for": dt.timedelta(1)}
    for params in (None, {"ensure_ascii": False, "indent": 2}, {"default": None}):
        same(schema, orders[3], json_dumps_params=params, status=201)
        same(schema, orders, many=True, json_dumps_params=params, status=201)


@pytest.mark.parametrize("make", OWN_TEXTS, ids=lambda make: make.__name__)
def test_a_schemas_own_text_is_not_what_is_sent(make):
    price = {"amount": "1.50", "at": dt.date(2024, 2, 29)}
    same(make(), price)
    same(make(), [price, price], many=True)


def test_a_stream_is_the_response_of_the_dumped_list(schema, orders):
    expected = JsonResponse(schema.dump(orders, many=True), safe=False).content
    chunks = list(SchemaStream(schema, iter(orders), chunk_bytes=512).streaming_content)
    assert b"".join(chunks) == expected
    assert len(chunks) > 5

    async def later():
        for each in orders:
            yield each

    async def collect():
        response = SchemaStream(schema, later())
        return b"".join([chunk async for chunk in response.streaming_content])

    assert asyncio.run(collect()) == expected


CHARSETS = [
    {"charset": "utf-8"},
    {"charset": "latin-1"},
    {"charset": "utf-16"},
    {"charset": "UTF-8-SIG"},
    {"content_type": "application/json; charset=latin-1"},
    {"headers": {"Content-Type": "application/json; charset=iso2022_jp"}, "content_type": None},
]


def some(response):
    note = "日本" if "headers" in response else "Größe"
    return [{"z_id": number, "note": f"{note} {number}"} for number in range(50)]


@pytest.mark.parametrize("ascii", [False, True])
@pytest.mark.parametrize("response", CHARSETS, ids=str)
def test_a_body_is_in_the_responses_charset(schema, response, ascii):
    options = {"json_dumps_params": {"ensure_ascii": ascii}, **response}
    same(schema, some(response), many=True, **options)


@pytest.mark.parametrize("response", CHARSETS[1:], ids=str)
def test_a_stream_is_in_utf8_only(schema, response):
    with pytest.raises(StreamError, match="a stream is in UTF-8, not in"):
        SchemaStream(schema, some(response), **response)


def test_the_charset_of_the_settings_counts(schema, monkeypatch):
    monkeypatch.setattr(settings, "DEFAULT_CHARSET", "utf-16")
    answer = SchemaResponse(schema, {"z_id": 1})
    assert answer.content == JsonResponse({"z_id": 1}).content
    assert answer.content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
