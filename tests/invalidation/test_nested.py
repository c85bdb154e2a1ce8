"""Nested schemas, their fields and classes change after the parent was used."""

import copy  # noqa: F401

import pytest

from tests.conformance.material import Plain
from tests.invalidation.usage import settle, use

INNER = {"a": "1", "b": 2, "x": 3}
FORMS = {
    "class": "fields.Nested(Inner), one",
    "instance": "fields.Nested(Inner()), one",
    "many": "fields.Nested(Inner, many=True), many",
    "many of the schema": "fields.Nested(Inner(many=True)), many",
    "name": "fields.Nested('Inner'), one",
    "full name": "fields.Nested(f'{__name__}.Inner'), one",
    "lambda class": "fields.Nested(lambda: Inner), one",
    "lambda instance": "fields.Nested(lambda: Inner(only=('a',))), one",
    "dict": "fields.Nested({'a': fields.Integer(), 'b': fields.Raw()}), one",
    "only": "fields.Nested(Inner, only=('a', 'b')), one",
    "exclude": "fields.Nested(Inner, exclude=('b',)), one",
    "in a list": "fields.List(fields.Nested(Inner)), many",
    "in a dict": "fields.Dict(values=fields.Nested(Inner)), {'k': one, 'l': None}",
    "in a tuple": "fields.Tuple([fields.Raw(), fields.Nested(Inner)]), (1, one)",
    "pluck": "fields.Pluck(Inner, 'a'), one",
    "pluck many": "fields.Pluck(Inner, 'a', many=True), [INNER, INNER]",
    "twice": "fields.Nested({'n': fields.Nested(Inner)}), {'n': one}",
}
"""A field that nests ``Inner``, and what it dumps."""


def _make(ma, log, form):
    """A parent schema, how to get its nested schema, and something to dump."""
    fields = ma.fields

    class Inner(ma.Schema):
        a = fields.Integer()
        b = fields.Raw()

    one, many = INNER, [INNER, None, Plain(**INNER)]
    names = {"fields": fields, "Inner": Inner, "one": one, "many": many}
    field, value = eval(FORMS[form], {**globals(), **names})
    Parent = type("Parent", (ma.Schema,), {"f": field, "g": fields.Raw()})
    parent = Parent()

    def nested():
        found = parent.fields["f"]
        for name in ("inner", "value_field"):
            found = vars(found).get(name) or found
        if hasattr(found, "tuple_fields"):
            found = found.tuple_fields[1]
        if form == "twice":
            return found.schema.fields["n"]
        return found

    return parent, nested, {"f": value, "g": 1}


CHANGES = [
    "field.schema.fields['a'].data_key = 'other'",
    "field.schema.fields['a'].attribute = 'x'",
    "field.schema.fields['a']._serialize = lambda value, attr, obj, **kwargs: 'mine'",
    "field.schema.dump_fields.popitem()",
    "field.schema.dump_fields = {}",
    "field.schema.get_attribute = lambda obj, attr, default: 99",
    "type(field.schema).get_attribute = lambda self, obj, attr, default: 98",
    "field.schema.dump = lambda obj, *, many=None: log('dump', obj, many) or {'a': many}",
    (
        "type(field.schema).dump = lambda self, obj, *, many=None: log('dump', obj, many) or {'a': "
        "many}"
    ),
    "field.schema._serialize = lambda obj, *, many=False: log('ser', obj, many) or {'a': 0}",
    "field.schema.many = True",
    "field.many = not field.many",
    "field.many = 3",
    "field._schema = type(field.schema).from_dict({'a': copy.copy(field.schema.fields['a'])})()",
    "field._schema = None",
    "vars(field).update(_schema=None, only=('a',))",
    "vars(field).update(_schema=None, nested=type(field.schema)(only=('b',)))",
    "field.field_name = 'b'",
    "type(field.schema)._hooks['post_dump'].append(('hook', False, {}))",
    (
        "field.schema.__class__ = type('Other', (type(field.schema),), {'get_attribute': lambda "
        "self, o, a, d: 97})"
    ),
    "vars(field.schema).update(dump_fields={})",
    "vars(field).update(_schema=None, nested=3)",
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("form", FORMS)
def test_each_form(ma, log, form, change):
    parent, nested, data = _make(ma, log, form)
    settle(log, parent, data)
    type(nested().schema).hook = lambda self, item, **kwargs: log("hook", item, kwargs) or item
    exec(change, {**globals(), "log": log, "field": nested()})
    use(log, parent, data)
    use(log, nested().schema if change != CHANGES[-1] else parent, INNER)
    use(log, parent, data, {"f": None}, {})


def test_class_registered_again(ma, log):
    Parent = type("Parent", (ma.Schema,), {"f": ma.fields.Nested("Child")})

    def child(**fields):
        return type("Child", (ma.Schema,), fields)

    child(a=ma.fields.Raw())
    first, second = Parent(), Parent()
    settle(log, first, {"f": INNER})
    child(b=ma.fields.Raw())
    use(log, first, {"f": INNER})
    use(log, second, {"f": INNER})
    use(log, Parent(), {"f": INNER})


def test_an_unknown_name_that_becomes_known(ma, log):
    Parent = type("Parent", (ma.Schema,), {"f": ma.fields.Nested("Later"), "g": ma.fields.Raw()})
    parent = Parent()
    use(log, parent, {"g": 1}, {"f": INNER})
    type("Later", (ma.Schema,), {"a": ma.fields.Integer()})
    use(log, parent, {"g": 1}, {"f": INNER})


def test_a_schema_that_nests_itself(ma, log):
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


def test_a_nested_schema_shared_by_two_parents(ma, log):
    Inner = type("Inner", (ma.Schema,), {"a": ma.fields.Integer()})
    first = ma.Schema.from_dict({"f": ma.fields.Nested(Inner)})()
    second = ma.Schema.from_dict({"f": ma.fields.Nested(Inner)})()
    use(log, first, {"f": INNER})
    second.fields["f"]._schema = first.fields["f"]._schema
    settle(log, second, {"f": INNER})
    first.fields["f"]._schema.fields["a"].data_key = "other"
    use(log, second, {"f": INNER})
    use(log, first, {"f": INNER})


STATEMENTS = [
    "field.data_key = key",
    "vars(field)['data_key'] = key",
    "field.__dict__ = {**vars(field), 'data_key': key}",
    "del field.data_key; field.data_key = key",
]


@pytest.mark.parametrize("change", STATEMENTS)
@pytest.mark.parametrize("whose", ["parent's", "nested schema's"])
def test_a_statement_that_the_interpreter_has_specialised(ma, log, whose, change):
    """Run often enough it stores by itself, past the functions that a change goes through else."""
    parent, nested, data = _make(ma, log, "class")
    settle(log, parent, data)
    fields = parent.dump_fields if whose == "parent's" else nested().schema.dump_fields
    field = next(iter(fields.values()))
    names = {}
    exec(f"def change(field, key): {change}", names)
    for number in range(60):
        names["change"](field, f"key {number % 7}")
        # The second time nothing has changed.
        for _ in range(2):
            log.attempt(parent.dump, data)
            log.attempt(parent.load, data)
