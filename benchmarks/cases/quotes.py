"""Upstream's own benchmark in shape: a quote, its author, a computed field, a hook."""

# The base classes come from whichever marshmallow is measured, hence Any.
# mypy: disable-error-code="misc, untyped-decorator"

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks import data
from benchmarks.cases.calls import dump_work, load_work
from benchmarks.model import Case, Goal, Marshmallow, Work


def schemas(ma: Marshmallow) -> tuple[Any, Any]:
    """The schema that dumps quotes, and the one that loads them."""
    fields = ma.fields

    def not_empty(value: object) -> None:
        if not value:
            raise ma.ValidationError("Data not provided.")

    class Author(ma.Schema):
        id = fields.Int()
        first = fields.Str()
        last = fields.Str()
        book_count = fields.Float()
        age = fields.Float()
        address = fields.Str()
        full_name = fields.Method("get_full_name")

        def get_full_name(self, author: Any) -> str:
            return f"{author.first} {author.last}"

    class Quote(ma.Schema):
        id = fields.Int()
        author = fields.Nested(Author, validate=not_empty)
        content = fields.Str(required=True)
        posted_at = fields.DateTime()
        book_name = fields.Str()
        page_number = fields.Float()
        line_number = fields.Float()
        col_number = fields.Float()

    class QuoteWithSummary(Quote):
        @ma.post_dump
        def add_author_line(self, quote: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
            author = quote["author"]
            quote["author_line"] = f"{author['last']}, {author['first']}"
            return quote

    return QuoteWithSummary, Quote


def build_dump(ma: Marshmallow, count: int) -> Work:
    return dump_work(schemas(ma)[0](many=True), data.quotes(count))


def build_load(ma: Marshmallow, count: int) -> Work:
    return load_work(ma, schemas(ma)[1](many=True), data.quote_records(count))


def build_load_invalid(ma: Marshmallow, count: int) -> Work:
    return load_work(ma, schemas(ma)[1](many=True), data.bad_quote_records(count))


def cases() -> Iterator[Case]:
    for count in (1, 20, 1_000, 20_000):
        yield Case(
            f"quotes-{count}",
            f"benchmark Quote, {count:,}, many",
            "dump",
            count,
            build_dump,
            Goal("dump", 10, 14) if count == 1_000 else None,
        )
    for count in (1, 1_000):
        yield Case(
            f"load-quotes-{count}",
            f"benchmark Quote shape, {count:,} valid",
            "load",
            count,
            build_load,
            Goal("load", 36, 44) if count == 1_000 else None,
        )
    yield Case(
        "load-quotes-1000-invalid",
        "benchmark Quote shape, 1,000, 10 % invalid, errors collected",
        "load",
        1_000,
        build_load_invalid,
        Goal("load", 10),
    )
