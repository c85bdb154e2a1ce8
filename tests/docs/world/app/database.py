from __future__ import annotations

from decimal import Decimal

from marshmallow import Schema, fields
from sqlalchemy import create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column


class Base(DeclarativeBase):
    pass


class Movement(Base):
    __tablename__ = "movements"

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str]
    price: Mapped[Decimal]


class MovementSchema(Schema):
    id = fields.Integer()
    key = fields.String()
    price = fields.Decimal(as_string=True)


engine = create_engine("sqlite://")
Base.metadata.create_all(engine)
session = Session(engine)
session.add_all(Movement(key=f"m{number}", price=Decimal(number)) for number in range(5))
session.flush()
