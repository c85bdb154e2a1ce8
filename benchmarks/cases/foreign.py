"""An instance for each call, of schemas that have parts of the user's or of other libraries."""

# The base classes come from whichever marshmallow is measured, hence Any.
# mypy: disable-error-code="misc, name-defined, no-any-return, valid-type"

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

from benchmarks import data
from benchmarks.cases.calls import Invalid
from benchmarks.model import Case, Goal, Marshmallow, Work
from benchmarks.third_party import library

Made = tuple[Callable[[], Any], Any, Any]
"""What makes an instance, an object to dump and a record to load."""


def stripped(ma: Marshmallow) -> Any:
    """A field class as users write them: its value is cleaned, both ways."""

    class Stripped(ma.fields.String):
        def _serialize(self, value: Any, attr: Any, obj: Any, **kwargs: Any) -> Any:
            return None if value is None else str(value).strip()

        def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> Any:
            return super()._deserialize(value, attr, data, **kwargs).strip()

    return Stripped


def one_own(ma: Marshmallow) -> Made:
    fields, Stripped = ma.fields, stripped(ma)

    class OneOwn(ma.Schema):
        id = fields.Int(required=True)
        name = Stripped(required=True)
        email = fields.Email()
        active = fields.Bool()
        joined = fields.DateTime()

    return OneOwn, data.small(), data.small_record()


def three_own(ma: Marshmallow) -> Made:
    fields, Stripped = ma.fields, stripped(ma)

    class Doubled(fields.Integer):
        def _serialize(self, value: Any, attr: Any, obj: Any, **kwargs: Any) -> Any:
            return value * 2

        def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> Any:
            return super()._deserialize(value, attr, data, **kwargs) // 2

    class Answer(fields.Boolean):
        def _serialize(self, value: Any, attr: Any, obj: Any, **kwargs: Any) -> Any:
            return bool(value)

    class ThreeOwn(ma.Schema):
        id = Doubled(required=True)
        name = Stripped(required=True)
        email = fields.Email()
        active = Answer()
        joined = fields.DateTime()

    return ThreeOwn, data.small(), data.small_record()


def bind_hook(ma: Marshmallow) -> Made:
    fields = ma.fields

    class BindHook(ma.Schema):
        id = fields.Int(required=True)
        name = fields.Str(required=True)
        email = fields.Email()
        active = fields.Bool()
        joined = fields.DateTime()

        def on_bind_field(self, field_name: str, field_obj: Any) -> None:
            field_obj.data_key = field_name.capitalize()

    return BindHook, data.small(), {k.capitalize(): v for k, v in data.small_record().items()}


def wrapped(ma: Marshmallow) -> Made:
    """``_init_fields`` wrapped, as Superset does it for the whole process."""
    fields, bind = ma.fields, ma.Schema._init_fields

    class Wrapped(ma.Schema):
        id = fields.Int(required=True)
        name = fields.Str(required=True)
        email = fields.Email()
        active = fields.Bool()
        joined = fields.DateTime()

        def _init_fields(self) -> None:
            bind(self)

    return Wrapped, data.small(), data.small_record()


def given(ma: Marshmallow) -> Made:
    """Nested fields whose class gives the schema by a property, as generated SDKs have them."""
    fields = ma.fields

    class Given(fields.Nested):
        @property
        def schema(self) -> Any:
            return super().schema

    class Address(ma.Schema):
        street = fields.Str()
        city = fields.Str(required=True)

    class Person(ma.Schema):
        id = fields.Int(required=True)
        name = fields.Str(required=True)
        home = Given(Address)
        work = Given(Address)

    address = {"street": "Long Road 1", "city": "Leeds"}
    record = {"id": 7, "name": "Ada Writer", "home": address, "work": address}
    return Person, record, record


def nested_instance(ma: Marshmallow) -> Made:
    """Nested fields that are given an instance of a schema."""
    return nesting(ma, lambda make: make())


def nested_function(ma: Marshmallow) -> Made:
    """Nested fields that are given a function, which makes an instance for each parent."""
    return nesting(ma, lambda make: make)


def nesting(ma: Marshmallow, given: Callable[[Callable[[], Any]], Any]) -> Made:
    fields = ma.fields

    class Address(ma.Schema):
        street = fields.Str()
        city = fields.Str(required=True)

    class Person(ma.Schema):
        id = fields.Int(required=True)
        name = fields.Str(required=True)
        home = fields.Nested(given(lambda: Address()))
        work = fields.Nested(given(lambda: Address(only=("city",))))

    work = {"city": "Leeds"}
    record = {
        "id": 7,
        "name": "Ada Writer",
        "home": {"street": "Long Road 1", **work},
        "work": work,
    }
    return Person, record, record


def nested_dictionary(ma: Marshmallow) -> Made:
    """A nested field that is given a dictionary: each instance makes a schema class of it."""
    fields = ma.fields

    class Person(ma.Schema):
        id = fields.Int(required=True)
        name = fields.Str(required=True)
        home = fields.Nested({"street": fields.Str(), "city": fields.Str()})

    record = {"id": 7, "name": "Ada Writer", "home": {"street": "Long Road 1", "city": "Leeds"}}
    return Person, record, record


def put_back(ma: Marshmallow) -> Made:
    """A class whose methods and field methods were replaced again and again, and put back."""
    cls: Any
    cls, source, record = one_own(ma)
    name = type(cls._declared_fields["name"])

    def bind(schema: Any) -> None:
        ma.Schema._init_fields(schema)

    def serialize(field: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
        return value

    for _ in range(20):
        with patch.object(cls, "_init_fields", bind), patch.object(name, "_serialize", serialize):
            cls().dump(source)
    return cls, source, record


def looks_at_fields(ma: Marshmallow) -> Made:
    """Hooks that read ``self.fields``, which an instance has only once somebody looks."""
    fields = ma.fields

    class Omitting(ma.Schema):
        id = fields.Int()
        name = fields.Str()
        note = fields.Str(metadata={"omit": True})

        @ma.post_dump  # type: ignore[untyped-decorator]
        def omit(self, data: Any, **kwargs: Any) -> Any:
            omitted = [name for name, field in self.fields.items() if field.metadata.get("omit")]
            return {key: value for key, value in data.items() if key not in omitted}

        @ma.post_load  # type: ignore[untyped-decorator]
        def known(self, data: Any, **kwargs: Any) -> Any:
            return {key: value for key, value in data.items() if key in self.fields}

    record = {"id": 7, "name": "Ada Writer", "note": "left out"}
    return Omitting, record, record


def callable_fields(ma: Marshmallow) -> Made:
    """Field classes with a mixin that can be called, as parameter types of command lines are."""
    fields = ma.fields

    class Parameter:
        def __call__(self, value: Any) -> Any:
            return value

    class Number(Parameter, fields.Integer):
        pass

    class Text(Parameter, fields.String):
        pass

    class Callable(ma.Schema):
        id = Number(required=True)
        name = Text(required=True)
        email = fields.Email()
        active = fields.Bool()
        joined = fields.DateTime()

    return Callable, data.small(), data.small_record()


def delimited(ma: Marshmallow) -> Made:
    fields, webargs = ma.fields, library(ma, "webargs.fields")

    class Delimited(ma.Schema):
        id = fields.Int(required=True)
        name = fields.Str(required=True)
        tags = webargs.DelimitedList(fields.Str())
        active = fields.Bool()
        joined = fields.DateTime()

    source = data.Bag(**vars(data.small()), tags=["new", "sale", "blue"])
    record = {**data.small_record(), "tags": "new,sale,blue"}
    del record["email"]
    return Delimited, source, record


def links(ma: Marshmallow) -> Made:
    import flask

    foreign = library(ma, "flask_marshmallow.fields")
    fields = ma.fields
    app = flask.Flask("shop")
    app.add_url_rule("/readers/<int:id>", "reader", lambda id: "")
    app.add_url_rule("/readers", "readers", lambda: "")
    # It stays pushed, as it is while a request is answered.
    app.test_request_context().push()

    class Links(ma.Schema):
        id = fields.Int(required=True)
        name = fields.Str(required=True)
        url = foreign.URLFor("reader", values={"id": "<id>"}, dump_only=True)
        links = foreign.Hyperlinks(
            {
                "self": foreign.URLFor("reader", values={"id": "<id>"}),
                "all": foreign.URLFor("readers"),
            },
            dump_only=True,
        )

    return Links, data.small(), {"id": 7, "name": "Ada Writer"}


def auto_schema(ma: Marshmallow) -> Made:
    from benchmarks import orm

    base = library(ma, "marshmallow_sqlalchemy").SQLAlchemyAutoSchema

    class Product(base):
        class Meta:
            model = orm.Product
            load_instance = True
            transient = True

    source = orm.order_rows(1)[0].lines[0].product
    return Product, source, {"id": 1, "sku": "SKU-0001", "name": "Product", "price": "1.25"}


def auto_schema_dict(ma: Marshmallow) -> Made:
    from benchmarks import orm

    base = library(ma, "marshmallow_sqlalchemy").SQLAlchemyAutoSchema

    class Product(base):
        class Meta:
            model = orm.Product

    source = orm.order_rows(1)[0].lines[0].product
    return Product, source, {"id": 1, "sku": "SKU-0001", "name": "Product", "price": "1.25"}


def auto_schema_reused(ma: Marshmallow) -> Made:
    make, source, record = auto_schema_dict(ma)
    reused = make()
    return lambda: reused, source, record


def auto_schema_exclude(ma: Marshmallow) -> Made:
    from benchmarks import orm

    base = library(ma, "marshmallow_sqlalchemy").SQLAlchemyAutoSchema

    class Product(base):
        class Meta:
            model = orm.Product
            exclude = ("sku",)

    source = orm.order_rows(1)[0].lines[0].product
    return Product, source, {"id": 1, "name": "Product", "price": "1.25"}


def auto_schema_session(ma: Marshmallow) -> Made:
    from benchmarks import orm

    base: Any = library(ma, "marshmallow_sqlalchemy").SQLAlchemyAutoSchema

    class Product(base):
        class Meta:
            model = orm.Product
            load_instance = True

    source = orm.order_rows(1)[0].lines[0].product
    session = orm.open_sessions()[-1]
    record = {"id": 1, "sku": "SKU-0001", "name": "Product", "price": "1.25"}
    return lambda: Product(session=session), source, record


def auto_schema_nested(ma: Marshmallow) -> Made:
    from benchmarks import orm

    foreign = library(ma, "marshmallow_sqlalchemy")
    auto, nested, related = (
        foreign.SQLAlchemyAutoSchema,
        foreign.fields.Nested,
        foreign.fields.Related,
    )

    class Product(auto):
        class Meta:
            model = orm.Product
            load_instance = True
            transient = True

    class Line(auto):
        class Meta:
            model = orm.Line
            load_instance = True
            transient = True

        product = nested(Product)

    class Order(auto):
        class Meta:
            model = orm.Order
            load_instance = True
            transient = True

        customer = related()
        lines = ma.fields.List(nested(Line))

    product = {"id": 1, "sku": "SKU-0001", "name": "Product", "price": "1.25"}
    record = {
        "id": 1,
        "placed": "2024-02-29T08:15:30",
        "state": "new",
        "total": "1.50",
        "note": None,
        "customer": 1,
        "lines": [{"id": i, "quantity": i, "product": product} for i in (1, 2, 3)],
    }
    return Order, orm.order_rows(1)[0], record


def related(ma: Marshmallow) -> Made:
    from benchmarks import orm

    base: Any = library(ma, "marshmallow_sqlalchemy").SQLAlchemyAutoSchema

    class Order(base):
        class Meta:
            model = orm.Order
            include_relationships = True
            # A related object is loaded from a session, which is not measured here.
            dump_only = ("customer", "lines")

    record = {"placed": "2024-05-01T10:00:00", "state": "open", "total": "19.90"}
    return Order, orm.order_rows(1)[0], record


def one_of(ma: Marshmallow) -> Made:
    base: Any = library(ma, "marshmallow_oneofschema").OneOfSchema

    class Small(ma.Schema):
        id = ma.fields.Int(required=True)
        name = ma.fields.Str(required=True)
        email = ma.fields.Email()
        active = ma.fields.Bool()
        joined = ma.fields.DateTime()

    class OneOf(base):
        type_schemas = {"small": Small}

        def get_obj_type(self, obj: Any) -> str:
            return "small"

    return OneOf, data.small(), {**data.small_record(), "type": "small"}


SCHEMAS: dict[str, tuple[str, Callable[[Marshmallow], Made], float | None, float | None]] = {
    "own": ("one field class of the user's own", one_own, 8, 5),
    "own-3": ("three field classes of the user's own", three_own, 5, 5),
    "bind-hook": ("on_bind_field", bind_hook, 4, 5),
    "wrapped": ("_init_fields wrapped", wrapped, 8, 10),
    "given": ("Nested with a schema property", given, 5, 5),
    "nested-instance": ("Nested(Inner())", nested_instance, 7, 7),
    "nested-function": ("Nested(lambda: Inner())", nested_function, 6, 6),
    "nested-dict": ("Nested({…}), a class for each call", nested_dictionary, None, None),
    "put-back": ("methods replaced and put back", put_back, None, None),
    "looks-at-fields": ("hooks that read self.fields", looks_at_fields, 4, 4),
    "callable": ("fields with __call__", callable_fields, 8, 10),
    "delimited": ("webargs' DelimitedList", delimited, 8, 5),
    "links": ("flask-marshmallow's URLFor and Hyperlinks", links, None, None),
    "sqla": ("SQLAlchemyAutoSchema, transient instances", auto_schema, 6, 5),
    "sqla-dict": ("SQLAlchemyAutoSchema, dictionaries", auto_schema_dict, None, 8),
    "sqla-reused": ("one SQLAlchemyAutoSchema, reused", auto_schema_reused, None, 8),
    "sqla-exclude": ("SQLAlchemyAutoSchema with Meta.exclude", auto_schema_exclude, None, 8),
    "sqla-session": ("SQLAlchemyAutoSchema(session=…)", auto_schema_session, None, 3),
    "sqla-related": ("SQLAlchemyAutoSchema, include_relationships", related, None, 3),
    "one-of": ("OneOfSchema", one_of, None, None),
    "sqla-nested": ("SQLAlchemyAutoSchema, Nested and Related", auto_schema_nested, 6, 5),
}


def dumping(schemas: Callable[[Marshmallow], Made]) -> Callable[[Marshmallow, int], Work]:
    def build(ma: Marshmallow, count: int) -> Work:
        make, source, _ = schemas(ma)
        return lambda: make().dump(source)

    return build


def loading(schemas: Callable[[Marshmallow], Made]) -> Callable[[Marshmallow, int], Work]:
    def build(ma: Marshmallow, count: int) -> Work:
        make, _, record = schemas(ma)
        invalid = ma.ValidationError

        def load() -> object:
            try:
                return make().load(record)
            except invalid as error:
                return Invalid(error.messages, error.valid_data)

        return load

    return build


def build_from_dict(ma: Marshmallow, count: int) -> Work:
    """A new class for each request, as Flask-AppBuilder makes them."""
    fields, sources = ma.fields, [data.small() for _ in range(count)]
    from_dict = ma.Schema.from_dict

    def view() -> object:
        columns = {
            "id": fields.Int(),
            "name": fields.Str(),
            "email": fields.Email(),
            "active": fields.Bool(),
            "joined": fields.DateTime(),
        }
        return from_dict(columns)().dump(sources, many=True)

    return view


def cases() -> Iterator[Case]:
    for name, (title, schemas, dump_reach, load_reach) in SCHEMAS.items():
        for direction, build, reach in (
            ("dump", dumping(schemas), dump_reach),
            ("load", loading(schemas), load_reach),
        ):
            yield Case(
                f"new-{direction}-{name}",
                f"S().{direction}(one), {title}",
                "instance",
                1,
                build,
                None if reach is None else Goal("instance", reach),
                collector=True,
            )
    yield Case(
        "from-dict",
        "Schema.from_dict(…)().dump(20 objects)",
        "instance",
        20,
        build_from_dict,
        Goal("instance", 4),
        collector=True,
    )
