"""Django's responses, byte for byte."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("django")

from django.conf import settings

if not settings.configured:
    settings.configure(DEFAULT_CHARSET="utf-8", USE_I18N=False)

from django.http import JsonResponse

from althaia.adapters.django import SchemaResponse, SchemaStream


def test_a_schema_response_is_the_response_of_the_dump(schema: Any, orders: list[Any]) -> None:
    orders[3]["extra"] = {"at": dt.datetime(2024, 1, 2, tzinfo=dt.UTC), "for": dt.timedelta(1)}
    for obj, many in ((orders[3], None), (orders, True)):
        for params in (None, {"ensure_ascii": False, "indent": 2}):
            expected = JsonResponse(
                schema.dump(obj, many=many), safe=False, json_dumps_params=params, status=201
            )
            answer = SchemaResponse(schema, obj, many=many, json_dumps_params=params, status=201)
            assert answer.content == expected.content
            assert answer.headers == expected.headers
            assert answer.status_code == 201


def test_a_stream_is_the_response_of_the_dumped_list(schema: Any, orders: list[Any]) -> None:
    expected = JsonResponse(schema.dump(orders, many=True), safe=False).content
    response = SchemaStream(schema, iter(orders), chunk_bytes=512)
    chunks = list(response.streaming_content)
    assert b"".join(chunks) == expected
    assert len(chunks) > 5


def test_an_async_stream_too(schema: Any, orders: list[Any]) -> None:
    async def later() -> AsyncIterator[Any]:
        for each in orders:
            yield each

    async def collect() -> bytes:
        response = SchemaStream(schema, later())
        return b"".join([chunk async for chunk in response.streaming_content])

    assert (
        asyncio.run(collect()) == JsonResponse(schema.dump(orders, many=True), safe=False).content
    )
