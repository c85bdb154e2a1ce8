"""A program with the usual features of marshmallow 3: all is planned, and the answers are equal."""

import datetime as dt
import enum
import uuid
import warnings

import marshmallow as real

from althaia import explain, marshmallow as ours
from althaia.engine import instances
from tests.plans.programs import compare, outcome


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def schemas(ma):
    fields, validate, invalid = ma.fields, ma.validate, ma.ValidationError
    coloured = getattr(fields, "Enum", None)  # Releases before 3.18 have none.

    class Base(ma.Schema):
        class Meta:
            ordered = True
            unknown = ma.EXCLUDE
            dateformat = "%d.%m.%Y"

        id = fields.Int(dump_only=True)
        secret = fields.Str(load_only=True)

        def on_bind_field(self, field_name, field_obj):
            field_obj.metadata.setdefault("label", field_name)

        def handle_error(self, error, data, *, many, **kwargs):
            error.seen = many

    class Address(ma.Schema):
        street = fields.Str(required=True, error_messages={"required": "Where?"})
        zip = fields.Str(validate=validate.Regexp(r"^\d{5}$"))
        by = fields.Function(
            lambda obj, context: context.get("user"), lambda value, context: [value, *context]
        )

    class User(Base):
        class Meta(Base.Meta):
            exclude = ("hidden",)
            include = {"class": fields.Str()}
            datetimeformat = "iso"

        hidden = fields.Str()
        name = fields.Str(required=True, data_key="userName", validate=validate.Length(1, 9))
        nick = fields.String(attribute="more.nick", dump_default="-", allow_none=True)
        email = fields.Email(required=True)
        age = fields.Integer(validate=[validate.Range(min=0), lambda age: age < 99], load_default=0)
        height = fields.Float(as_string=True)
        born = fields.Date(allow_none=True)
        clock = fields.Time()
        at = fields.DateTime()
        sent = fields.DateTime("rfc")
        naive = fields.NaiveDateTime(timezone=dt.UTC)
        aware = fields.AwareDateTime(default_timezone=dt.UTC)
        site = fields.URL(schemes={"https"})
        uid = fields.UUID()
        balance = fields.Decimal(places=2, as_string=True)
        wait = fields.TimeDelta("minutes")
        active = fields.Bool(truthy={"on", True})
        colour = coloured(Colour) if coloured else fields.Str()
        shade = coloured(Colour, by_value=True) if coloured else fields.Str()
        address = fields.Nested(Address)
        given = fields.Nested(Address(only=("street",)), unknown=ma.INCLUDE)
        others = fields.Nested(Address, many=True, exclude=("zip",))
        friends = fields.List(fields.Nested("User", only=("id", "name")))
        best = fields.Nested(lambda: User(only=("name",)))
        parent = fields.Nested("self", only=("id",))
        names = fields.Pluck("self", "name", many=True)
        tags = fields.Dict(fields.Str(validate=validate.Length(min=1)), fields.List(fields.Int()))
        free = fields.Mapping()
        pair = fields.Tuple((fields.Int(), fields.Str()))
        one = fields.Constant("v1")
        raw = fields.Raw()
        role = fields.Str(validate=[validate.OneOf("ab"), validate.NoneOf("x", error="{input}!")])
        same = fields.Str(validate=validate.Equal("s"))
        few = fields.List(fields.Str(), validate=validate.ContainsOnly(["a", "b"]))
        full = fields.Method("get_full", deserialize="load_full")
        upper = fields.Function(lambda obj: obj["name"].upper())
        hi = fields.Function(lambda obj, context: context["user"], lambda v, context: [v, *context])
        his = fields.List(fields.Function(lambda obj, context: context, lambda v, context: context))

        def get_full(self, obj):
            name = self.context.get("user")
            if obj["name"] == "next":
                self.context = {"user": "later"}
            return [name, obj["name"]]

        def load_full(self, value):
            if value == "none":
                self.context = None
            return [value, self.context]

        @ma.pre_load
        def strip(self, data, **kwargs):
            return data if data == "x" else {**data, "raw": len(data)}

        @ma.validates("name")
        def check(self, value, **kwargs):
            if value == "root":
                raise invalid("Not this one.")

        @ma.validates_schema(pass_many=True, pass_original=True, skip_on_field_errors=False)
        def whole(self, data, original, many, **kwargs):
            if many and len(data) > 1:
                raise invalid("Too many.")

        @ma.post_load
        def make(self, data, **kwargs):
            return list(data.items())

        @ma.pre_dump
        def before(self, data, **kwargs):
            return data

        @ma.post_dump(pass_many=True)
        def envelope(self, data, many, **kwargs):
            return data

    return User, Address


ADDRESS = {"street": "Lane", "zip": "12345", "by": 1}
FRIEND = {"id": 1, "name": "Bo", "userName": "Bo", "email": "b@c.de", "hi": 0}
MOMENT = dt.datetime(2024, 2, 29, 8, 15, 30, tzinfo=dt.UTC)
DUMPED = {
    **FRIEND,
    **dict.fromkeys(("address", "given"), ADDRESS),
    "born": MOMENT.date(), "clock": MOMENT.time(), "wait": MOMENT - MOMENT, "height": 1.5,
    **dict.fromkeys(("at", "sent", "naive", "aware"), MOMENT),
    "colour": Colour.RED, "shade": Colour.BLUE, "uid": uuid.UUID(int=5), "balance": "1.555",
    "others": [ADDRESS], "best": FRIEND, "parent": FRIEND, "more": {"nick": "B"},
    "friends": [FRIEND], "names": [FRIEND],
    "tags": {"a": ["1"]}, "pair": ("1", 2), "free": {"a": 1}, "few": ["a"], "his": [1, 2],
}  # fmt: skip
LOADED = {
    **FRIEND,
    "address": ADDRESS, "given": {**ADDRESS, "more": 2}, "best": {"userName": "Al"},
    "born": "29.02.2024", "clock": "08:15", "wait": 3, "height": "1.5", "uid": "0" * 32,
    **dict.fromkeys(("at", "naive", "aware"), MOMENT.isoformat()),
    "colour": "RED", "shade": 2, "balance": "1.555", "sent": "Thu, 29 Feb 2024 08:15:30 +0000",
    "others": [{"street": "Way"}], "friends": [{"userName": "Al"}], "names": ["Al"],
    "tags": {"a": ["1"]}, "pair": ("1", "2"), "free": {"a": 1}, "few": ["a"], "full": "Bo",
    "role": "a", "same": "s", "active": "on", "his": ["x"], "class": " first ", "secret": "s",
}  # fmt: skip
BAD = dict.fromkeys(LOADED, "x") | {"userName": "root", "others": [{"zip": 1}], "his": [None]}


def answers(ma):
    found = []
    for options in ({}, {"context": {"user": "u"}}, {"context": {"user": "u"}, "many": True}):
        for _ in range(3):
            schema = schemas(ma)[0](**options)
            for change in ({}, {"name": "next"}, {}, {"hi": None}):
                data = {**DUMPED, **change}
                found.append(outcome(schema.dump, [data] * 3 if schema.many else data))
            for change in ({}, BAD, {}, {"full": "none"}, {}):
                data = {**LOADED, **change}
                found.append(outcome(schema.load, [data] * 3 if schema.many else data))
    return found


def main():
    warnings.simplefilter("ignore")
    for cls in schemas(ours):
        assert not (left := [each for each in explain(cls()).steps() if each.why]), left
    instances.build_at_once(True)
    expected = answers(real)
    compare(expected, answers(ours))
    print("written_for_3")


if __name__ == "__main__":
    main()
