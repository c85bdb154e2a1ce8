"""The shop as a Starlette application under uvicorn; endpoints run in threads."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from marshmallow import Schema, ValidationError
from sqlalchemy.orm import Session
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from benchmarks.service.shop import queries
from benchmarks.service.shop.schemas import (
    CountSchema,
    MovementSchema,
    NewOrderSchema,
    OrderSchema,
)
from benchmarks.service.shop.settings import Settings

settings = Settings.read()
engine = settings.engine()


def session() -> Session:
    return Session(engine, expire_on_commit=False)


def limit_of(request: Request) -> int:
    return int(request.query_params.get("limit", 50))


def answer(schema: Schema, data: Any, status: int = 200, *, many: bool = False) -> Response:
    """The response, while the session of ``data`` is still open."""
    if settings.provider:
        from althaia.adapters.starlette import SchemaResponse

        return SchemaResponse(schema, data, many=many, status_code=status)
    return JSONResponse(schema.dump(data, many=many), status)


def orders(request: Request) -> Response:
    with session() as opened:
        found = queries.orders(opened, limit_of(request))
        return answer(OrderSchema(), found, many=True)


def order(request: Request) -> Response:
    with session() as opened:
        found = queries.order(opened, request.path_params["number"])
        if found is None:
            return JSONResponse({"message": "There is no such order."}, 404)
        return answer(OrderSchema(), found)


def movements(request: Request) -> Response:
    with session() as opened:
        return answer(MovementSchema(), queries.movements(opened, limit_of(request)), many=True)


def movement_rows(request: Request) -> Response:
    with session() as opened:
        return answer(MovementSchema(), queries.movement_rows(opened, limit_of(request)), many=True)


def _add(body: bytes, *, many: bool) -> Response:
    try:
        new = NewOrderSchema(many=many).load(json.loads(body))
    except ValidationError as error:
        return JSONResponse({"errors": error.messages}, 422)
    with session() as opened:
        if many:
            numbers = queries.add_orders(opened, new)
            return answer(CountSchema(), {"created": len(numbers), "numbers": numbers}, 201)
        (number,) = queries.add_orders(opened, [new])
        return answer(OrderSchema(), queries.order(opened, number), 201)


async def add_order(request: Request) -> Response:
    return await run_in_threadpool(_add, await request.body(), many=False)


async def add_orders(request: Request) -> Response:
    return await run_in_threadpool(_add, await request.body(), many=True)


def export_text(request: Request) -> Response:
    with session() as opened:
        text = MovementSchema().dumps(queries.movement_rows(opened, limit_of(request)), many=True)
    return Response(text, media_type="application/json")


def export_stream(request: Request) -> Response:
    from althaia import stream

    def chunks() -> Iterator[bytes]:
        with session() as opened:
            rows = queries.movement_stream(opened, limit_of(request))
            yield from stream(MovementSchema(), rows)

    return StreamingResponse(chunks(), media_type="application/json")


@asynccontextmanager
async def started(_: Starlette) -> AsyncIterator[None]:
    settings.set_collector()
    yield


app = Starlette(
    lifespan=started,
    routes=[
        Route("/orders", orders),
        Route("/orders", add_order, methods=["POST"]),
        Route("/orders/bulk", add_orders, methods=["POST"]),
        Route("/orders/{number:int}", order),
        Route("/movements", movements),
        Route("/movements/rows", movement_rows),
        Route("/export/text", export_text),
        Route("/export/stream", export_stream),
    ],
)


def main(descriptor: int) -> None:
    """Serve on a listening socket that was inherited."""
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_keep_alive=600)
    listener = socket.socket(fileno=descriptor)
    asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))


if __name__ == "__main__":
    main(int(sys.argv[1]))
