"""Pings and large dumps in one event loop: Starlette under uvicorn."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Iterator

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from benchmarks.service.pings import collection


async def ping(_: Request) -> Response:
    return PlainTextResponse("pong")


async def everything(_: Request) -> Response:
    return Response(collection.whole(), media_type="application/json")


async def chunked(request: Request) -> Response:
    chunks = collection.CHUNKED[request.url.path]()
    return StreamingResponse(in_turns(chunks), media_type="application/json")


async def in_turns(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Let the loop serve others after each chunk."""
    for chunk in chunks:
        yield chunk
        await asyncio.sleep(0)


app = Starlette(
    routes=[
        Route("/ping", ping),
        Route("/all", everything),
        Route("/hand", chunked),
        Route("/stream", chunked),
    ]
)


def main(descriptor: int) -> None:
    """Serve on a listening socket that was inherited."""
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_keep_alive=3_600)
    listener = socket.socket(fileno=descriptor)
    asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))


if __name__ == "__main__":
    main(int(sys.argv[1]))
