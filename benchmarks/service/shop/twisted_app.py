"""The shop as a Twisted web site; database and dumps run in the reactor's threads."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable
from typing import Any

from marshmallow import ValidationError
from sqlalchemy.orm import Session
from twisted.internet import reactor
from twisted.internet.threads import deferToThread
from twisted.python.failure import Failure
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request, Site

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

Answer = tuple[int, bytes]
Work = Callable[[Session, int, bytes], Answer]


def orders(session: Session, limit: int, _: bytes) -> Answer:
    return 200, OrderSchema().dumps(queries.orders(session, limit), many=True).encode()


def order(session: Session, number: int, _: bytes) -> Answer:
    found = queries.order(session, number)
    if found is None:
        return 404, b'{"message": "There is no such order."}'
    return 200, OrderSchema().dumps(found).encode()


def movements(session: Session, limit: int, _: bytes) -> Answer:
    return 200, MovementSchema().dumps(queries.movements(session, limit), many=True).encode()


def movement_rows(session: Session, limit: int, _: bytes) -> Answer:
    return 200, MovementSchema().dumps(queries.movement_rows(session, limit), many=True).encode()


def add_order(session: Session, _: int, body: bytes) -> Answer:
    try:
        new = NewOrderSchema().loads(body)
    except ValidationError as error:
        return 422, json.dumps({"errors": error.messages}).encode()
    (number,) = queries.add_orders(session, [new])
    return 201, OrderSchema().dumps(queries.order(session, number)).encode()


def add_orders(session: Session, _: int, body: bytes) -> Answer:
    try:
        new = NewOrderSchema(many=True).loads(body)
    except ValidationError as error:
        return 422, json.dumps({"errors": error.messages}).encode()
    numbers = queries.add_orders(session, new)
    counted = {"created": len(numbers), "numbers": numbers}
    return 201, CountSchema().dumps(counted).encode()


WORK: dict[tuple[str, str], Work] = {
    ("GET", "/orders"): orders,
    ("POST", "/orders"): add_order,
    ("POST", "/orders/bulk"): add_orders,
    ("GET", "/movements"): movements,
    ("GET", "/movements/rows"): movement_rows,
    ("GET", "/export/text"): movement_rows,
}


class Shop(Resource):
    """Every path of the shop."""

    isLeaf = True

    def render(self, request: Request) -> Any:
        path, method = request.path.decode(), request.method.decode()
        work = WORK.get((method, path))
        argument = int(request.args.get(b"limit", [b"50"])[0])
        if work is None and path.removeprefix("/orders/").isdigit():
            work, argument = order, int(path.removeprefix("/orders/"))
        if work is None:
            request.setResponseCode(404)
            return b""
        body = request.content.read() if request.content else b""
        done = deferToThread(run, work, argument, body)
        done.addCallbacks(respond, fail, (request,), {}, (request,), {})
        return NOT_DONE_YET


def run(work: Work, argument: int, body: bytes) -> Answer:
    with Session(engine, expire_on_commit=False) as session:
        return work(session, argument, body)


def respond(answer: Answer, request: Request) -> None:
    status, body = answer
    request.setResponseCode(status)
    request.setHeader("content-type", "application/json")
    request.setHeader("content-length", str(len(body)))
    request.write(body)
    request.finish()


def fail(failure: Failure, request: Request) -> None:
    failure.printTraceback(file=sys.stderr)
    request.setResponseCode(500)
    request.finish()


def main(descriptor: int) -> None:
    """Serve on a listening socket that was inherited."""
    # Its type depends on the platform, and on what was installed.
    chosen: Any = reactor
    # The reactor makes a copy of the descriptor, and does not wait on it.
    os.set_blocking(descriptor, False)
    chosen.adoptStreamPort(descriptor, socket.AF_INET, Site(Shop(), timeout=None))
    chosen.callWhenRunning(settings.set_collector)
    chosen.suggestThreadPoolSize(4)
    chosen.run()


if __name__ == "__main__":
    main(int(sys.argv[1]))
