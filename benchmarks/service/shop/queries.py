"""Reading and writing: all that touches the database, for every framework the same."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from sqlalchemy import Row, insert, select
from sqlalchemy.orm import Session, joinedload, selectinload

from benchmarks.service.shop.tables import Base, Line, Movement, Order

_WHOLE_ORDER = (
    joinedload(Order.user),
    selectinload(Order.lines).joinedload(Line.product),
)


def orders(session: Session, limit: int) -> Sequence[Order]:
    """The first ``limit`` orders with their users, lines and products, in three statements."""
    query = select(Order).order_by(Order.id).limit(limit).options(*_WHOLE_ORDER)
    return session.scalars(query).all()


def order(session: Session, number: int) -> Order | None:
    """One order with all that belongs to it."""
    return session.get(Order, number, options=_WHOLE_ORDER)


def add_orders(session: Session, new: Sequence[dict[str, Any]]) -> list[int]:
    """Write orders as they come from the schema; their numbers in the database, in order."""
    heads = [_head(one) for one in new]
    # Plain tables: entities would be made of values that are known already.
    orders, lines = Base.metadata.tables["orders"], Base.metadata.tables["lines"]
    inserted = session.scalars(
        insert(orders).returning(orders.c.id, sort_by_parameter_order=True), heads
    ).all()
    session.execute(
        insert(lines),
        [
            {"order_id": number, **line}
            for number, one in zip(inserted, new, strict=True)
            for line in one["lines"]
        ],
    )
    session.commit()
    return list(inserted)


def _head(one: dict[str, Any]) -> dict[str, Any]:
    head = {name: value for name, value in one.items() if name not in ("lines", "contact")}
    head["total"] = sum((line["price"] * line["quantity"] for line in one["lines"]), Decimal())
    head.setdefault("key", uuid.UUID(int=0))
    return head


def movements(session: Session, limit: int) -> Sequence[Movement]:
    """Flat records as entities of the ORM."""
    return session.scalars(select(Movement).order_by(Movement.id).limit(limit)).all()


_COLUMNS = tuple(Movement.__table__.columns)


def movement_rows(session: Session, limit: int) -> Sequence[Row[Any]]:
    """The same records as plain rows, without entities."""
    return session.execute(select(*_COLUMNS).order_by(Movement.id).limit(limit)).all()


def movement_stream(session: Session, limit: int) -> Iterator[Row[Any]]:
    """The same rows one after the other, read by a cursor on the server's side."""
    query = select(*_COLUMNS).order_by(Movement.id).limit(limit)
    return iter(session.execute(query, execution_options={"yield_per": 1_000}))
