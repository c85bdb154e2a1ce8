"""Loads on which upstream's validators have work to do."""

# The base classes come from whichever marshmallow is measured, hence Any.
# mypy: disable-error-code="misc"

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks import data
from benchmarks.cases.calls import load_work
from benchmarks.model import Case, Goal, Marshmallow, Work

COUNT = 1_000


def schema(ma: Marshmallow) -> Any:
    fields, validate = ma.fields, ma.validate

    class Signup(ma.Schema):
        name = fields.Str(required=True, validate=validate.Length(min=1, max=40))
        nick = fields.Str(validate=validate.Length(max=12))
        email = fields.Email(required=True)
        age = fields.Int(validate=validate.Range(min=18, max=120))
        score = fields.Float(validate=validate.Range(min=0, max=100))
        plan = fields.Str(validate=validate.OneOf(["free", "basic", "pro"]))

    return Signup


def build(ma: Marshmallow, count: int) -> Work:
    return load_work(ma, schema(ma)(many=True), data.signup_records(count))


def build_invalid(ma: Marshmallow, count: int) -> Work:
    return load_work(ma, schema(ma)(many=True), data.bad_signup_records(count))


def cases() -> Iterator[Case]:
    work = "Length, Range, OneOf, Email on 6 fields"
    yield Case("load-validated", f"{work}, valid", "load", COUNT, build, Goal("load", 7))
    yield Case(
        "load-validated-invalid",
        f"{work}, 10 % invalid",
        "load",
        COUNT,
        build_invalid,
        Goal("load", 5),
    )
