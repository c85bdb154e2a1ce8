"""The tables, as SQLAlchemy entities, and how they are filled."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import islice
from typing import Any

from sqlalchemy import DateTime, Engine, Enum, ForeignKey, Numeric, create_engine, insert, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from benchmarks.service.shop import data

Money = Numeric(10, 2, asdecimal=True)


class Base(DeclarativeBase):
    """The registry of the tables below."""


class User(Base):
    """Who orders."""

    __tablename__ = "users"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    email: Mapped[str]
    joined: Mapped[dt.date]
    active: Mapped[bool]


class Product(Base):
    """What is ordered."""

    __tablename__ = "products"

    id: Mapped[int] = mapped_column(primary_key=True)
    code: Mapped[str]
    title: Mapped[str]
    price: Mapped[Decimal] = mapped_column(Money)
    weight: Mapped[float]


class Order(Base):
    """An order of a user."""

    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(primary_key=True)
    number: Mapped[str]
    key: Mapped[uuid.UUID]
    status: Mapped[data.Status] = mapped_column(Enum(data.Status, native_enum=False))
    created: Mapped[dt.datetime] = mapped_column(DateTime(timezone=True))
    note: Mapped[str | None]
    total: Mapped[Decimal] = mapped_column(Money)
    paid: Mapped[bool]
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    user: Mapped[User] = relationship()
    lines: Mapped[list[Line]] = relationship(order_by="Line.position")


class Line(Base):
    """One product of an order."""

    __tablename__ = "lines"

    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id"), index=True)
    position: Mapped[int]
    quantity: Mapped[int]
    price: Mapped[Decimal] = mapped_column(Money)
    product_id: Mapped[int] = mapped_column(ForeignKey("products.id"))
    product: Mapped[Product] = relationship()


class Movement(Base):
    """One change of the stock: a flat record."""

    __tablename__ = "movements"

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[uuid.UUID]
    kind: Mapped[data.Movement] = mapped_column(Enum(data.Movement, native_enum=False))
    product_code: Mapped[str]
    quantity: Mapped[int]
    price: Mapped[Decimal] = mapped_column(Money)
    weight: Mapped[float]
    at: Mapped[dt.datetime] = mapped_column(DateTime(timezone=True))
    day: Mapped[dt.date]
    counted: Mapped[bool]
    note: Mapped[str | None]


def fill(url: str, size: data.Size) -> None:
    """Create the tables in the empty database at ``url`` and write ``size`` records."""
    engine = create_engine(url)
    Base.metadata.create_all(engine)
    with engine.begin() as connection:
        for table, records in (
            (User, data.users(size.users)),
            (Product, data.products(size.products)),
            (Order, data.orders(size)),
            (Line, data.lines(size)),
            (Movement, data.movements(size)),
        ):
            for batch in _batches(records, 2_000):
                connection.execute(insert(Base.metadata.tables[table.__tablename__]), batch)
    if engine.dialect.name == "postgresql":
        _after_filling(engine)
    engine.dispose()


def _after_filling(engine: Engine) -> None:
    """What was written with its own numbers must not be numbered again; and the statistics."""
    with engine.begin() as connection:
        for name in Base.metadata.tables:
            sequence = f"pg_get_serial_sequence('{name}', 'id')"
            connection.execute(text(f"SELECT setval({sequence}, max(id)) FROM {name}"))
        connection.execute(text("ANALYZE"))


def _batches(records: Iterable[dict[str, Any]], count: int) -> Iterator[list[dict[str, Any]]]:
    source = iter(records)
    while batch := list(islice(source, count)):
        yield batch
