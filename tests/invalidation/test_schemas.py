"""The schema instance or its class changes after it was used."""

import copy  # noqa: F401
from collections import OrderedDict
from textwrap import dedent
from unittest import mock

import pytest

from tests.conformance.material import Plain
from tests.invalidation.usage import WAYS, changed, settle, use

DATA = {"a": "1", "b": 2, "c": 3, "x": 4}


def _three(ma, **options):
    class Three(ma.Schema):
        a = ma.fields.Integer()
        b = ma.fields.Raw()
        c = ma.fields.String()

    return Three(**options)


EDITS = [
    "schema.dump_fields.update(x=_bound(schema, ma.fields.String()))",
    "schema.dump_fields.update(a=schema.dump_fields['c'], c=schema.dump_fields['a'])",
    "schema.dump_fields.update(x=schema.dump_fields.pop('a'))",
    "schema.dump_fields.update(b=None)",
    "schema.dump_fields.update({3: _bound(schema, ma.fields.Raw())})",
    "schema.dump_fields.update(x=ma.fields.Method('no'))",
    "schema.dump_fields = dict(schema.dump_fields)",
    "schema.dump_fields = type('Own', (dict,), {})(schema.dump_fields)",
    "schema.dump_fields = []",
    "vars(schema).pop('dump_fields')",
    "schema.declared_fields.clear()",
    "schema.only = {'a'}",
    "_again(schema, only={'a', 'c'})",
    "_again(schema, exclude={'a'})",
    "_again(schema, load_only={'b'})",
]
"""What conformance/test_mutations.py does not ask."""


def _bound(schema, field):
    field._bind_to_schema("x", schema)
    return field


def _again(schema, **options):
    vars(schema).update(options)
    schema._init_fields()


@pytest.mark.parametrize("first", EDITS)
@pytest.mark.parametrize(
    "second", [EDITS[0], "schema.dump_fields.clear()", "schema.dump_fields.popitem()"]
)
def test_fields_are_edited_twice(ma, log, first, second):
    schema = _three(ma)
    names = {**globals(), "ma": ma, "schema": schema}
    settle(log, schema, DATA, Plain(**DATA))
    exec(first, names)
    use(log, schema, DATA, Plain(**DATA))
    log.attempt(exec, second, names)
    use(log, schema, DATA)


SEQUENCES = [
    """
    schema.dump_fields = OrderedDict(schema.dump_fields)
    settle(log, schema, DATA)
    schema.dump_fields.move_to_end("a")
    del schema.dump_fields["b"]
    schema.dump_fields["b"] = _bound(schema, ma.fields.String())
    schema.dump_fields.clear()
    """,
    """
    settle(log, schema, DATA)
    schema.dump_fields["a"] = copy.copy(schema.dump_fields["a"])
    schema.dump_fields["a"].data_key = "other"
    """,
    """
    schema.dump_fields["x"] = schema.dump_fields["a"]
    settle(log, schema, DATA)
    schema.dump_fields["a"].data_key = "same"
    """,
    """
    settle(log, schema, DATA)
    for n in range(30): schema.fields["a"].data_key = f"{n % 3}"; log.attempt(schema.dump, DATA)
    """,
    """
    other = _three(ma, only=("b", "c")); settle(log, schema, DATA); settle(log, other, DATA)
    schema.__dict__ = dict(vars(other))
    schema.__dict__ = vars(other)
    other.dump_fields.pop("b")
    use(log, other, DATA)
    """,
    """
    other = type("Other", (ma.Schema,), {"get_attribute": lambda self, obj, attr, default: 99})()
    settle(log, schema, DATA)
    other.__dict__ = vars(schema); use(log, other, DATA)
    use(log, other, DATA)
    """,
    """
    held = vars(schema)
    held["dump_fields"] = {"b": schema.dump_fields["b"]}
    held["get_attribute"] = lambda obj, attr, default: 99
    log("same", held is vars(schema), sorted(held))
    """,
    """
    settle(log, schema, DATA); held = vars(schema)
    held["dump_fields"] = {"b": schema.dump_fields["b"]}
    held.clear()
    log("same", held is vars(schema), sorted(held))
    """,
]
"""Statements after each of which the schema is used."""


@pytest.mark.parametrize("statements", SEQUENCES)
def test_one_change_after_the_other(ma, log, statements):
    schema = _three(ma)
    names = {**globals(), "ma": ma, "log": log, "schema": schema}
    for statement in dedent(statements).strip().split("\n"):
        exec(statement, names)
        use(log, schema, DATA)


METHODS = {
    "get_attribute": (
        "lambda self, obj, attr, default: log('get_attribute', attr, default) or (attr, 1)"
    ),
    "_serialize": "lambda self, obj, *, many=False: log('_serialize', obj, many) or {'mine': many}",
    "dump": "lambda self, obj, *, many=None: log('dump', obj, many) or {'mine': many}",
    "_invoke_dump_processors": (
        "lambda self, tag, data, *, many, original_data=None: log('processors', tag, data, many, "
        "original_data) or data"
    ),
    "_invoke_processors": (
        "lambda self, tag, **kwargs: log('processors', tag, kwargs) or kwargs['data']"
    ),
    "set_class": "set",
    "dict_class": "OrderedDict",
    "many": "True",
    "opts": "None",
    "_hooks": "{'pre_dump': [], 'post_dump': []}",
    "fields": "{}",
    "partial": "True",
    "unknown": "'include'",
    "dump_fields": "{}",
}


def _method(name, log):
    return eval(METHODS[name], {"OrderedDict": OrderedDict, "log": log})


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("hooks", [False, True])
@pytest.mark.parametrize("owner", ["class", "base", "mixin", "Schema"])
def test_class_changed(ma, log, owner, hooks, name):
    Mixin = type("Mixin", (), {})
    Base = type("Base", (Mixin, ma.Schema), {"a": ma.fields.Integer()})

    class Own(Base):
        b = ma.fields.Raw(attribute="x")
        if hooks:

            @ma.post_dump
            def hook(self, data, **kwargs):
                log("hook", data, kwargs)
                return data

    target = {"class": Own, "base": Base, "mixin": Mixin, "Schema": ma.Schema}[owner]
    schema = Own()
    settle(log, schema, DATA)
    with mock.patch.object(target, name, _method(name, log), create=True):
        use(log, schema, DATA)
    use(log, schema, DATA)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("way", WAYS)
def test_instance_changed(ma, log, way, name):
    schema = _three(ma)
    settle(log, schema, DATA)
    value = _method(name, log)
    if name in vars(ma.Schema) and not isinstance(value, (type, dict, bool, type(None))):
        value = value.__get__(schema)
    with changed(schema, name, value, way):
        use(log, schema, DATA)
    use(log, schema, DATA)


OWN = "_serialize", "_deserialize", "_do_load", "dump"


def _own_method(ma, log, name, calls_on, upstreams=None):
    """A method that calls upstream's (or what it gets in its place), or does nothing."""

    def method(self, obj, *args, **kwargs):
        log(name, obj, args, sorted(kwargs))
        if not calls_on:
            return obj
        called = upstreams or getattr(ma.Schema, name).__get__(self)
        return called(obj, *args, **kwargs)

    return method


def _use_all(log, schema):
    use(log, schema, DATA)
    for obj in (DATA, {"a": "x"}):
        log.attempt(schema.validate, obj)


@pytest.mark.parametrize("change", [*METHODS, "hook", "field"])
@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("calls_on", [False, True])
@pytest.mark.parametrize("on_instance", [False, True])
def test_changes_around_an_own_method(ma, log, on_instance, calls_on, name, change):
    schema = _three(ma, unknown="exclude")
    Own = type(schema)
    target = schema if on_instance else Own
    if on_instance:
        method = _own_method(ma, log, name, calls_on, getattr(schema, name)).__get__(schema)
    else:
        method = _own_method(ma, log, name, calls_on)
    for _ in range(2):
        setattr(target, name, method)
        _use_all(log, schema)
        if change == "hook":
            # Whichever of the two releases look for, and a method for its name.
            Own.seen = lambda self, data, **kwargs: log("hook", data, sorted(kwargs)) or data
            Own.seen.__marshmallow_hook__ = {("post_dump", False): {"pass_original": False}}
            for key in ("post_dump", ("post_dump", False)):
                for hook in ("seen", ("seen", False, {"pass_original": False})):
                    schema._hooks[key].append(hook)
                    _use_all(log, schema)
                    schema._hooks[key].remove(hook)
        elif change == "field":
            schema.load_fields["a"].required = schema.dump_fields["a"].as_string = True
        elif change != name:
            with mock.patch.object(Own, change, _method(change, log), create=True):
                _use_all(log, schema)
        _use_all(log, schema)
        delattr(target, name)
        _use_all(log, schema)


@pytest.mark.parametrize("name", ["many", "unknown", "partial"])
@pytest.mark.parametrize("kind", ["data", "no data"])
def test_settings_that_compute(ma, log, kind, name):
    Own = type("Own", (ma.Schema,), {"a": ma.fields.Integer(required=True), "b": ma.fields.Raw()})

    class Asked:
        def __get__(self, instance, owner=None):
            log("asked", name)
            return {"many": True, "unknown": "include", "partial": True}[name]

    if kind == "data":
        Asked.__set__ = lambda self, instance, value: log("set", name)
    schema = Own()
    settle(log, schema, DATA)
    use(log, schema, {"b": 3, "x": 4})
    setattr(Own, name, Asked())
    use(log, schema, {"b": 3, "x": 4}, [DATA])
    for _ in range(3):
        log.attempt(schema.load, {"b": 3, "x": 4})
    log.attempt(Own().load, {"b": 3, "x": 4})
    vars(schema).pop(name)
    use(log, schema, {"b": 3, "x": 4}, [DATA])
    delattr(Own, name)
    use(log, schema, DATA)


def test_dictionary_held_while_in_use_elsewhere(ma, log):
    class Own(ma.Schema):
        a = ma.fields.Function(lambda obj: obj["go"]())
        b = ma.fields.Raw()

    schema = Own()
    held = []
    log.attempt(schema.dump, {"go": lambda: held.append(vars(schema)), "b": 1})
    held[0]["dump_fields"] = {"b": schema.dump_fields["b"]}
    use(log, schema, {"go": int, "b": 1})
    held[0]["get_attribute"] = lambda obj, attr, default: 99
    use(log, schema, {"go": int, "b": 1})


def _hooked(ma, log):
    class Hooked(ma.Schema):
        a = ma.fields.Integer()

        @ma.pre_dump
        def before(self, data, **kwargs):
            log("before", data, kwargs)
            return data

        @ma.post_dump(pass_collection=True, pass_original=True)
        def after(self, data, original, **kwargs):
            log("after", data, original, kwargs)
            return data

        def spare(self, data, **kwargs):
            log("spare", data, kwargs)
            return {"spare": data}

    return Hooked()


HOOK_EDITS = [
    "cls.before = new",
    "schema.before = new.__get__(schema)",
    "del cls.before",
    "cls._hooks['pre_dump'].clear()",
    "cls._hooks.update(post_dump=[('spare', False, {}), *cls._hooks['post_dump']])",
    "cls._hooks['post_dump'].append(('spare', False, {}))",
    "cls._hooks['post_dump'].append(('spare', True, {}))",
    "cls._hooks['pre_dump'][0][2].update(pass_original=True)",
    "cls._hooks = {'pre_dump': [], 'post_dump': [('spare', False, {})]}",
    "cls._hooks.clear()",
    "schema._hooks = {'pre_dump': [], 'post_dump': [('spare', False, {})]}",
    "cls._hooks = {}",
]


@pytest.mark.parametrize("edit", HOOK_EDITS)
def test_hooks(ma, log, edit):
    schema = _hooked(ma, log)
    settle(log, schema, {"a": 1})

    def new(self, data, *args, **kwargs):
        log("new", data, args, kwargs)
        return data

    exec(edit, {"cls": type(schema), "schema": schema, "new": new})
    use(log, schema, {"a": 1})
