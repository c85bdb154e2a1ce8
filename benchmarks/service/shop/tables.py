"""The tables, as SQLAlchemy entities, and how they are filled."""

from __future__ import annotations

import datetime as dt
import enum
import uuid
from collections.abc import Iterable, Mapping
from decimal import Decimal
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
    records = {
        "users": data.users(size.users),
        "products": data.products(size.products),
        "orders": data.orders(size),
        "lines": data.lines(size),
        "movements": data.movements(size),
    }
    if engine.dialect.name == "postgresql":
        _copy(engine, records)
        _after_filling(engine)
    else:
        with engine.begin() as connection:
            for name, some in records.items():
                connection.execute(insert(Base.metadata.tables[name]), list(some))
    engine.dispose()


def _copy(engine: Engine, records: Mapping[str, Iterable[dict[str, Any]]]) -> None:
    """By COPY: an INSERT for each of some hundred thousand rows would take a minute."""
    connection = engine.raw_connection()
    try:
        cursor: Any = connection.cursor()
        for name, some in records.items():
            columns = [c.name for c in Base.metadata.tables[name].columns]
            if name == "lines":
                columns.remove("id")
            with cursor.copy(f"COPY {name} ({', '.join(columns)}) FROM STDIN") as copy:
                for record in some:
                    copy.write_row([_plain(record[column]) for column in columns])
        connection.commit()
    finally:
        connection.close()


def _plain(value: Any) -> Any:
    return value.name if isinstance(value, enum.Enum) else value


def _after_filling(engine: Engine) -> None:
    """What was written with its own numbers must not be numbered again; and the statistics."""
    with engine.begin() as connection:
        for name in Base.metadata.tables:
            sequence = f"pg_get_serial_sequence('{name}', 'id')"
            connection.execute(text(f"SELECT setval({sequence}, max(id)) FROM {name}"))
        connection.execute(text("ANALYZE"))
