"""Objects to JSON text and back: ``Schema.dumps`` of what the other cases dump, ``Schema.loads`` of
what they load, and a long export."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle, islice
from typing import Any

from benchmarks import data
from benchmarks.cases import flat, orders, quotes, small
from benchmarks.cases.calls import dumps_work, loads_work
from benchmarks.model import Case, Goal, Marshmallow, Work

EXPORT = 200_000
DIFFERENT = 500
COMPACT: dict[str, Any] = {"separators": (",", ":"), "sort_keys": True}


def point_schema(ma: Marshmallow) -> Any:
    return ma.Schema.from_dict({name: ma.fields.Float() for name in ("lat", "lon", "height")})


def article_schema(ma: Marshmallow) -> Any:
    return ma.Schema.from_dict({name: ma.fields.String() for name in ("title", "body")})


DUMPED: dict[str, tuple[Callable[[Marshmallow], Any], Callable[[int], Any]]] = {
    "dumps-quotes": (lambda ma: quotes.schemas(ma)[0](many=True), data.quotes),
    "dumps-flat": (lambda ma: flat.schema(ma)(many=True), data.flat_objects),
    "dumps-orders": (
        lambda ma: orders.schema(ma)(many=True),
        partial(data.orders, lines=orders.LINES),
    ),
    "dumps-points": (lambda ma: point_schema(ma)(many=True), data.points),
    "dumps-articles": (lambda ma: article_schema(ma)(many=True), data.articles),
    "dumps-small": (lambda ma: small.schema(ma)(), lambda count: data.small()),
}
"""For each case that writes text: its schema, and the objects."""


def build_text(name: str, ma: Marshmallow, count: int) -> Work:
    schema, source = DUMPED[name]
    return dumps_work(schema(ma), source(count))


def build_sorted(ma: Marshmallow, count: int) -> Work:
    return dumps_work(flat.schema(ma)(many=True), data.flat_objects(count), **COMPACT)


def build_load_quotes(ma: Marshmallow, count: int) -> Work:
    return loads_work(quotes.schemas(ma)[1](many=True), data.quote_records(count))


def build_load_flat(ma: Marshmallow, count: int) -> Work:
    return loads_work(flat.schema(ma)(many=True), data.flat_records(count))


def build_load_orders(ma: Marshmallow, count: int) -> Work:
    return loads_work(orders.schema(ma)(many=True), data.order_records(count, orders.LINES))


def build_load_points(ma: Marshmallow, count: int) -> Work:
    return loads_work(point_schema(ma)(many=True), data.points(count))


def build_load_articles(ma: Marshmallow, count: int) -> Work:
    """Text as browsers and most languages send it: without escape sequences."""
    text = json.dumps(data.articles(count), ensure_ascii=False)
    schema = article_schema(ma)(many=True)
    return lambda: schema.loads(text)


def build_load_small(ma: Marshmallow, count: int) -> Work:
    return loads_work(small.schema(ma)(), data.small_record())


def is_ours(ma: Marshmallow) -> bool:
    """Whether ``ma`` is this project's, switched on or under its own name; other releases have no
    ``althaia.json``."""
    if sys.modules.get("althaia.marshmallow") is not ma:
        return False
    import althaia

    return hasattr(althaia, "stream")


def build_export(ma: Marshmallow, count: int) -> Work:
    """All rows of an export, one after the other: a stream where there is one, else a text."""
    schema = flat.schema(ma)(many=True)
    source = data.flat_dicts(DIFFERENT)
    if not is_ours(ma):
        return lambda: len(schema.dumps(list(islice(cycle(source), count))))

    import althaia

    return lambda: sum(map(len, althaia.stream(schema, islice(cycle(source), count))))


def build_encoding(ma: Marshmallow, count: int) -> Work:
    """Only the text, of dictionaries that are dumped already, as web frameworks write it."""
    dumped = flat.schema(ma)(many=True).dump(data.flat_objects(count))
    if not is_ours(ma):
        return lambda: json.dumps(dumped, **COMPACT)

    from althaia import json as althaia_json

    return lambda: althaia_json.dumps(dumped, **COMPACT)


def build_jsonify(ma: Marshmallow, count: int) -> Work:
    """``flask.jsonify`` of dictionaries that are dumped already."""
    from flask import Flask, jsonify

    app = Flask("benchmark")
    if is_ours(ma):
        from althaia.adapters.flask import use

        use(app)
    dumped = flat.schema(ma)(many=True).dump(data.flat_objects(count))

    def respond() -> bytes:
        with app.app_context():
            return jsonify(dumped).get_data()

    return respond


def build_packing(ma: Marshmallow, count: int) -> Work:
    """MessagePack of objects: by our render module, else ``msgpack.packb`` of what is dumped."""
    objects = data.flat_objects(count)
    if is_ours(ma):
        import althaia.msgpack

        class Packed(flat.schema(ma)):  # type: ignore[misc]
            class Meta:
                render_module = althaia.msgpack

        schema = Packed(many=True)
        return lambda: schema.dumps(objects)

    import msgpack

    schema = flat.schema(ma)(many=True)
    return lambda: msgpack.packb(schema.dump(objects))


def cases() -> Iterator[Case]:
    for name, title, count, build, goal in (
        (
            "dumps-quotes",
            "1,000 benchmark quotes",
            1_000,
            partial(build_text, "dumps-quotes"),
            Goal("text", 9, 12),
        ),
        (
            "dumps-flat",
            "10,000 flat objects",
            10_000,
            partial(build_text, "dumps-flat"),
            Goal("text", 14, 18.7),
        ),
        ("dumps-flat-sorted", "the same, compact, keys sorted", 10_000, build_sorted, None),
        (
            "dumps-orders",
            "nested orders",
            orders.ORDERS,
            partial(build_text, "dumps-orders"),
            Goal("text", 13, 17.4),
        ),
        (
            "dumps-points",
            "1,000 points, all digits",
            1_000,
            partial(build_text, "dumps-points"),
            None,
        ),
        (
            "dumps-articles",
            "20 articles in Chinese",
            20,
            partial(build_text, "dumps-articles"),
            None,
        ),
        ("dumps-small", "one small object", 1, partial(build_text, "dumps-small"), Goal("text", 7)),
        ("encode-flat", "10,000 dumped rows", 10_000, build_encoding, Goal("text", 3)),
        ("jsonify-flat", "the same by jsonify", 10_000, build_jsonify, Goal("text", 3)),
        ("pack-flat", "10,000 flat objects, MessagePack", 10_000, build_packing, Goal("text", 4)),
        ("dumps-export", f"{EXPORT:,} flat rows, streamed", EXPORT, build_export, None),
    ):
        yield Case(name, f"to text: {title}", "text", count, build, goal)
    for name, title, count, build, goal in (
        ("loads-quotes", "1,000 benchmark quotes", 1_000, build_load_quotes, Goal("text", 16)),
        ("loads-flat", "10,000 flat records", 10_000, build_load_flat, Goal("text", 14)),
        ("loads-orders", "nested orders", orders.ORDERS, build_load_orders, Goal("text", 20)),
        ("loads-points", "1,000 points, all digits", 1_000, build_load_points, None),
        ("loads-articles", "20 articles in Chinese", 20, build_load_articles, None),
        ("loads-small", "one small record", 1, build_load_small, Goal("text", 7)),
    ):
        yield Case(name, f"from text: {title}", "text", count, build, goal)
