"""ISO dates and times before release 4: the real marshmallow beside ours."""

import datetime as dt
import random

import marshmallow as real

from althaia import marshmallow as ours
from althaia.engine import planner
from tests.plans.programs import outcome

TEXTS = [
    "2024-05-06T07:08:09.123456+00:00", "2024-5-6 7:8Z", "2024-05-06T07:08:09.1234567890123",
    "2024-05-06T07:08:09-0530", "2024-05-06T07:08:09+05", "2024-05-06T07:08:09+05:99",
    "2024-05-06T07:08:09-00:00", "2024-05-06T07:08:09+24:00", "2024-02-29T24:00:60", "2024-02-30",
    "0000-01-01", "2024-05-06\n", "\u0662\u0660\u0662\u0664-05-06", "7:8", "07:08:09.5 and more",
    "07:08:x", "Mon, 06 May 2024 07:08:09 -0530",
]  # fmt: skip
SIGNS = "0123456789:-+.TZ \n\u0663"


def texts(count):
    """The texts, and as many changed ones as asked for."""
    chance = random.Random(26)
    found = list(TEXTS)
    while len(found) < count:
        text = chance.choice(TEXTS)
        for _ in range(chance.choice((1, 1, 2, 3))):
            at = chance.randrange(len(text) + 1)
            text = text[:at] + chance.choice(("", *SIGNS)) + text[at + chance.choice((0, 1)) :]
        found.append(text)
    return found


def schema(ma):
    fields = ma.fields

    class S(ma.Schema):
        moment = fields.DateTime()
        date = fields.Date()
        time = fields.Time(format="iso8601")
        naive = fields.NaiveDateTime()
        moved = fields.NaiveDateTime(timezone=dt.timezone(dt.timedelta(hours=3)))
        aware = fields.AwareDateTime()
        given = fields.AwareDateTime(default_timezone=dt.UTC)
        rfc = fields.DateTime(format="rfc")

    return S()


def main():
    theirs, mine = schema(real), schema(ours)
    assert all(step.narrow for step in planner.build(mine, "load").steps)
    for text in [*texts(1_500), None, 5, b"2024-05-06", dt.date(2024, 5, 6)]:
        for name in theirs.fields:
            expected, actual = (outcome(each.load, {name: text}) for each in (theirs, mine))
            assert expected == actual, f"{name} of {text!r}:\n real {expected}\n ours {actual}"
    print("iso")


if __name__ == "__main__":
    main()
