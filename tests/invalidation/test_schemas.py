"""The schema instance or its class changes after it was used."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any
from unittest import mock

import pytest

from tests.conformance.material import Plain
from tests.invalidation.usage import WAYS, changed, scenario, settle, use

DATA = {"a": "1", "b": 2, "c": 3, "x": 4}


def _three(ma: Any, **options: Any) -> Any:
    class Three(ma.Schema):
        a = ma.fields.Integer()
        b = ma.fields.Raw()
        c = ma.fields.String()

    return Three(**options)


# ---- dump_fields ---------------------------------------------------------------------

EDITS = {
    "empty": lambda ma, schema: schema.dump_fields.clear(),
    "delete": lambda ma, schema: schema.dump_fields.pop("b"),
    "delete the last": lambda ma, schema: schema.dump_fields.popitem(),
    "add": lambda ma, schema: schema.dump_fields.update(x=_bound(schema, ma.fields.String())),
    "replace a field": lambda ma, schema: schema.dump_fields.update(
        b=_bound(schema, ma.fields.String())
    ),
    "swap two": lambda ma, schema: schema.dump_fields.update(
        a=schema.dump_fields["c"], c=schema.dump_fields["a"]
    ),
    "move to the end": lambda ma, schema: schema.dump_fields.update(a=schema.dump_fields.pop("a")),
    "rename": lambda ma, schema: schema.dump_fields.update(x=schema.dump_fields.pop("a")),
    "no field": lambda ma, schema: schema.dump_fields.update(b=3),
    "none": lambda ma, schema: schema.dump_fields.update(b=None),
    "a number as name": lambda ma, schema: schema.dump_fields.update(
        {3: _bound(schema, ma.fields.Raw())}
    ),
    "an unbound field": lambda ma, schema: schema.dump_fields.update(x=ma.fields.Method("no")),
    "another dictionary": lambda ma, schema: setattr(
        schema, "dump_fields", {"b": schema.dump_fields["b"]}
    ),
    "an equal dictionary": lambda ma, schema: setattr(
        schema, "dump_fields", dict(schema.dump_fields)
    ),
    "an OrderedDict": lambda ma, schema: setattr(
        schema, "dump_fields", OrderedDict(reversed(schema.dump_fields.items()))
    ),
    "a dictionary of the user's": lambda ma, schema: setattr(
        schema, "dump_fields", type("Own", (dict,), {})(schema.dump_fields)
    ),
    "no dictionary": lambda ma, schema: setattr(schema, "dump_fields", []),
    "gone": lambda ma, schema: vars(schema).pop("dump_fields"),
    "fields only": lambda ma, schema: schema.fields.clear(),
    "load_fields only": lambda ma, schema: schema.load_fields.clear(),
    "declared_fields only": lambda ma, schema: schema.declared_fields.clear(),
    "only": lambda ma, schema: setattr(schema, "only", {"a"}),
    "only, fields made anew": lambda ma, schema: _again(schema, only={"a", "c"}),
    "exclude, fields made anew": lambda ma, schema: _again(schema, exclude={"a"}),
    "load_only, fields made anew": lambda ma, schema: _again(schema, load_only={"b"}),
}


def _bound(schema: Any, field: Any) -> Any:
    field._bind_to_schema("x", schema)
    return field


def _again(schema: Any, **options: Any) -> None:
    vars(schema).update(options)
    schema._init_fields()


@pytest.mark.parametrize("edit", EDITS)
@scenario
def test_dump_fields(ma: Any, log: Any, edit: str) -> None:
    schema = _three(ma)
    settle(log, schema, DATA, Plain(**DATA))
    EDITS[edit](ma, schema)
    use(log, schema, DATA, Plain(**DATA))


@pytest.mark.parametrize("first", EDITS)
@pytest.mark.parametrize("second", ["empty", "add", "delete the last", "an OrderedDict"])
@scenario
def test_dump_fields_twice(ma: Any, log: Any, first: str, second: str) -> None:
    schema = _three(ma)
    settle(log, schema, DATA)
    EDITS[first](ma, schema)
    use(log, schema, DATA)
    log.attempt(EDITS[second], ma, schema)
    use(log, schema, DATA)


@scenario
def test_an_ordered_dict_edited(ma: Any, log: Any) -> None:
    schema = _three(ma)
    schema.dump_fields = OrderedDict(schema.dump_fields)
    settle(log, schema, DATA)
    schema.dump_fields.move_to_end("a")
    use(log, schema, DATA)
    del schema.dump_fields["b"]
    use(log, schema, DATA)
    schema.dump_fields["b"] = _bound(schema, ma.fields.String())
    use(log, schema, DATA)
    schema.dump_fields.clear()
    use(log, schema, DATA)


@scenario
def test_a_field_replaced_by_an_equal_one(ma: Any, log: Any) -> None:
    schema = _three(ma)
    settle(log, schema, DATA)
    import copy

    schema.dump_fields["a"] = copy.copy(schema.dump_fields["a"])
    use(log, schema, DATA)
    schema.dump_fields["a"].data_key = "other"
    use(log, schema, DATA)


@scenario
def test_one_field_under_two_names(ma: Any, log: Any) -> None:
    schema = _three(ma)
    schema.dump_fields["x"] = schema.dump_fields["a"]
    settle(log, schema, DATA)
    schema.dump_fields["a"].data_key = "same"
    use(log, schema, DATA)


# ---- What the schema overrides -------------------------------------------------------

METHODS = {
    "get_attribute": lambda log: (
        lambda self, obj, attr, default: log("get_attribute", attr, default) or (attr, 1)
    ),
    "_serialize": lambda log: (
        lambda self, obj, *, many=False: log("_serialize", obj, many) or {"mine": many}
    ),
    "dump": lambda log: lambda self, obj, *, many=None: log("dump", obj, many) or {"mine": many},
    "_invoke_dump_processors": lambda log: (
        lambda self, tag, data, *, many, original_data=None: (
            log("processors", tag, data, many, original_data) or data
        )
    ),
    "_invoke_processors": lambda log: (
        lambda self, tag, **kwargs: log("processors", tag, kwargs) or kwargs["data"]
    ),
    "set_class": lambda log: set,
    "dict_class": lambda log: OrderedDict,
    "many": lambda log: True,
    "opts": lambda log: None,
    "_hooks": lambda log: {"pre_dump": [], "post_dump": []},
    "fields": lambda log: {},
    "partial": lambda log: True,
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("hooks", [False, True])
@pytest.mark.parametrize("owner", ["class", "base", "mixin", "Schema"])
@scenario
def test_class_changed(ma: Any, log: Any, owner: str, hooks: bool, name: str) -> None:
    class Mixin:
        pass

    class Base(Mixin, ma.Schema):
        a = ma.fields.Integer()

    class Own(Base):
        b = ma.fields.Raw(attribute="x")
        if hooks:

            @ma.post_dump
            def hook(self, data: Any, **kwargs: Any) -> Any:
                log("hook", data, kwargs)
                return data

    target = {"class": Own, "base": Base, "mixin": Mixin, "Schema": ma.Schema}[owner]
    schema = Own()
    settle(log, schema, DATA)
    with mock.patch.object(target, name, METHODS[name](log), create=True):
        use(log, schema, DATA)
    use(log, schema, DATA)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("way", WAYS)
@scenario
def test_instance_changed(ma: Any, log: Any, way: str, name: str) -> None:
    schema = _three(ma)
    settle(log, schema, DATA)
    value = METHODS[name](log)
    if name in vars(ma.Schema) and not isinstance(value, (type, dict, bool, type(None))):
        value = value.__get__(schema)
    with changed(schema, name, value, way):
        use(log, schema, DATA)
    use(log, schema, DATA)


@pytest.mark.parametrize("late", [False, True])
@scenario
def test_serialize_that_calls_on(ma: Any, log: Any, late: bool) -> None:
    class Own(ma.Schema):
        a = ma.fields.Integer()

    def serialize(self: Any, obj: Any, *, many: bool = False) -> Any:
        log("_serialize", obj, many)
        return ma.Schema._serialize(self, obj, many=many)

    def dump(self: Any, obj: Any, *, many: bool | None = None) -> Any:
        log("dump", obj, many)
        return ma.Schema.dump(self, obj, many=many)

    if not late:
        Own._serialize, Own.dump = serialize, dump
    schema = Own()
    settle(log, schema, DATA)
    Own._serialize, Own.dump = serialize, dump
    use(log, schema, DATA)
    del Own._serialize
    use(log, schema, DATA)


@pytest.mark.parametrize("hook", ["__getattribute__", "__getattr__"])
@scenario
def test_attribute_access_taken_over(ma: Any, log: Any, hook: str) -> None:
    class Own(ma.Schema):
        a = ma.fields.Integer()
        b = ma.fields.Raw()

    schema = Own()
    settle(log, schema, DATA)
    only_b = {"b": schema.dump_fields["b"]}

    def answer(self: Any, name: str) -> Any:
        if name == "dump_fields":
            return only_b
        if hook == "__getattr__":
            raise AttributeError(name)
        return object.__getattribute__(self, name)

    setattr(Own, hook, answer)
    use(log, schema, DATA)
    vars(schema).pop("dump_fields")
    use(log, schema, DATA)
    delattr(Own, hook)
    use(log, schema, DATA)


@pytest.mark.parametrize("name", ["dump_fields", "dict_class", "_hooks", "get_attribute"])
@scenario
def test_properties_that_compute(ma: Any, log: Any, name: str) -> None:
    class Own(ma.Schema):
        a = ma.fields.Integer()
        b = ma.fields.Raw()

    schema = Own()
    settle(log, schema, DATA)
    answer = {
        "dump_fields": {"b": schema.dump_fields["b"]},
        "dict_class": OrderedDict,
        "_hooks": {"pre_dump": [], "post_dump": []},
        "get_attribute": lambda obj, attr, default: attr,
    }[name]
    setattr(Own, name, property(lambda self: log("asked", name) or answer))
    use(log, schema, DATA)
    delattr(Own, name)
    use(log, schema, DATA)


@pytest.mark.parametrize("name", ["many", "unknown", "partial"])
@pytest.mark.parametrize("kind", ["data", "no data"])
@scenario
def test_settings_that_compute(ma: Any, log: Any, kind: str, name: str) -> None:
    class Own(ma.Schema):
        a = ma.fields.Integer(required=True)
        b = ma.fields.Raw()

    class Asked:
        def __get__(self, instance: Any, owner: Any = None) -> Any:
            log("asked", name)
            return {"many": True, "unknown": "include", "partial": True}[name]

    if kind == "data":
        Asked.__set__ = lambda self, instance, value: log("set", name)  # type: ignore[attr-defined]
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


@scenario
def test_class_of_the_schema_assigned(ma: Any, log: Any) -> None:
    class Own(ma.Schema):
        a = ma.fields.Integer()

    class Other(Own):
        def get_attribute(self, obj: Any, attr: str, default: Any) -> Any:
            log("get_attribute", attr)
            return 99

    class Third(Own):
        @ma.post_dump
        def hook(self, data: Any, **kwargs: Any) -> Any:
            return {"hooked": data}

    schema = Own()
    settle(log, schema, DATA)
    for cls in (Other, Third, Own):
        schema.__class__ = cls
        use(log, schema, DATA)


@scenario
def test_bases_replaced(ma: Any, log: Any) -> None:
    class First(ma.Schema):
        pass

    class Second(ma.Schema):
        def get_attribute(self, obj: Any, attr: str, default: Any) -> Any:
            return 99

    class Own(First):
        a = ma.fields.Integer()

    schema = Own()
    settle(log, schema, DATA)
    Own.__bases__ = (Second,)
    use(log, schema, DATA)


# ---- The instance dictionary ---------------------------------------------------------


@scenario
def test_dictionary_replaced_by_that_of_another_instance(ma: Any, log: Any) -> None:
    schema, other = _three(ma), _three(ma, only=("b", "c"))
    settle(log, schema, DATA)
    settle(log, other, DATA)
    schema.__dict__ = dict(vars(other))
    use(log, schema, DATA)
    schema.__dict__ = vars(other)
    use(log, schema, DATA)
    other.dump_fields.pop("b")
    use(log, schema, DATA)
    use(log, other, DATA)


@scenario
def test_dictionary_shared_with_an_instance_of_another_class(ma: Any, log: Any) -> None:
    class Other(ma.Schema):
        def get_attribute(self, obj: Any, attr: str, default: Any) -> Any:
            log("get_attribute", attr)
            return 99

    schema, other = _three(ma), Other()
    settle(log, schema, DATA)
    other.__dict__ = vars(schema)
    use(log, other, DATA)
    use(log, schema, DATA)
    use(log, other, DATA)


@scenario
def test_dictionary_held_from_before_the_first_use(ma: Any, log: Any) -> None:
    schema = _three(ma)
    held = vars(schema)
    use(log, schema, DATA)
    held["dump_fields"] = {"b": schema.dump_fields["b"]}
    use(log, schema, DATA)
    held["get_attribute"] = lambda obj, attr, default: 99
    use(log, schema, DATA)
    log("same", held is vars(schema), sorted(held))


@scenario
def test_dictionary_held_after_the_first_use(ma: Any, log: Any) -> None:
    schema = _three(ma)
    settle(log, schema, DATA)
    held = vars(schema)
    use(log, schema, DATA)
    held["dump_fields"] = {"b": schema.dump_fields["b"]}
    use(log, schema, DATA)
    held.clear()
    use(log, schema, DATA)
    log("same", held is vars(schema), sorted(held))


@scenario
def test_dictionary_held_while_in_use_elsewhere(ma: Any, log: Any) -> None:
    class Own(ma.Schema):
        a = ma.fields.Function(lambda obj: obj["go"]())
        b = ma.fields.Raw()

    schema = Own()
    held: list[Any] = []
    log.attempt(schema.dump, {"go": lambda: held.append(vars(schema)), "b": 1})
    held[0]["dump_fields"] = {"b": schema.dump_fields["b"]}
    use(log, schema, {"go": int, "b": 1})
    held[0]["get_attribute"] = lambda obj, attr, default: 99
    use(log, schema, {"go": int, "b": 1})


@scenario
def test_fields_changed_in_place_many_times(ma: Any, log: Any) -> None:
    schema = _three(ma)
    settle(log, schema, DATA)
    for turn in range(30):
        schema.fields["a"].data_key = f"key {turn % 3}"
        log.attempt(schema.dump, DATA)
        log.attempt(schema.dump, DATA)


# ---- Hooks ---------------------------------------------------------------------------


def _hooked(ma: Any, log: Any) -> Any:
    class Hooked(ma.Schema):
        a = ma.fields.Integer()

        @ma.pre_dump
        def before(self, data: Any, **kwargs: Any) -> Any:
            log("before", data, kwargs)
            return data

        @ma.post_dump(pass_collection=True, pass_original=True)
        def after(self, data: Any, original: Any, **kwargs: Any) -> Any:
            log("after", data, original, kwargs)
            return data

        def spare(self, data: Any, **kwargs: Any) -> Any:
            log("spare", data, kwargs)
            return {"spare": data}

    return Hooked()


HOOK_EDITS = {
    "method replaced on the class": lambda cls, schema, new: setattr(cls, "before", new),
    "method replaced on the instance": lambda cls, schema, new: setattr(
        schema, "before", new.__get__(schema)
    ),
    "method deleted": lambda cls, schema, new: delattr(cls, "before"),
    "list emptied": lambda cls, schema, new: cls._hooks["pre_dump"].clear(),
    "list replaced": lambda cls, schema, new: cls._hooks.update(
        post_dump=[("spare", False, {}), *cls._hooks["post_dump"]]
    ),
    "hook added": lambda cls, schema, new: cls._hooks["post_dump"].append(("spare", False, {})),
    "hook added for collections": lambda cls, schema, new: cls._hooks["post_dump"].append(
        ("spare", True, {})
    ),
    "options of a hook": lambda cls, schema, new: cls._hooks["pre_dump"][0][2].update(
        pass_original=True
    ),
    "table replaced": lambda cls, schema, new: setattr(
        cls, "_hooks", {"pre_dump": [], "post_dump": [("spare", False, {})]}
    ),
    "table emptied": lambda cls, schema, new: cls._hooks.clear(),
    "table of the instance": lambda cls, schema, new: setattr(
        schema, "_hooks", {"pre_dump": [], "post_dump": [("spare", False, {})]}
    ),
    "table a plain dictionary without entries": lambda cls, schema, new: setattr(cls, "_hooks", {}),
}


@pytest.mark.parametrize("edit", HOOK_EDITS)
@scenario
def test_hooks(ma: Any, log: Any, edit: str) -> None:
    schema = _hooked(ma, log)
    settle(log, schema, {"a": 1})

    def new(self: Any, data: Any, *args: Any, **kwargs: Any) -> Any:
        log("new", data, args, kwargs)
        return data

    HOOK_EDITS[edit](type(schema), schema, new)
    use(log, schema, {"a": 1})


@scenario
def test_a_first_hook_added(ma: Any, log: Any) -> None:
    class Own(ma.Schema):
        a = ma.fields.Integer()

        def spare(self, data: Any, **kwargs: Any) -> Any:
            return {"spare": data}

    schema = Own()
    settle(log, schema, {"a": 1})
    Own._hooks["post_dump"].append(("spare", False, {}))
    use(log, schema, {"a": 1})
    Own._hooks["pre_dump"].append(("spare", True, {}))
    use(log, schema, {"a": 1})
    Own._hooks.clear()
    use(log, schema, {"a": 1})


# ---- Methods and functions of the schema ---------------------------------------------


@scenario
def test_a_method_fields_method(ma: Any, log: Any) -> None:
    class Own(ma.Schema):
        m = ma.fields.Method("compute")
        n = ma.fields.Method("other")

        def compute(self, obj: Any) -> Any:
            return 1

        def other(self, obj: Any) -> Any:
            return 2

    schema = Own()
    settle(log, schema, {})
    Own.compute = lambda self, obj: 3
    use(log, schema, {})
    schema.other = lambda obj: 4
    use(log, schema, {})
    schema.fields["n"].serialize_method_name = "compute"
    use(log, schema, {})
    schema.fields["n"]._bind_to_schema("n", schema)
    use(log, schema, {})
    del Own.compute
    use(log, schema, {})
    log("fresh")
    log.attempt(Own)


@scenario
def test_method_field_of_an_instance_whose_class_changes(ma: Any, log: Any) -> None:
    class Own(ma.Schema):
        m = ma.fields.Method("compute")

        def compute(self, obj: Any) -> Any:
            return type(self).__name__, obj["x"]

    class Other(Own):
        def compute(self, obj: Any) -> Any:
            return "other"

    schema = Own()
    settle(log, schema, {"x": 1})
    schema.__class__ = Other
    use(log, schema, {"x": 1})


@scenario
def test_a_method_field_shared_by_a_shallow_copy(ma: Any, log: Any) -> None:
    import copy

    class Own(ma.Schema):
        m = ma.fields.Method("compute")

        def compute(self, obj: Any) -> Any:
            return self.label

    schema = Own()
    schema.label = "first"
    settle(log, schema, {})
    other = copy.copy(schema)
    other.label = "second"
    use(log, other, {})
    use(log, schema, {})
