"""The flat record and a shop's orders in SQLite, by way of SQLAlchemy.

Imported only by the cases that need it.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from sqlalchemy import JSON, Enum, ForeignKey, Interval, Numeric, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

from benchmarks import data


class Base(DeclarativeBase):
    """The registry of the tables below. Loaded objects are compared by what they show.

    SQLAlchemy reads expired attributes in the order of a set, hence they are sorted.
    """

    def __repr__(self) -> str:
        shown = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        return f"{type(self).__name__}({sorted(shown.items())!r})"


class FlatRow(Base):
    """One flat record."""

    __tablename__ = "flat"

    number: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str]
    ratio: Mapped[float]
    active: Mapped[bool]
    created: Mapped[dt.datetime]
    day: Mapped[dt.date]
    at: Mapped[dt.time]
    key: Mapped[uuid.UUID]
    price: Mapped[Decimal] = mapped_column(Numeric(12, 2, asdecimal=True))
    email: Mapped[str]
    site: Mapped[str]
    colour: Mapped[data.Colour] = mapped_column(Enum(data.Colour))
    span: Mapped[dt.timedelta] = mapped_column(Interval)
    extra: Mapped[Any] = mapped_column(JSON)
    label: Mapped[str]


class Customer(Base):
    """Who ordered."""

    __tablename__ = "customer"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    email: Mapped[str]
    joined: Mapped[dt.date]


class Product(Base):
    """What can be ordered."""

    __tablename__ = "product"

    id: Mapped[int] = mapped_column(primary_key=True)
    sku: Mapped[str]
    name: Mapped[str]
    price: Mapped[Decimal] = mapped_column(Numeric(12, 2, asdecimal=True))


class Line(Base):
    """A product of an order, and how many of it."""

    __tablename__ = "line"

    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id"))
    product_id: Mapped[int] = mapped_column(ForeignKey("product.id"))
    quantity: Mapped[int]
    product: Mapped[Product] = relationship(lazy="joined")


class Order(Base):
    """An order with its customer and its lines."""

    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int] = mapped_column(ForeignKey("customer.id"))
    placed: Mapped[dt.datetime]
    state: Mapped[str]
    total: Mapped[Decimal] = mapped_column(Numeric(12, 2, asdecimal=True))
    note: Mapped[str | None]
    customer: Mapped[Customer] = relationship(lazy="joined")
    lines: Mapped[list[Line]] = relationship(lazy="selectin", order_by=Line.id)


_sessions: list[Session] = []


def open_sessions() -> list[Session]:
    """The sessions of everything read so far, the latest last."""
    return _sessions


def flat_session(count: int) -> Session:
    """A session on a database in memory that holds ``count`` flat records.

    It stays open, as it is inside a request.
    """
    return _session(FlatRow(**record) for record in data.flat_dicts(count))


def flat_rows(count: int) -> list[FlatRow]:
    """``count`` flat records as objects of the ORM, written to a database and read back."""
    return list(flat_session(count).scalars(select(FlatRow).order_by(FlatRow.number)))


def flat_core_rows(count: int) -> list[Any]:
    """The same as rows of Core: ``Row``, named tuples as a database's driver gives them."""
    query = select(*FlatRow.__table__.columns).order_by(FlatRow.number)
    return list(flat_session(count).execute(query).all())


def flat_mappings(count: int) -> list[Any]:
    """The same as ``RowMapping``."""
    query = select(*FlatRow.__table__.columns).order_by(FlatRow.number)
    return list(flat_session(count).execute(query).mappings().all())


def order_rows(count: int, lines: int = 3) -> list[Order]:
    """``count`` orders with all that belongs to them, read before the clock starts."""
    customers = [
        Customer(id=i + 1, name=f"Customer {i}", email=f"c{i}@example.com", joined=data.START)
        for i in range(50)
    ]
    products = [
        Product(id=i + 1, sku=f"SKU-{i:04}", name=f"Product {i}", price=Decimal(i * 5 + 99) / 100)
        for i in range(200)
    ]
    orders = [
        Order(
            id=i + 1,
            customer=customers[i % 50],
            placed=data.START.replace(tzinfo=None) + dt.timedelta(hours=i),
            state=("new", "paid", "sent")[i % 3],
            total=Decimal(i * 7 + 100) / 100,
            note=None if i % 2 else f"note {i}",
            lines=[Line(product=products[(i + k) % 200], quantity=k + 1) for k in range(lines)],
        )
        for i in range(count)
    ]
    session = _session([*customers, *products, *orders])
    return list(session.scalars(select(Order).order_by(Order.id)).unique())


def _session(objects: Iterable[Base]) -> Session:
    """A session on a new database that holds ``objects``, with none of them loaded."""
    engine = create_engine("sqlite://")
    Base.metadata.create_all(engine)
    with Session(engine) as writing:
        writing.add_all(objects)
        writing.commit()
    session = Session(engine)
    _sessions.append(session)
    return session
