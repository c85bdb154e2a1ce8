"""Schemas whose users wrote their own: fields, attribute access, hooks."""

# The base classes come from whichever marshmallow is measured, hence Any.
# mypy: disable-error-code="misc, name-defined, untyped-decorator"

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from benchmarks import data
from benchmarks.cases.calls import dump_work, load_work
from benchmarks.model import Case, Goal, Marshmallow, Work

COUNT = 1_000


def records(count: int) -> list[dict[str, Any]]:
    return [
        {"number": i, "title": f" title {i} ", "ratio": i / 2, "email": f"r{i}@example.com"}
        for i in range(count)
    ]


def own_fields(ma: Marshmallow) -> Any:
    """A schema on which every field is of the user's own class."""
    fields = ma.fields

    class Stripped(fields.String):
        def _serialize(self, value: Any, attr: Any, obj: Any, **kwargs: Any) -> Any:
            return value.strip()

        def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> Any:
            return value.strip()

    class Plus(fields.Integer):
        def _serialize(self, value: Any, attr: Any, obj: Any, **kwargs: Any) -> Any:
            return value + 1

        def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> Any:
            return value - 1

    class Half(fields.Float):
        def _serialize(self, value: Any, attr: Any, obj: Any, **kwargs: Any) -> Any:
            return value / 2

        def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> Any:
            return value * 2

    class Own(ma.Schema):
        number = Plus()
        title = Stripped()
        ratio = Half()
        email = Stripped()

    return Own


def super_fields(ma: Marshmallow) -> Any:
    """A schema whose field classes call what they override."""

    class Stripped(ma.fields.String):
        def _serialize(self, value: Any, attr: Any, obj: Any, **kwargs: Any) -> Any:
            return super()._serialize(value, attr, obj, **kwargs)

        def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> Any:
            return super()._deserialize(value, attr, data, **kwargs)

    class Calling(ma.Schema):
        title = Stripped()
        email = Stripped()

        class Meta:
            unknown = "exclude"

    return Calling


def own_access(ma: Marshmallow) -> Any:
    """A schema that reads its objects by a ``get_attribute`` of its own."""
    fields = ma.fields

    class Upper(ma.Schema):
        number = fields.Int()
        title = fields.Str()
        ratio = fields.Float()
        email = fields.Str()

        def get_attribute(self, obj: Any, attr: str, default: Any) -> Any:
            return obj.get(attr, default)

    return Upper


def own_hooks(ma: Marshmallow) -> Any:
    """A schema with every kind of hook."""
    fields = ma.fields

    class Hooked(ma.Schema):
        number = fields.Int()
        title = fields.Str()
        ratio = fields.Float()
        email = fields.Str()

        @ma.pre_dump
        def before_dump(self, item: Any, **kwargs: Any) -> Any:
            return item

        @ma.post_dump
        def after_dump(self, item: Any, **kwargs: Any) -> Any:
            return item

        @ma.pre_load
        def before_load(self, item: Any, **kwargs: Any) -> Any:
            return item

        @ma.post_load
        def after_load(self, item: Any, **kwargs: Any) -> Any:
            return item

        @ma.validates("number")
        def check_number(self, value: Any, **kwargs: Any) -> None:
            if value < 0:
                raise ma.ValidationError("Must not be negative.")

        @ma.validates_schema
        def check_all(self, item: Any, **kwargs: Any) -> None:
            if not item:
                raise ma.ValidationError("Must not be empty.")

    return Hooked


def computed_key(ma: Marshmallow) -> Any:
    """A schema that gets no plan: the key of one field is computed for each call."""
    fields = ma.fields

    class Computed(fields.Int):
        @property
        def data_key(self) -> Any:
            return None

        @data_key.setter
        def data_key(self, value: Any) -> None:
            pass

    class Declined(ma.Schema):
        number = Computed()
        title = fields.Str()
        ratio = fields.Float()
        email = fields.Str()

    return Declined


def build_declined_dump(ma: Marshmallow, count: int) -> Work:
    return dump_work(computed_key(ma)(many=True), records(count))


def build_declined_load(ma: Marshmallow, count: int) -> Work:
    return load_work(ma, computed_key(ma)(many=True), records(count))


def build_own_dictionaries(ma: Marshmallow, count: int) -> Work:
    class Own(OrderedDict[str, Any]):
        pass

    class Ordered(ma.Schema):
        dict_class = Own
        number = ma.fields.Int()

    schema = Ordered()
    return lambda: [dict(call({"number": 1})) for call in (schema.dump, schema.load)] * count


def build_bound_again(ma: Marshmallow, count: int) -> Work:
    schema = own_access(ma)()
    rows = records(count)

    def work() -> object:
        answers = []
        for row in rows:
            schema._init_fields()
            answers.append((schema.load(row), schema.dump(row)))
        return answers

    return work


def build_handled(ma: Marshmallow, count: int) -> Work:
    class Handled(ma.Schema):
        number = ma.fields.Int()

        def handle_error(self, error: Any, data: Any, **kwargs: Any) -> None:
            pass

    schema = Handled()
    return lambda: schema.validate({"number": "x"})


def build_super_dump(ma: Marshmallow, count: int) -> Work:
    return dump_work(super_fields(ma)(many=True), records(count))


def build_super_load(ma: Marshmallow, count: int) -> Work:
    return load_work(ma, super_fields(ma)(many=True), records(count))


def build_own_dump(ma: Marshmallow, count: int) -> Work:
    return dump_work(own_fields(ma)(many=True), [data.Bag(**record) for record in records(count)])


def build_own_load(ma: Marshmallow, count: int) -> Work:
    return load_work(ma, own_fields(ma)(many=True), records(count))


def build_access_dump(ma: Marshmallow, count: int) -> Work:
    return dump_work(own_access(ma)(many=True), records(count))


def build_hooks_dump(ma: Marshmallow, count: int) -> Work:
    return dump_work(own_hooks(ma)(many=True), records(count))


def build_hooks_load(ma: Marshmallow, count: int) -> Work:
    return load_work(ma, own_hooks(ma)(many=True), records(count))


def cases() -> Iterator[Case]:
    yield Case(
        "own-fields",
        "every field overridden by the user",
        "dump",
        COUNT,
        build_own_dump,
        Goal("dump", 2),
    )
    yield Case("own-access", "custom get_attribute", "dump", COUNT, build_access_dump)
    yield Case("hooks", "every kind of dump hook", "dump", COUNT, build_hooks_dump)
    yield Case(
        "load-own-fields",
        "every field with the user's own _deserialize",
        "load",
        COUNT,
        build_own_load,
        Goal("load", 1.5, 2),
    )
    yield Case(
        "load-hooks",
        "hooks everywhere",
        "load",
        COUNT,
        build_hooks_load,
        Goal("load", 1.5, 2),
    )
    yield Case("super-fields", "_serialize calls super()", "dump", COUNT, build_super_dump)
    yield Case("load-super-fields", "_deserialize calls super()", "load", COUNT, build_super_load)
    yield Case("handled", "validate with a handle_error", "errors", 1, build_handled)
    yield Case("declined", "a data_key that is a property", "dump", 30, build_declined_dump)
    yield Case("load-declined", "the same", "load", 30, build_declined_load)
    yield Case("own-dict", "a dict_class of one's own", "dump", 1, build_own_dictionaries)
    yield Case("bound-again", "_init_fields() before each call", "dump", 10, build_bound_again)
