"""The Unicode character database that Python carries, as SQLAlchemy rows in SQLite."""

from __future__ import annotations

import datetime as dt
import enum
import sys
import unicodedata
import uuid
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from sqlalchemy import ForeignKey, Numeric, create_engine, insert, select
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    Session,
    joinedload,
    mapped_column,
    relationship,
    selectinload,
)

NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://www.unicode.org/ucd/")

# The Unicode versions of the Pythons this runs on, and 3.2.0, which every Python carries too.
RELEASED = {
    "3.2.0": dt.datetime(2002, 3, 27, tzinfo=dt.UTC),
    "14.0.0": dt.datetime(2021, 9, 14, tzinfo=dt.UTC),
    "15.0.0": dt.datetime(2022, 9, 13, tzinfo=dt.UTC),
    "15.1.0": dt.datetime(2023, 9, 12, tzinfo=dt.UTC),
    "16.0.0": dt.datetime(2024, 9, 10, tzinfo=dt.UTC),
    "17.0.0": dt.datetime(2025, 9, 9, tzinfo=dt.UTC),
}

# Characters whose names are computed from the code point: a hundred thousand alike.
COMPUTED_NAMES = ("CJK ", "HANGUL SYLLABLE", "TANGUT IDEOGRAPH", "NUSHU ", "KHITAN SMALL")


class Width(enum.Enum):
    """How many columns a character takes in East Asian typography."""

    AMBIGUOUS = "A"
    FULL = "F"
    HALF = "H"
    NEUTRAL = "N"
    NARROW = "Na"
    WIDE = "W"


class Base(DeclarativeBase):
    pass


class Category(Base):
    __tablename__ = "category"

    code: Mapped[str] = mapped_column(primary_key=True)
    combining: Mapped[bool]


class Release(Base):
    __tablename__ = "release"

    version: Mapped[str] = mapped_column(primary_key=True)
    # Kept as text: SQLite has no time zones, and these have one.
    released: Mapped[str | None]

    @property
    def released_at(self) -> dt.datetime | None:
        return None if self.released is None else dt.datetime.fromisoformat(self.released)


class Part(Base):
    """One character of another character's decomposition."""

    __tablename__ = "part"

    whole_id: Mapped[int] = mapped_column(ForeignKey("character.code_point"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    code_point: Mapped[int]
    name: Mapped[str | None]


class Character(Base):
    __tablename__ = "character"

    code_point: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    key: Mapped[uuid.UUID]
    bidirectional: Mapped[str]
    width: Mapped[Width]
    mirrored: Mapped[bool]
    combining_class: Mapped[int]
    numeric: Mapped[Decimal | None] = mapped_column(Numeric(24, 6, asdecimal=True))
    utf8: Mapped[bytes]
    decomposition_kind: Mapped[str | None]
    category_code: Mapped[str] = mapped_column(ForeignKey("category.code"))
    release_version: Mapped[str] = mapped_column(ForeignKey("release.version"))

    category: Mapped[Category] = relationship()
    release: Mapped[Release] = relationship()
    parts: Mapped[list[Part]] = relationship(order_by=Part.position)

    @property
    def utf8_bytes(self) -> list[int]:
        return list(self.utf8)


Progress = Callable[[int], object]


def code_points() -> list[int]:
    """The named characters whose names are not computed: about 33,000."""
    return [
        point
        for point in range(sys.maxunicode + 1)
        if (name := unicodedata.name(chr(point), None)) and not name.startswith(COMPUTED_NAMES)
    ]


def build(database: Path, points: Sequence[int], progress: Progress) -> None:
    """Write the characters to a new SQLite file; ``progress`` is told of each batch written."""
    engine = create_engine(f"sqlite:///{database}")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add_all(_releases())
        session.add_all(_categories(points))
        session.flush()
        for start in range(0, len(points), 2000):
            batch = points[start : start + 2000]
            session.execute(insert(Character), [_character(point) for point in batch])
            if parts := [part for point in batch for part in _parts(point)]:
                session.execute(insert(Part), parts)
            progress(len(batch))
        session.commit()
    engine.dispose()


def rows(database: Path, limit: int | None = None) -> list[Character]:
    """The characters with everything they refer to, read before anything is timed."""
    engine = create_engine(f"sqlite:///{database}")
    query = (
        select(Character)
        .options(joinedload(Character.category), joinedload(Character.release))
        .options(selectinload(Character.parts))
        .order_by(Character.code_point)
        .limit(limit)
    )
    with Session(engine) as session:
        found = list(session.scalars(query))
        session.expunge_all()
    engine.dispose()
    return found


def _releases() -> Iterator[Release]:
    for version in ("3.2.0", unicodedata.unidata_version):
        released = RELEASED.get(version)
        yield Release(version=version, released=released and released.isoformat())


def _categories(points: Sequence[int]) -> Iterator[Category]:
    for code in sorted({unicodedata.category(chr(point)) for point in points}):
        yield Category(code=code, combining=code.startswith("M"))


def _character(point: int) -> dict[str, Any]:
    char = chr(point)
    name = unicodedata.name(char)
    number = unicodedata.numeric(char, None)
    known_in_3_2 = unicodedata.ucd_3_2_0.category(char) != "Cn"
    return {
        "code_point": point,
        "name": name,
        "key": uuid.uuid5(NAMESPACE, name),
        "bidirectional": unicodedata.bidirectional(char),
        "width": Width(unicodedata.east_asian_width(char)),
        "mirrored": bool(unicodedata.mirrored(char)),
        "combining_class": unicodedata.combining(char),
        "numeric": None if number is None else Decimal(repr(number)),
        "utf8": char.encode(),
        "decomposition_kind": _decomposition(char)[0],
        "category_code": unicodedata.category(char),
        "release_version": "3.2.0" if known_in_3_2 else unicodedata.unidata_version,
    }


def _parts(point: int) -> Iterator[dict[str, Any]]:
    for position, part in enumerate(_decomposition(chr(point))[1]):
        name = unicodedata.name(chr(part), None)
        yield {"whole_id": point, "position": position, "code_point": part, "name": name}


def _decomposition(char: str) -> tuple[str | None, list[int]]:
    words = unicodedata.decomposition(char).split()
    kind = words.pop(0).strip("<>") if words and words[0].startswith("<") else None
    return kind, [int(word, 16) for word in words]
