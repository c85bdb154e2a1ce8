"""Objects to JSON text: ``Schema.dumps`` of what the other cases dump, and a long export."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from itertools import cycle, islice
from typing import Any

from benchmarks import data
from benchmarks.cases import flat, orders, quotes, small
from benchmarks.cases.calls import dumps_work
from benchmarks.model import Case, Marshmallow, Work

EXPORT = 200_000
DIFFERENT = 500
COMPACT: dict[str, Any] = {"separators": (",", ":"), "sort_keys": True}


def build_quotes(ma: Marshmallow, count: int) -> Work:
    return dumps_work(quotes.schemas(ma)[0](many=True), data.quotes(count))


def build_flat(ma: Marshmallow, count: int, **options: Any) -> Work:
    return dumps_work(flat.schema(ma)(many=True), data.flat_objects(count), **options)


def build_orders(ma: Marshmallow, count: int) -> Work:
    return dumps_work(orders.schema(ma)(many=True), data.orders(count, orders.LINES))


def build_small(ma: Marshmallow, count: int) -> Work:
    return dumps_work(small.schema(ma)(), data.small())


def build_export(ma: Marshmallow, count: int) -> Work:
    """All rows of an export, one after the other: a stream where there is one, else a text."""
    schema = flat.schema(ma)(many=True)
    source = data.flat_dicts(DIFFERENT)
    if not ma.__name__.startswith("althaia"):
        return lambda: len(schema.dumps(list(islice(cycle(source), count))))

    import althaia

    return lambda: sum(map(len, althaia.stream(schema, islice(cycle(source), count))))


def build_encoding(ma: Marshmallow, count: int) -> Work:
    """Only the text, of dictionaries that are dumped already, as web frameworks write it."""
    dumped = flat.schema(ma)(many=True).dump(data.flat_objects(count))
    if not ma.__name__.startswith("althaia"):
        return lambda: json.dumps(dumped, sort_keys=True, separators=(",", ":"))

    from althaia import json as althaia_json

    return lambda: althaia_json.dumps(dumped, sort_keys=True, separators=(",", ":"))


def cases() -> Iterator[Case]:
    yield Case("dumps-quotes", "text of 1,000 benchmark quotes", "text", 1_000, build_quotes)
    yield Case("dumps-flat", "text of 10,000 flat objects", "text", 10_000, build_flat)
    yield Case(
        "dumps-flat-sorted",
        "the same, compact, keys sorted",
        "text",
        10_000,
        partial(build_flat, **COMPACT),
    )
    yield Case("dumps-orders", "text of nested orders", "text", orders.ORDERS, build_orders)
    yield Case("dumps-small", "text of one small object", "text", 1, build_small)
    yield Case("dumps-export", f"{EXPORT:,} flat rows as a stream", "text", EXPORT, build_export)
    yield Case("encode-flat", "10,000 dumped rows to text", "text", 10_000, build_encoding)
