"""Invalid input of every kind: one schema, one call, nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks import data
from benchmarks.cases.calls import load_work
from benchmarks.model import Case, Marshmallow, Work

# kind -> how its one field is made, and a value that it refuses
REFUSED: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "integer": (lambda ma: ma.fields.Integer(), "x"),
    "string": (lambda ma: ma.fields.String(), 3),
    "float": (lambda ma: ma.fields.Float(), "x"),
    "boolean": (lambda ma: ma.fields.Boolean(), "x"),
    "decimal": (lambda ma: ma.fields.Decimal(), "x"),
    "date": (lambda ma: ma.fields.Date(), "x"),
    "datetime": (lambda ma: ma.fields.DateTime(), "x"),
    "uuid": (lambda ma: ma.fields.UUID(), "x"),
    "email": (lambda ma: ma.fields.Email(), "x"),
    "url": (lambda ma: ma.fields.URL(), "x"),
    "enum": (lambda ma: ma.fields.Enum(data.Colour), "x"),
    "list": (lambda ma: ma.fields.List(ma.fields.Integer()), ["x"]),
    "dict": (lambda ma: ma.fields.Dict(values=ma.fields.Integer()), {"a": "x"}),
    "nested": (lambda ma: ma.fields.Nested({"a": ma.fields.Integer()}), {"a": "x"}),
    "length": (lambda ma: ma.fields.String(validate=ma.validate.Length(max=2)), "xxx"),
    "range": (lambda ma: ma.fields.Integer(validate=ma.validate.Range(max=1)), 5),
    "one-of": (lambda ma: ma.fields.String(validate=ma.validate.OneOf("ab")), "x"),
    "regexp": (lambda ma: ma.fields.String(validate=ma.validate.Regexp("a")), "x"),
    "own-message": (lambda ma: ma.fields.Integer(error_messages={"invalid": "no {input}"}), "x"),
    "null": (lambda ma: ma.fields.Integer(), None),
}
# What is wrong with the input as a whole.
INPUTS: dict[str, Any] = {"missing": {}, "unknown": {"v": 1, "w": 1}, "no-mapping": [1]}
# Text of which json makes nothing.
TEXTS: dict[str, Any] = {"text": "nope", "bytes": b"nope", "cut-text": '{"v": 1', "no-text": ""}


def _validate(ma: Marshmallow, field: Any, given: Any) -> Work:
    validate = ma.Schema.from_dict({"v": field})().validate
    return lambda: validate(given)


def _refused(ma: Marshmallow, text: Any) -> Work:
    loads = ma.Schema.from_dict({"v": ma.fields.Integer()})().loads

    def work() -> object:
        try:
            return loads(text)
        except json.JSONDecodeError as error:
            return error.args

    return work


def build_unwritable(ma: Marshmallow, count: int) -> Work:
    dumps = ma.Schema.from_dict({"v": ma.fields.Raw()})().dumps

    def work() -> object:
        try:
            return dumps({"v": {(1, 2): 3}})
        except TypeError as error:
            return error.args

    return work


def cases() -> Iterator[Case]:
    for kind, (make, value) in REFUSED.items():

        def build(ma: Marshmallow, count: int, make: Any = make, value: Any = value) -> Work:
            return _validate(ma, make(ma), {"v": value})

        yield Case(f"error-{kind}", f"validate, one bad value: {kind}", "errors", 1, build)
    for kind, given in INPUTS.items():

        def build_whole(ma: Marshmallow, count: int, given: Any = given) -> Work:
            return _validate(ma, ma.fields.Integer(required=True), given)

        yield Case(f"error-{kind}", f"validate: {kind}", "errors", 1, build_whole)

    def build_five(ma: Marshmallow, count: int) -> Work:
        schema = ma.Schema.from_dict({name: ma.fields.Integer() for name in "abcde"})()
        return lambda: schema.validate(dict.fromkeys("abcde", "x"))

    yield Case("error-five", "validate, five bad integers", "errors", 1, build_five)

    def build_load(ma: Marshmallow, count: int) -> Work:
        return load_work(ma, ma.Schema.from_dict({"v": ma.fields.Integer()})(), {"v": "x"})

    for kind, text in TEXTS.items():

        def build_text(ma: Marshmallow, count: int, text: Any = text) -> Work:
            return _refused(ma, text)

        yield Case(
            f"error-loads-{kind}", f"loads of what is no JSON: {kind}", "errors", 1, build_text
        )

    yield Case("error-dumps", "dumps of a key that JSON lacks", "errors", 1, build_unwritable)
    yield Case(
        "error-load-invalid", "load that raises for one bad integer", "errors", 1, build_load
    )
