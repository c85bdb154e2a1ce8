"""What somebody would write by hand for just this work: plain functions, no library."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any

from benchmarks import data
from benchmarks.cases import flat
from benchmarks.model import Work
from benchmarks.runners.dropin import versions_of
from benchmarks.runners.plainly import read_text


class Bad(ValueError):
    """A record does not load."""


def dump_quote(quote: Any) -> dict[str, Any]:
    author = quote.author
    return {
        "id": quote.id,
        "author": {
            "id": author.id,
            "first": author.first,
            "last": author.last,
            "book_count": author.book_count,
            "age": author.age,
            "address": author.address,
            "full_name": f"{author.first} {author.last}",
        },
        "content": quote.content,
        "posted_at": quote.posted_at.isoformat(),
        "book_name": quote.book_name,
        "page_number": quote.page_number,
        "line_number": quote.line_number,
        "col_number": quote.col_number,
        "author_line": f"{author.last}, {author.first}",
    }


def load_quote(record: dict[str, Any]) -> dict[str, Any]:
    author = record["author"]
    if not author:
        raise Bad("author")
    return {
        "id": whole(record["id"]),
        "author": {
            "id": whole(author["id"]),
            "first": text(author["first"]),
            "last": text(author["last"]),
            "book_count": real(author["book_count"]),
            "age": real(author["age"]),
            "address": text(author["address"]),
        },
        "content": text(record["content"]),
        "posted_at": dt.datetime.fromisoformat(record["posted_at"]),
        "book_name": text(record["book_name"]),
        "page_number": real(record["page_number"]),
        "line_number": real(record["line_number"]),
        "col_number": real(record["col_number"]),
    }


def whole(value: Any) -> int:
    return value if type(value) is int else int(value)


def real(value: Any) -> float:
    return value if type(value) is float else float(value)


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise Bad(f"not a text: {value!r}")
    return value


def dump_child(child: data.Child) -> dict[str, Any]:
    return {
        "number": child.number,
        "begin": child.start + 10,
        "name": child.name,
        "rank": child.rank,
    }


def dump_parent(parent: data.Parent) -> dict[str, Any]:
    return {
        "title": parent.title,
        "count": parent.count,
        "favourite": dump_child(parent.favourite),
        "children": [dump_child(child) for child in parent.children],
    }


def dump_flat_object(record: Any) -> dict[str, Any]:
    return {
        "number": record.number,
        "title": record.title,
        "ratio": record.ratio,
        "active": record.active,
        "created": record.created.isoformat(),
        "day": record.day.isoformat(),
        "at": record.at.isoformat(),
        "key": str(record.key),
        "price": str(record.price),
        "email": record.email,
        "site": record.site,
        "colour": record.colour.name,
        "span": record.span.total_seconds(),
        "extra": record.extra,
        "Label": record.label,
    }


def dump_flat_dict(record: dict[str, Any]) -> dict[str, Any]:
    return {
        "number": record["number"],
        "title": record["title"],
        "ratio": record["ratio"],
        "active": record["active"],
        "created": record["created"].isoformat(),
        "day": record["day"].isoformat(),
        "at": record["at"].isoformat(),
        "key": str(record["key"]),
        "price": str(record["price"]),
        "email": record["email"],
        "site": record["site"],
        "colour": record["colour"].name,
        "span": record["span"].total_seconds(),
        "extra": record["extra"],
        "Label": record["label"],
    }


def load_flat(record: dict[str, Any]) -> dict[str, Any]:
    try:
        price = Decimal(record["price"])
    except InvalidOperation as error:
        raise Bad("price") from error
    if "@" not in record["email"] or not record["site"].startswith(("http://", "https://")):
        raise Bad("email or site")
    active = record["active"]
    if active is not True and active is not False:
        raise Bad("active")
    return {
        "number": whole(record["number"]),
        "title": text(record["title"]),
        "ratio": real(record["ratio"]),
        "active": active,
        "created": dt.datetime.fromisoformat(record["created"]),
        "day": dt.date.fromisoformat(record["day"]),
        "at": dt.time.fromisoformat(record["at"]),
        "key": uuid.UUID(record["key"]),
        "price": price,
        "email": text(record["email"]),
        "site": text(record["site"]),
        "colour": data.Colour[record["colour"]],
        "span": dt.timedelta(seconds=record["span"]),
        "extra": record["extra"],
        "label": text(record["Label"]),
    }


def dump_order(order: Any) -> dict[str, Any]:
    return {
        "id": order.id,
        "placed": order.placed.isoformat(),
        "city": order.customer.address.city,
        "coupon": order.coupon.code,
        "totals": dict(order.totals),
        "lines": [
            {
                "quantity": line.quantity,
                "price": line.price,
                "product": {
                    "id": line.product.id,
                    "name": line.product.name,
                    "tags": list(line.product.tags),
                    "weight": line.product.weight,
                },
            }
            for line in order.lines
        ],
    }


def load_order(record: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": whole(record["id"]),
        "placed": dt.datetime.fromisoformat(record["placed"]),
        "customer": {"address": {"city": text(record["city"])}},
        "coupon": {"code": text(record["coupon"])},
        "totals": {text(key): real(value) for key, value in record["totals"].items()},
        "lines": [
            {
                "quantity": whole(line["quantity"]),
                "price": real(line["price"]),
                "product": {
                    "id": whole(line["product"]["id"]),
                    "name": text(line["product"]["name"]),
                    "tags": [text(tag) for tag in line["product"]["tags"]],
                    "weight": real(line["product"]["weight"]),
                },
            }
            for line in record["lines"]
        ],
    }


def dump_small(person: Any) -> dict[str, Any]:
    return {
        "id": person.id,
        "name": person.name,
        "email": person.email,
        "active": person.active,
        "joined": person.joined.isoformat(),
    }


def load_small(record: dict[str, Any]) -> dict[str, Any]:
    if "@" not in record["email"]:
        raise Bad("email")
    return {
        "id": whole(record["id"]),
        "name": text(record["name"]),
        "email": text(record["email"]),
        "active": bool(record["active"]),
        "joined": dt.datetime.fromisoformat(record["joined"]),
    }


def load_signup(record: dict[str, Any]) -> dict[str, Any]:
    name, nick, email = text(record["name"]), text(record["nick"]), text(record["email"])
    age, score = whole(record["age"]), real(record["score"])
    if not 1 <= len(name) <= 40 or len(nick) > 12 or "@" not in email:
        raise Bad("name, nick or email")
    if not 18 <= age <= 120 or not 0 <= score <= 100:
        raise Bad("age or score")
    if record["plan"] not in ("free", "basic", "pro"):
        raise Bad("plan")
    return {
        "name": name,
        "nick": nick,
        "email": email,
        "age": age,
        "score": score,
        "plan": record["plan"],
    }


def _each(
    function: Callable[[Any], object], source: Callable[[int], list[Any]], count: int
) -> Work:
    items = source(count)
    return lambda: [function(item) for item in items]


def _each_to_text(
    function: Callable[[Any], object], source: Callable[[int], list[Any]], count: int
) -> Work:
    items = source(count)
    return lambda: json.dumps([function(item) for item in items])


def _each_from_text(
    function: Callable[[Any], object], source: Callable[[int], list[Any]], count: int
) -> Work:
    written = json.dumps(source(count))
    return lambda: [function(item) for item in json.loads(written)]


def _one(function: Callable[[Any], object], make: Callable[[], Any], count: int) -> Work:
    item = make()
    return lambda: function(item)


def _one_from_text(function: Callable[[Any], object], make: Callable[[], Any], count: int) -> Work:
    written = json.dumps(make())
    return lambda: function(json.loads(written))


def _then(encode: Callable[[Any], object], work: Work) -> Work:
    return lambda: encode(work())


def builds() -> Mapping[str, Callable[[int], Work]]:
    records = partial(data.order_records, lines=20)
    each: dict[str, tuple[Callable[[Any], object], Callable[[int], Any]]] = {
        **{f"quotes-{n}": (dump_quote, data.quotes) for n in (1, 20, 1_000, 20_000)},
        **{f"load-quotes-{n}": (load_quote, data.quote_records) for n in (1, 1_000)},
        **{f"children-{n}": (dump_parent, data.parents) for n in (2, 100)},
        **{f"growth-{n}": (dump_flat_dict, data.flat_dicts) for n in flat.GROWTH},
        "flat-dicts": (dump_flat_dict, data.flat_dicts),
        "flat-objects": (dump_flat_object, data.flat_objects),
        "flat-slots": (dump_flat_object, data.flat_slots),
        "flat-orm": (dump_flat_object, flat.orm_rows),
        "load-flat": (load_flat, data.flat_records),
        "orders": (dump_order, partial(data.orders, lines=20)),
        "load-orders": (load_order, records),
        "load-validated": (load_signup, data.signup_records),
    }
    return {
        **{name: partial(_each, *parts) for name, parts in each.items()},
        "children-1": partial(_one, dump_parent, lambda: data.parents(1)[0]),
        "small": partial(_one, dump_small, data.small),
        "load-small": partial(_one, load_small, data.small_record),
        "dumps-quotes": partial(_each_to_text, dump_quote, data.quotes),
        "dumps-flat": partial(_each_to_text, dump_flat_object, data.flat_objects),
        "dumps-orders": partial(_each_to_text, dump_order, partial(data.orders, lines=20)),
        "dumps-small": lambda count: _then(json.dumps, _one(dump_small, data.small, count)),
        "loads-quotes": partial(_each_from_text, load_quote, data.quote_records),
        "loads-flat": partial(_each_from_text, load_flat, data.flat_records),
        "loads-orders": partial(_each_from_text, load_order, records),
        "loads-small": partial(_one_from_text, load_small, data.small_record),
    }


def plain(output: Any) -> Any:
    return read_text(output) if isinstance(output, str) else output


def versions() -> dict[str, str]:
    return versions_of()
