"""Nested schemas, their fields and classes change after the parent was used."""

from __future__ import annotations

import copy
from typing import Any
from unittest import mock

import pytest

from tests.conformance.material import Plain
from tests.invalidation.usage import scenario, settle, use

INNER = {"a": "1", "b": 2, "x": 3}
FORMS = [
    "class",
    "instance",
    "many",
    "many of the schema",
    "name",
    "full name",
    "lambda class",
    "lambda instance",
    "dict",
    "only",
    "exclude",
    "in a list",
    "in a dict",
    "in a tuple",
    "pluck",
    "pluck many",
    "twice",
]


def _make(ma: Any, log: Any, form: str) -> tuple[Any, Any, Any]:
    """A parent schema, how to get its nested schema, and something to dump."""
    fields = ma.fields

    class Inner(ma.Schema):
        a = fields.Integer()
        b = fields.Raw()

    one, many = INNER, [INNER, None, Plain(**INNER)]
    make = {
        "class": lambda: (fields.Nested(Inner), one),
        "instance": lambda: (fields.Nested(Inner()), one),
        "many": lambda: (fields.Nested(Inner, many=True), many),
        "many of the schema": lambda: (fields.Nested(Inner(many=True)), many),
        "name": lambda: (fields.Nested("Inner"), one),
        "full name": lambda: (fields.Nested(f"{__name__}.Inner"), one),
        "lambda class": lambda: (fields.Nested(lambda: Inner), one),
        "lambda instance": lambda: (fields.Nested(lambda: Inner(only=("a",))), one),
        "dict": lambda: (fields.Nested({"a": fields.Integer(), "b": fields.Raw()}), one),
        "only": lambda: (fields.Nested(Inner, only=("a", "b")), one),
        "exclude": lambda: (fields.Nested(Inner, exclude=("b",)), one),
        "in a list": lambda: (fields.List(fields.Nested(Inner)), many),
        "in a dict": lambda: (fields.Dict(values=fields.Nested(Inner)), {"k": one, "l": None}),
        "in a tuple": lambda: (fields.Tuple([fields.Raw(), fields.Nested(Inner)]), (1, one)),
        "pluck": lambda: (fields.Pluck(Inner, "a"), one),
        "pluck many": lambda: (fields.Pluck(Inner, "a", many=True), [INNER, INNER]),
        "twice": lambda: (fields.Nested({"n": fields.Nested(Inner)}), {"n": one}),
    }
    field, value = make[form]()

    class Parent(ma.Schema):
        f = field
        g = fields.Raw()

    parent = Parent()

    def nested() -> Any:
        found = parent.fields["f"]
        for name in ("inner", "value_field"):
            found = vars(found).get(name) or found
        if hasattr(found, "tuple_fields"):
            found = found.tuple_fields[1]
        if form == "twice":
            return found.schema.fields["n"]
        return found

    return parent, nested, {"f": value, "g": 1}


CHANGES: dict[str, Any] = {
    "data_key": lambda log, field: setattr(field.schema.fields["a"], "data_key", "other"),
    "attribute": lambda log, field: setattr(field.schema.fields["a"], "attribute", "x"),
    "_serialize of a field": lambda log, field: setattr(
        field.schema.fields["a"], "_serialize", lambda value, attr, obj, **kwargs: "mine"
    ),
    "dump_fields edited": lambda log, field: field.schema.dump_fields.popitem(),
    "dump_fields replaced": lambda log, field: setattr(field.schema, "dump_fields", {}),
    "get_attribute": lambda log, field: setattr(
        field.schema, "get_attribute", lambda obj, attr, default: 99
    ),
    "get_attribute of the class": lambda log, field: setattr(
        type(field.schema), "get_attribute", lambda self, obj, attr, default: 98
    ),
    "dump of the instance": lambda log, field: setattr(
        field.schema, "dump", lambda obj, *, many=None: log("dump", obj, many) or {"a": many}
    ),
    "dump of the class": lambda log, field: setattr(
        type(field.schema),
        "dump",
        lambda self, obj, *, many=None: log("dump", obj, many) or {"a": many},
    ),
    "_serialize of the schema": lambda log, field: setattr(
        field.schema, "_serialize", lambda obj, *, many=False: log("ser", obj, many) or {"a": 0}
    ),
    "many of the schema": lambda log, field: setattr(field.schema, "many", True),
    "many of the field": lambda log, field: setattr(field, "many", not field.many),
    "many of the field, a number": lambda log, field: setattr(field, "many", 3),
    "another schema": lambda log, field: setattr(
        field, "_schema", type(field.schema).from_dict({"a": copy.copy(field.schema.fields["a"])})()
    ),
    "resolved anew": lambda log, field: setattr(field, "_schema", None),
    "resolved anew, with only": lambda log, field: vars(field).update(_schema=None, only=("a",)),
    "another nested": lambda log, field: vars(field).update(
        _schema=None, nested=type(field.schema)(only=("b",))
    ),
    "field_name": lambda log, field: setattr(field, "field_name", "b"),
    "hooks": lambda log, field: type(field.schema)._hooks["post_dump"].append(("hook", False, {})),
    "class of the schema": lambda log, field: setattr(
        field.schema,
        "__class__",
        type("Other", (type(field.schema),), {"get_attribute": lambda self, o, a, d: 97}),
    ),
    "schema's dictionary": lambda log, field: vars(field.schema).update(dump_fields={}),
    "no schema": lambda log, field: vars(field).update(_schema=None, nested=3),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("form", FORMS)
@scenario
def test_each_form(ma: Any, log: Any, form: str, change: str) -> None:
    parent, nested, data = _make(ma, log, form)
    settle(log, parent, data)
    type(nested().schema).hook = lambda self, item, **kwargs: log("hook", item, kwargs) or item
    CHANGES[change](log, nested())
    use(log, parent, data)
    use(log, nested().schema if change != "no schema" else parent, INNER)
    use(log, parent, data, {"f": None}, {})


@scenario
def test_class_registered_again(ma: Any, log: Any) -> None:
    class Parent(ma.Schema):
        f = ma.fields.Nested("Child")

    def child(**fields: Any) -> Any:
        return type("Child", (ma.Schema,), fields)

    child(a=ma.fields.Raw())
    first, second = Parent(), Parent()
    settle(log, first, {"f": INNER})
    child(b=ma.fields.Raw())
    use(log, first, {"f": INNER})
    use(log, second, {"f": INNER})
    use(log, Parent(), {"f": INNER})


@scenario
def test_an_unknown_name_that_becomes_known(ma: Any, log: Any) -> None:
    class Parent(ma.Schema):
        f = ma.fields.Nested("Later")
        g = ma.fields.Raw()

    parent = Parent()
    use(log, parent, {"g": 1}, {"f": INNER})
    type("Later", (ma.Schema,), {"a": ma.fields.Integer()})
    use(log, parent, {"g": 1}, {"f": INNER})


@scenario
def test_a_schema_that_nests_itself(ma: Any, log: Any) -> None:
    class Node(ma.Schema):
        value = ma.fields.Integer()
        children = ma.fields.List(ma.fields.Nested(lambda: Node()))
        parent = ma.fields.Nested(lambda: Node(only=("value",)))

    tree = {"value": 1, "parent": {"value": 0}, "children": [{"value": 2, "children": []}]}
    schema = Node()
    settle(log, schema, tree)
    inner = schema.fields["children"].inner.schema
    inner.fields["value"].data_key = "deeper"
    use(log, schema, tree)
    schema.fields["children"].inner._schema = schema
    use(log, schema, tree)
    schema.fields["value"].data_key = "renamed"
    use(log, schema, tree)


@scenario
def test_a_nested_schema_shared_by_two_parents(ma: Any, log: Any) -> None:
    class Inner(ma.Schema):
        a = ma.fields.Integer()

    first = ma.Schema.from_dict({"f": ma.fields.Nested(Inner)})()
    second = ma.Schema.from_dict({"f": ma.fields.Nested(Inner)})()
    use(log, first, {"f": INNER})
    second.fields["f"]._schema = first.fields["f"]._schema
    settle(log, second, {"f": INNER})
    first.fields["f"]._schema.fields["a"].data_key = "other"
    use(log, second, {"f": INNER})
    use(log, first, {"f": INNER})


@scenario
def test_patched_class_of_the_nested_schema(ma: Any, log: Any) -> None:
    class Inner(ma.Schema):
        a = ma.fields.Integer()

    schema = ma.Schema.from_dict({"f": ma.fields.Nested(Inner)})()
    settle(log, schema, {"f": INNER})
    with mock.patch.object(Inner, "dump") as dump:
        dump.return_value = {"patched": True}
        use(log, schema, {"f": INNER})
        log("calls", dump.call_args_list)
    use(log, schema, {"f": INNER})


@scenario
def test_patched_dump_of_upstream(ma: Any, log: Any) -> None:
    class Inner(ma.Schema):
        a = ma.fields.Integer()

    schema = ma.Schema.from_dict({"f": ma.fields.Nested(Inner), "g": ma.fields.Pluck(Inner, "a")})()
    settle(log, schema, {"f": INNER, "g": INNER})
    original = ma.Schema.dump

    def dump(self: Any, obj: Any, *, many: bool | None = None) -> Any:
        log("dump", type(self).__name__, many)
        return original(self, obj, many=many)

    with mock.patch.object(ma.Schema, "dump", dump):
        use(log, schema, {"f": INNER, "g": INNER})
    use(log, schema, {"f": INNER, "g": INNER})


def _set(field: Any, key: str) -> None:
    field.data_key = key


def _set_in_the_dictionary(field: Any, key: str) -> None:
    vars(field)["data_key"] = key


def _replace_the_dictionary(field: Any, key: str) -> None:
    field.__dict__ = {**vars(field), "data_key": key}


def _delete_and_set(field: Any, key: str) -> None:
    del field.data_key
    field.data_key = key


STATEMENTS = [_set, _set_in_the_dictionary, _replace_the_dictionary, _delete_and_set]


@pytest.mark.parametrize("change", STATEMENTS)
@pytest.mark.parametrize("whose", ["parent's", "nested schema's"])
@scenario
def test_a_statement_that_the_interpreter_has_specialised(
    ma: Any, log: Any, whose: str, change: Any
) -> None:
    """Run often enough it stores by itself, past the functions that a change goes through else."""
    parent, nested, data = _make(ma, log, "class")
    settle(log, parent, data)
    fields = parent.dump_fields if whose == "parent's" else nested().schema.dump_fields
    field = next(iter(fields.values()))
    for number in range(60):
        change(field, f"key {number % 7}")
        # The second time nothing has changed.
        for _ in range(2):
            log.attempt(parent.dump, data)
            log.attempt(parent.load, data)
