"""What a process keeps of classes that it has used: ``python -m tests.leaks.kept FILE``."""

import dataclasses
import enum
import gc
import inspect
import json
import sys
import weakref
from contextlib import suppress

import althaia.json
from althaia import marshmallow as ma
from althaia.trust import notes

fields = ma.fields
FIELD_METHODS = (
    "__init__", "_bind_to_schema", "_deserialize", "_serialize", "_validate", "_validate_all",
    "_validate_missing", "_validated", "_format_num", "_to_string", "_load", "deserialize",
    "get_value", "make_error", "serialize",
)  # fmt: skip
SCHEMA_METHODS = (
    "__init__", "_bind_field", "_deserialize", "_do_load", "_init_fields", "_serialize", "dump",
    "dumps", "get_attribute", "handle_error", "load", "loads", "on_bind_field", "validate",
)  # fmt: skip
HOOKS = ("pre_load", "post_load", "pre_dump", "post_dump", "validates_schema")


def calling_super(base, name):
    """A subclass whose method of this name only calls the base's."""

    def method(self, *args, **options):
        return getattr(super(cls, self), name)(*args, **options)

    cls = type(base)(f"{base.__name__}.{name}", (base,), {name: method} if name else {})
    return cls


def schema_of(field, **namespace):
    """A schema class with this field that the class registry does not keep."""

    class Own(ma.Schema):
        a = field
        locals().update(namespace)

        class Meta:
            register = False

        def get(self, value):
            return value

    return Own


def field_of(cls, name):
    arguments = {
        "Constant": [1],
        "Enum": [enum.Enum("Colour", {"red": 1})],
        "Function": [lambda obj: 1, lambda value: value],
        "List": [fields.Integer()],
        "Method": ["get", "get"],
        "Nested": [schema_of(fields.Integer())],
        "Pluck": [schema_of(fields.Integer()), "a"],
        "Tuple": [[fields.Integer()]],
    }
    return cls(*arguments.get(name, []))


def use(schema, calls, *rows):
    """Dump, load and validate, alone and in a list, valid and not."""
    for row in rows * calls:
        for call in (schema.dump, schema.dumps, schema.load, schema.validate):
            with suppress(Exception):
                call(row)
        with suppress(Exception):
            schema.loads('{"a": "1"}')
    for call in (schema.dump, schema.dumps, schema.load):
        with suppress(Exception):
            call(rows * 20, many=True)


def of_methods():
    """Classes with each method of their own; the last of each is a schema class."""
    for base in dict.fromkeys(getattr(fields, name) for name in fields.__all__):
        name = base.__name__
        for method in ("", *FIELD_METHODS):
            if hasattr(base, method or "serialize") and not inspect.isabstract(base):
                outer, inner = calling_super(base, method), calling_super(base, method)
                inside = field_of(inner, name)
                if name != "Method":
                    inside = fields.List(inside)
                yield outer, inner, schema_of(field_of(outer, name), inside=inside)
    for method in SCHEMA_METHODS:
        cls = calling_super(schema_of(fields.Integer()), method)
        more = {"b": fields.Nested(cls()), "c": fields.Nested(lambda cls=cls: cls(), many=True)}
        yield cls, schema_of(fields.Nested(cls), **more)


def of_functions():
    """What else a program may give to a schema."""

    def called(*args, **options):
        return args[-1]

    def refuse(value):
        raise Refused(["no"]) if value else Broken

    Refused, Broken = type("Refused", (ma.ValidationError,), {}), type("Broken", (Exception,), {})
    Table, Encoder = type("Table", (dict,), {}), type("Encoder", (json.JSONEncoder,), {})

    class Range(ma.validate.Range):
        def __call__(self, value):
            return super().__call__(value)

    class Called:
        def __call__(self, value):
            return value

    colours = enum.Enum("Colour", {"one": "1"})
    for hook in HOOKS:
        yield called, schema_of(fields.Integer(), hook=getattr(ma, hook)(called))
    yield called, schema_of(fields.Integer(), check=ma.validates("a")(called))
    yield refuse, Refused, Broken, schema_of(fields.Integer(validate=refuse))
    yield Range, schema_of(fields.Integer(validate=[Range(max=0), ma.validate.And(Range(min=2))]))
    yield colours, schema_of(fields.Enum(colours, by_value=True), b=fields.Enum(colours))
    yield called, Called, schema_of(fields.Function(called, Called()))
    yield Table, schema_of(fields.Integer(), dict_class=property(lambda self: Table))
    rendered = schema_of(fields.Raw())
    for _ in range(20):
        rendered().dumps({"a": {1}}, default=lambda value: rendered.__name__)
        rendered().dumps({"a": 1}, cls=Encoder)
    yield Encoder, rendered


def of_objects():
    """Classes of objects that a schema which lives longer has dumped."""

    def one(self, *args):
        return 1

    Data = dataclasses.make_dataclass("Data", [("a", str)])
    Slots = type("Slots", (), {"__slots__": ("__weakref__", "a")})
    Plain, Mapped = type("Plain", (), {"a": "1"}), type("Mapped", (dict,), {})
    Computed = type("Computed", (), {"a": property(one)})
    Items, Dynamic = (type(name, (), {name: one}) for name in ("__getitem__", "__getattr__"))
    for obj in (Plain(), Data("1"), Slots(), Computed(), Items(), Mapped(a=1), Dynamic()):
        use(LASTING, 20, obj, {"a": obj})
        yield obj, type(obj), schema_of(fields.Raw(load_default=obj, dump_default=obj))


def of_tools():
    """Schemas that were explained, measured, compared and streamed."""
    cls = schema_of(calling_super(fields.Integer, "_validated")())
    with althaia.profile():
        use(cls(), 20, {"a": 1}, {"a": "x"})
    althaia.compare(1.0)
    notes.switch(True)
    use(cls(), 20, {"a": 1}, {"a": "x"}, 5)
    althaia.compare(0)
    notes.switch(False)
    with suppress(RuntimeError):
        str(althaia.explain(cls))
    althaia.json.dumps(cls().dump({"a": 1}))
    yield cls, b"".join(althaia.stream(cls(), [{"a": 1}] * 3)) and cls


def alive():
    """What is alive of all that only its use has made."""
    made = []
    for kind in (of_methods, of_functions, of_objects, of_tools):
        for each in kind():
            with suppress(TypeError):
                schema = each[-1]()
                use(schema, 17, {"a": "1", "b": {"a": 1}, "inside": ["1"]}, {"a": None, "c": [5]})
                for options in ({}, {"only": ["a"]}) * 14:
                    use(each[-1](**options), 1, {"a": 1})
                schema = None
            made += [(f"{kind.__name__}: {part!r}", weakref.ref(part)) for part in each]
        each = ()
    gc.collect()
    gc.collect()
    return [name for name, reference in made if reference() is not None]


LASTING = schema_of(fields.Raw())()

if __name__ == "__main__":
    # Closed by the interpreter.
    LEFT_OPEN = open(sys.argv[1], "w")  # noqa: SIM115
    LEFT_OPEN.write("written")
    found, before = alive(), len(gc.get_objects())
    alive()
    print(json.dumps({"alive": found, "grown": len(gc.get_objects()) - before}))
