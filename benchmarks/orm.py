"""The flat record as SQLAlchemy rows in SQLite. Imported only by the cases that need it."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal
from typing import Any

from sqlalchemy import JSON, Enum, Interval, Numeric, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from benchmarks import data


class Base(DeclarativeBase):
    """The registry of the one table below."""


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


_sessions: list[Session] = []


def flat_rows(count: int) -> list[FlatRow]:
    """Write ``count`` records to a database in memory and read them back as ORM rows."""
    engine = create_engine("sqlite://")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add_all(FlatRow(**record) for record in data.flat_dicts(count))
        session.commit()
    session = Session(engine)
    # The rows stay attached to an open session, as they are inside a request.
    _sessions.append(session)
    return list(session.scalars(select(FlatRow).order_by(FlatRow.number)))
