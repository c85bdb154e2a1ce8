"""pydantic: models dumped in JSON mode, loaded from Python objects."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    computed_field,
)

from benchmarks import data
from benchmarks.cases import flat
from benchmarks.cases.calls import Rejected
from benchmarks.model import Work
from benchmarks.runners.dropin import versions_of
from benchmarks.runners.plainly import read_text, spell_utc, unfold_order

# Patterns, as upstream uses: pydantic's own e-mail check asks a library that does far more.
Email = Annotated[str, Field(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$")]
Url = Annotated[str, Field(pattern=r"^https?://\S+$")]


class Model(BaseModel):
    model_config = ConfigDict(
        from_attributes=True, extra="forbid", populate_by_name=True, ser_json_timedelta="float"
    )


class Author(Model):
    id: int
    first: str
    last: str
    book_count: float
    age: float
    address: str


class Quote(Model):
    id: int
    author: Author
    content: str
    posted_at: dt.datetime
    book_name: str
    page_number: float
    line_number: float
    col_number: float


class NamedAuthor(Author):
    @computed_field
    def full_name(self) -> str:
        return f"{self.first} {self.last}"


class SignedQuote(Quote):
    author: NamedAuthor

    @computed_field
    def author_line(self) -> str:
        return f"{self.author.last}, {self.author.first}"


class Child(Model):
    number: int
    start: int = Field(exclude=True)
    name: str
    rank: int

    @computed_field
    def begin(self) -> int:
        return self.start + 10


class Parent(Model):
    title: str
    count: int
    favourite: Child
    children: list[Child]


class Flat(Model):
    number: int
    title: str
    ratio: float
    active: bool
    created: dt.datetime
    day: dt.date
    at: dt.time
    key: uuid.UUID
    price: Decimal
    email: Email
    site: Url
    colour: data.Colour
    span: dt.timedelta
    extra: Any
    label: str = Field(alias="Label")


class Product(Model):
    id: int
    name: str | None = None
    tags: list[str]
    weight: float | None = None


class Line(Model):
    quantity: int
    price: float
    product: Product


class Order(Model):
    id: int
    placed: dt.datetime
    city: str
    coupon: str
    totals: dict[str, float]
    lines: list[Line]


class Small(Model):
    id: int
    name: str
    email: Email
    active: bool
    joined: dt.datetime


class Signup(Model):
    name: Annotated[str, Field(min_length=1, max_length=40)]
    nick: Annotated[str, Field(max_length=12)]
    email: Email
    age: Annotated[int, Field(ge=18, le=120)]
    score: Annotated[float, Field(ge=0, le=100)]
    plan: Literal["free", "basic", "pro"]


def dump_many(model: type[Model], source: Callable[[int], Any], count: int) -> Work:
    adapter = TypeAdapter(list[model])  # type: ignore[valid-type]
    models = adapter.validate_python(source(count))
    return lambda: adapter.dump_python(models, mode="json", by_alias=True)


def dump_rows(model: type[Model], source: Callable[[int], Any], count: int) -> Work:
    """Objects pydantic does not know: it validates them into models, and dumps those."""
    adapter = TypeAdapter(list[model])  # type: ignore[valid-type]
    rows = source(count)
    return lambda: adapter.dump_python(adapter.validate_python(rows), mode="json", by_alias=True)


def dump_one(model: type[Model], make: Callable[[], Any], count: int) -> Work:
    one = model.model_validate(make())
    return lambda: one.model_dump(mode="json", by_alias=True)


def to_text(kind: Any, source: Callable[[], Any]) -> Work:
    adapter = TypeAdapter(kind)
    models = adapter.validate_python(source())
    return lambda: adapter.dump_json(models, by_alias=True)


def from_text(kind: Any, source: Callable[[], Any]) -> Work:
    adapter = TypeAdapter(kind)
    written = json.dumps(source())
    return lambda: adapter.validate_json(written)


def load_many(model: type[Model], source: Callable[[int], Any], count: int) -> Work:
    return load(TypeAdapter(list[model]), source(count))  # type: ignore[valid-type]


def load_one(model: type[Model], make: Callable[[], Any], count: int) -> Work:
    return load(TypeAdapter(model), make())


def load(adapter: TypeAdapter[Any], records: Any) -> Work:
    def load() -> object:
        try:
            return adapter.validate_python(records)
        except ValidationError as error:
            return error.errors(include_url=False)

    return load


def plain(output: Any) -> Any:
    if isinstance(output, bytes):
        return read_text(output)
    if isinstance(output, list) and output and "loc" in output[0]:
        return Rejected({error["loc"] for error in output})
    if isinstance(output, list):
        return [plain(item) for item in output]
    if isinstance(output, Model):
        return loaded(output)
    return spell_utc(output)


def loaded(model: Model) -> dict[str, Any]:
    values = spell_utc(model.model_dump())
    return unfold_order(values) if isinstance(model, Order) else values


def builds() -> Mapping[str, Callable[[int], Work]]:
    orders = partial(data.order_records, lines=20)
    flats = partial(dump_many, Flat, data.flat_dicts)
    return {
        **{
            f"quotes-{n}": partial(dump_many, SignedQuote, data.quotes)
            for n in (1, 20, 1_000, 20_000)
        },
        **{f"load-quotes-{n}": partial(load_many, Quote, data.quote_records) for n in (1, 1_000)},
        **{f"children-{n}": partial(dump_many, Parent, data.parents) for n in (2, 100)},
        **{f"growth-{n}": flats for n in flat.GROWTH},
        "children-1": partial(dump_one, Parent, lambda: data.parents(1)[0]),
        "flat-dicts": flats,
        "flat-objects": flats,
        "flat-slots": flats,
        "flat-orm": partial(dump_rows, Flat, flat.orm_rows),
        "orders": partial(dump_many, Order, orders),
        "small": partial(dump_one, Small, data.small),
        "load-quotes-1000-invalid": partial(load_many, Quote, data.bad_quote_records),
        "load-flat": partial(load_many, Flat, data.flat_records),
        "load-flat-invalid": partial(load_many, Flat, data.bad_flat_records),
        "load-orders": partial(load_many, Order, orders),
        "load-orders-invalid": partial(load_many, Order, partial(data.bad_order_records, lines=20)),
        "load-small": partial(load_one, Small, data.small_record),
        "load-small-invalid": partial(load_one, Small, data.bad_small_record),
        "load-validated": partial(load_many, Signup, data.signup_records),
        "load-validated-invalid": partial(load_many, Signup, data.bad_signup_records),
        "dumps-quotes": lambda count: to_text(list[SignedQuote], partial(data.quotes, count)),
        "dumps-flat": lambda count: to_text(list[Flat], partial(data.flat_dicts, count)),
        "dumps-orders": lambda count: to_text(list[Order], partial(orders, count)),
        "dumps-small": lambda count: to_text(Small, data.small),
        "loads-quotes": lambda count: from_text(list[Quote], partial(data.quote_records, count)),
        "loads-flat": lambda count: from_text(list[Flat], partial(data.flat_records, count)),
        "loads-orders": lambda count: from_text(list[Order], partial(orders, count)),
        "loads-small": lambda count: from_text(Small, data.small_record),
    }


def versions() -> dict[str, str]:
    return versions_of("pydantic", "pydantic-core")
