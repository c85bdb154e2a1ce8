"""One small object at a time: a reused schema, and a schema for each call.

Where a schema is made for each call the collector is on: nobody else frees upstream's.
"""

# The base classes come from whichever marshmallow is measured, hence Any.
# mypy: disable-error-code="misc"

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

from benchmarks import data
from benchmarks.cases import quotes
from benchmarks.cases.calls import Invalid, dump_work, load_work
from benchmarks.model import Case, Goal, Marshmallow, Work


def schema(ma: Marshmallow) -> Any:
    fields = ma.fields

    class Small(ma.Schema):
        id = fields.Int(required=True)
        name = fields.Str(required=True)
        email = fields.Email()
        active = fields.Bool()
        joined = fields.DateTime()

    return Small


def build_dump(ma: Marshmallow, count: int) -> Work:
    return dump_work(schema(ma)(), data.small())


def build_load(ma: Marshmallow, count: int) -> Work:
    return load_work(ma, schema(ma)(), data.small_record())


def build_load_invalid(ma: Marshmallow, count: int) -> Work:
    return load_work(ma, schema(ma)(), data.bad_small_record())


def build_validate(ma: Marshmallow, count: int) -> Work:
    small, record = schema(ma)(), data.small_record()
    return lambda: small.validate(record)


def build_new_dump(ma: Marshmallow, count: int) -> Work:
    cls, source = schema(ma), data.small()
    return lambda: cls().dump(source)


def build_new_load(ma: Marshmallow, count: int) -> Work:
    cls, record, invalid = schema(ma), data.small_record(), ma.ValidationError

    def load() -> object:
        try:
            return cls().load(record)
        except invalid as error:
            return Invalid(error.messages, error.valid_data)

    return load


def build_new_nested_dump(ma: Marshmallow, count: int) -> Work:
    cls, source = quotes.schemas(ma)[1], data.quotes(1)[0]
    return lambda: cls().dump(source)


def build_new_only_dump(ma: Marshmallow, count: int) -> Work:
    cls, source = schema(ma), data.small()
    return lambda: cls(only=("id", "name", "email")).dump(source)


def build_new_many_dump(ma: Marshmallow, count: int) -> Work:
    cls, sources = schema(ma), [data.small() for _ in range(count)]
    return lambda: cls(many=True).dump(sources)


def build_pickle(ma: Marshmallow, count: int) -> Work:
    # Pickle finds a class by its name in this module: one for each library.
    cls = schema(ma)
    cls.__qualname__ = f"Pickled_{ma.__name__}".replace(".", "_")
    cls.__module__ = __name__
    globals()[cls.__qualname__] = cls
    instance, source = cls(), data.small()
    instance.dump(source)
    return lambda: len(pickle.dumps(instance)) > 0


def build_read_fields(ma: Marshmallow, count: int) -> Work:
    instance, turns = schema(ma)(), range(count)

    def work() -> object:
        for _ in turns:
            found = instance.fields
        return list(found)

    return work


def warm(ma: Marshmallow) -> Any:
    """An instance of a class whose instances are lazy by now, if they ever are."""
    cls = schema(ma)
    for _ in range(20):
        cls().load(data.small_record())
    return cls()


def build_missing(ma: Marshmallow, count: int) -> Work:
    instance, turns = warm(ma), range(count)
    return lambda: [hasattr(instance, "missing") for _ in turns]


def build_caught(ma: Marshmallow, count: int) -> Work:
    instance, turns = warm(ma), range(count)

    def work() -> object:
        for _ in turns:
            try:
                instance.missing  # noqa: B018
            except AttributeError as error:
                said = str(error), error.name
        return said

    return work


def build_read(ma: Marshmallow, count: int) -> Work:
    instance, turns = warm(ma), range(count)
    return lambda: [instance.many for _ in turns]


def build_set(ma: Marshmallow, count: int) -> Work:
    instance, turns = warm(ma), range(count)

    def work() -> object:
        for turn in turns:
            instance.mine = turn
        return instance.mine

    return work


def build_schema_class(ma: Marshmallow, count: int) -> Work:
    fields, base = ma.fields, ma.Schema

    def create() -> object:
        cls = type(
            "Made",
            (base,),
            {
                "id": fields.Int(),
                "name": fields.Str(),
                "email": fields.Email(),
                "active": fields.Bool(),
                "joined": fields.DateTime(),
                # Unregistered: the registry would otherwise grow for as long as we measure.
                "Meta": type("Meta", (), {"register": False}),
            },
        )
        return sorted(cls._declared_fields)  # type: ignore[attr-defined]

    return create


def cases() -> Iterator[Case]:
    reused = "one small object, 5 fields, schema reused"
    yield Case("small", reused, "dump", 1, build_dump, Goal("dump", 6, 10))
    yield Case("load-small", "one small dict, 5 fields", "load", 1, build_load, Goal("load", 11))
    yield Case(
        "load-small-invalid",
        "one small dict with two errors",
        "load",
        1,
        build_load_invalid,
        Goal("load", 5),
    )
    yield Case(
        "validate-small", "schema.validate(data)", "load", 1, build_validate, Goal("load", 3)
    )
    yield Case(
        "new-dump",
        "S().dump(one), 5 fields",
        "instance",
        1,
        build_new_dump,
        Goal("instance", 10, 20),
        collector=True,
    )
    yield Case(
        "new-load",
        "S().load(one)",
        "instance",
        1,
        build_new_load,
        Goal("instance", 8, 15),
        collector=True,
    )
    yield Case(
        "new-nested-dump",
        "S() with nested schemas, dump one",
        "instance",
        1,
        build_new_nested_dump,
        Goal("instance", 12, 25),
        collector=True,
    )
    yield Case(
        "new-only-dump",
        "S(only=(…)).dump(one)",
        "instance",
        1,
        build_new_only_dump,
        Goal("instance", 8, 15),
        collector=True,
    )
    yield Case(
        "new-many-dump",
        "S(many=True).dump(20 objects)",
        "instance",
        20,
        build_new_many_dump,
        collector=True,
    )
    yield Case("pickle-schema", "pickle.dumps(schema)", "instance", 1, build_pickle)
    for name, title, build in (
        ("lazy-hasattr", 'hasattr(schema, "missing")', build_missing),
        ("lazy-caught", "an AttributeError that is caught", build_caught),
        ("lazy-read", "schema.many", build_read),
        ("lazy-set", "schema.mine = 1", build_set),
    ):
        yield Case(name, f"{title}, 1,000 times", "instance", 1_000, build)
    yield Case("read-fields", "schema.fields, 1,000 times", "instance", 1_000, build_read_fields)
    yield Case(
        "schema-class",
        "creating a schema class",
        "instance",
        1,
        build_schema_class,
        Goal("instance", 2.5),
        collector=True,
    )
