"""Do all variants give the same responses? Byte for byte, before anything is timed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.service.client import Request, Response, fetch
from benchmarks.service.model import STREAM, is_upstream, missing
from benchmarks.service.servers import Server
from benchmarks.service.shop import data


@dataclass(frozen=True, slots=True)
class Pair:
    """A request, and where its answer is the same as another request's, that one.

    Then only the bodies are compared: one response may come in chunks, the other not.
    """

    request: Request
    like: Request | None = None


def pairs(size: data.Size, kind: str) -> list[Pair]:
    """What is asked of every variant, right and wrong requests."""
    some = min(1_000, size.orders)
    valid, invalid = data.new_orders(5), data.new_orders(5, invalid=True)
    asked = [
        Pair(Request("/orders?limit=50")),
        Pair(Request(f"/orders?limit={some}")),
        Pair(Request("/orders/1")),
        Pair(Request(f"/orders/{size.orders + 10**6}", status=404)),
        Pair(Request(f"/movements?limit={some}")),
        Pair(Request(f"/movements/rows?limit={some}")),
        Pair(_post("/orders", valid[0], 201)),
        Pair(_post("/orders", invalid[4], 422)),
        Pair(_post("/orders", {}, 422)),
        Pair(_post("/orders", [], 422)),
        Pair(_post("/orders/bulk", valid, 201)),
        Pair(_post("/orders/bulk", invalid, 422)),
        Pair(_post("/orders/bulk", {"number": "1"}, 422)),
        Pair(_post("/orders/bulk", [None, 1, "text"], 422)),
    ]
    text = Request(f"/export/text?limit={some}")
    asked.append(Pair(text))
    if kind in ("sync", "gthread"):
        rows = Request(f"/movements/rows?limit={some}")
        asked += [
            Pair(Request(f"/movements/text?limit={some}"), rows),
            Pair(Request("/orders?limit=0", status=422)),
            Pair(Request("/orders?limit=many", status=422)),
            Pair(Request("/orders", "POST", b'{"number": ', 400)),
        ]
    if kind != "twisted":
        asked.append(Pair(Request(f"/export/stream?limit={some}"), text))
    return asked


def _post(path: str, body: object, status: int) -> Request:
    return Request(path, "POST", json.dumps(body).encode(), status)


def differences(servers: Mapping[str, Server], asked: Sequence[Pair]) -> list[str]:
    """Each difference to the first of ``servers`` as a sentence.

    A status other than the expected one is a difference too: equal failures prove nothing.
    """
    first, *others = servers
    found: list[str] = []
    for pair in asked:
        request, like = pair.request, pair.like or pair.request
        expected = fetch(servers[first].address, like)
        if expected.status != like.status:
            found.append(f"{_name(like)}, {first}: status {expected.status} for {like.status}")
        for other in others:
            if request.path.startswith("/export/stream") and (
                missing(STREAM) or is_upstream(other)
            ):
                continue
            actual = fetch(servers[other].address, request)
            difference = _difference(expected, actual, bodies_only=pair.like is not None)
            if difference:
                found.append(f"{_name(request)}, {other}: {difference}")
    return found


def _name(request: Request) -> str:
    return f"{request.method} {request.path}"


def _difference(expected: Response, actual: Response, *, bodies_only: bool) -> str | None:
    if expected.status != actual.status:
        return f"status {expected.status} became {actual.status}: {actual.body[:200]!r}"
    if not bodies_only and expected.headers != actual.headers:
        return f"headers {expected.headers} became {actual.headers}"
    if expected.body == actual.body:
        return None
    at = next(
        (i for i, (a, b) in enumerate(zip(expected.body, actual.body, strict=False)) if a != b),
        min(len(expected.body), len(actual.body)),
    )
    around = slice(max(0, at - 40), at + 40)
    return f"at byte {at}: {expected.body[around]!r} became {actual.body[around]!r}"
