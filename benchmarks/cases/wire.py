"""What goes over the wire and into stores: four messages of a messaging service, an entity of a
learning platform.

``python -m benchmarks.wire`` measures them; they are no rows of the other tables.
"""

# The base classes come from whichever marshmallow is measured, hence Any.
# mypy: disable-error-code="misc"

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.data import START, Bag
from benchmarks.model import Marshmallow

KINDS = ("presence", "chat message", "activity", "user profile")
ENTITY = "entity"


def schemas(ma: Marshmallow, form: Any = None) -> Mapping[str, Any]:
    """A schema instance for each kind of message and the entity; ``form`` is the render module."""
    fields = ma.fields
    common: Mapping[str, Any] = {} if form is None else {"render_module": form}

    class Base(ma.Schema):
        Meta = type("Meta", (), {"register": False, **common})

    class Presence(Base):
        user = fields.Integer()
        status = fields.String()
        device = fields.String()
        since = fields.DateTime()

    class Attachment(Base):
        name = fields.String()
        kind = fields.String()
        size = fields.Integer()

    class Chat(Base):
        id = fields.Integer()
        room = fields.String()
        sender = fields.Integer()
        text = fields.String()
        sent = fields.DateTime()
        edited = fields.Boolean()
        mentions = fields.List(fields.Integer())
        attachments = fields.List(fields.Nested(Attachment))

    class Actor(Base):
        id = fields.Integer()
        name = fields.String()

    class Activity(Base):
        id = fields.UUID()
        verb = fields.String()
        at = fields.DateTime()
        actor = fields.Nested(Actor)
        target = fields.Nested(Actor)
        counts = fields.Dict(keys=fields.String(), values=fields.Integer())
        score = fields.Float()

    class Place(Base):
        city = fields.String()
        country = fields.String()

    class Profile(Base):
        id = fields.Integer()
        name = fields.String()
        email = fields.Email()
        site = fields.Url()
        about = fields.String()
        born = fields.Date(allow_none=True)
        joined = fields.DateTime()
        place = fields.Nested(Place)
        languages = fields.List(fields.String())
        verified = fields.Boolean()
        followers = fields.Integer()
        balance = fields.Decimal(as_string=True)

    class Property(Base):
        key = fields.String()
        value = fields.String()

    class Member(Base):
        user = fields.Integer()
        role = fields.String()
        active = fields.Boolean()
        joined = fields.DateTime()

    class Entity(Base):
        id = fields.UUID()
        parent = fields.UUID()
        kind = fields.String()
        title = fields.String()
        short_title = fields.String()
        description = fields.String()
        language = fields.String()
        term = fields.String()
        creator = fields.Integer()
        created = fields.DateTime()
        modified = fields.DateTime()
        starts = fields.Date()
        ends = fields.Date()
        published = fields.Boolean()
        locked = fields.Boolean()
        credits = fields.Float()
        weight = fields.Integer()
        size = fields.Integer()
        properties = fields.List(fields.Nested(Property))
        members = fields.List(fields.Nested(Member))

    return {
        "presence": Presence(),
        "chat message": Chat(),
        "activity": Activity(),
        "user profile": Profile(),
        ENTITY: Entity(),
    }


def presence(i: int) -> Bag:
    return Bag(user=i, status="away", device="phone", since=START + dt.timedelta(seconds=i))


def chat(i: int) -> Bag:
    return Bag(
        id=i,
        room=f"room-{i % 40}",
        sender=i * 7,
        text="Could you look at the second paragraph again before noon? – thanks",
        sent=START + dt.timedelta(seconds=i),
        edited=i % 5 == 0,
        mentions=[i + 1, i + 2],
        attachments=[Bag(name=f"page {i}.png", kind="image/png", size=20_000 + i)],
    )


def activity(i: int) -> Bag:
    from uuid import UUID

    return Bag(
        id=UUID(int=i * 0x1234567890ABCDEF1234567890),
        verb="shared",
        at=START + dt.timedelta(seconds=i),
        actor=Bag(id=i, name=f"Reader {i}"),
        target=Bag(id=i + 1, name=f"Reader {i + 1}"),
        counts={"likes": i % 90, "replies": i % 7, "shares": 3},
        score=i / 8,
    )


def profile(i: int) -> Bag:
    from decimal import Decimal

    return Bag(
        id=i,
        name=f"Zoë Reader {i}",
        email=f"reader{i}@example.com",
        site=f"https://example.com/readers/{i}",
        about="Reads more than is good for anybody, mostly at night.",
        born=None if i % 3 == 0 else dt.date(1970 + i % 40, 2, 3),
        joined=START + dt.timedelta(seconds=i),
        place=Bag(city="Århus", country="DK"),
        languages=["da", "en", "fr"],
        verified=i % 2 == 0,
        followers=i * 11,
        balance=Decimal(i * 25 + 5) / 100,
    )


def entity(i: int) -> Bag:
    from uuid import UUID

    return Bag(
        id=UUID(int=i * 0x1234567890ABCDEF1234567890),
        parent=UUID(int=i * 0x987654321),
        kind="course",
        title=f"Introduction to Hydrology, group {i}",
        short_title=f"HYD-{i}",
        description="Water in soils, rivers and aquifers; with field work in the second half.",
        language="en",
        term="2024 spring",
        creator=i * 3,
        created=START + dt.timedelta(minutes=i),
        modified=START + dt.timedelta(minutes=i + 90),
        starts=dt.date(2024, 2, 1),
        ends=dt.date(2024, 6, 30),
        published=True,
        locked=False,
        credits=7.5,
        weight=i % 100,
        size=30,
        properties=[Bag(key=f"option.{k}", value=f"value {i + k}") for k in range(8)],
        members=[
            Bag(user=i + k, role="student", active=k % 7 > 0, joined=START + dt.timedelta(days=k))
            for k in range(12)
        ],
    )


MAKERS: Mapping[str, Callable[[int], Bag]] = {
    "presence": presence,
    "chat message": chat,
    "activity": activity,
    "user profile": profile,
    ENTITY: entity,
}
