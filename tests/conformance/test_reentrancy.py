"""User code that changes, resolves or looks into the schema whose call is running."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from tests.conformance.harness import scenario

pytestmark = pytest.mark.usefixtures("models_at_once")


def bind_nothing(self: Any, field_name: str, field_obj: Any) -> None:
    """An ``on_bind_field``: instances of its class cannot be lazy."""


def replaced(self: Any) -> None:
    self.__dict__ = dict(self.__dict__)


def replaced_unseen(self: Any) -> None:
    self.__dict__ = {**object.__getattribute__(self, "__dict__"), "more": 1}


def made_anew(self: Any) -> None:
    self.__init__()


def made_anew_in_another(self: Any) -> None:
    self.__dict__ = {}
    self.__init__()


@pytest.mark.parametrize("binding", [None, bind_nothing])
@pytest.mark.parametrize(
    "change",
    [replaced, replaced_unseen, made_anew, made_anew_in_another],
    ids=lambda each: each.__name__,
)
@scenario
def test_instance_dictionaries(ma: Any, log: Any, change: Any, binding: Any) -> None:
    made = []

    class Inner(ma.Schema):
        x = ma.fields.String()

    class Own(ma.fields.String):
        def _serialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
            log("serialize", self.root is made[-1], self.parent is made[-1])
            return value

        def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
            log("deserialize", self.root is made[-1], self.parent is made[-1])
            return value

    class Outer(ma.Schema):
        first = ma.fields.Method("change", deserialize="change")
        inner = ma.fields.Nested(Inner)
        listed = ma.fields.List(ma.fields.Nested(lambda: Inner()))
        pair = ma.fields.Tuple((Own(), ma.fields.Nested(Inner)))
        own = Own()

        def change(self, obj: Any) -> int:
            change(self)
            return 1

    if binding is not None:
        Outer.on_bind_field = binding
    value = {
        "first": 1, "inner": {"x": "a"}, "listed": [{"x": "b"}], "pair": ["p", {"x": "c"}],
        "own": "o",
    }  # fmt: skip
    for _ in range(5):
        for direction in ("dump", "load"):
            made.append(Outer())
            log.attempt(getattr(made[-1], direction), value)
    one, two = Outer(), Outer()
    log("shared", one.fields["inner"].schema is two.fields["inner"].schema)


@pytest.mark.parametrize("kind", ["class", "instance", "fields"])
@scenario
def test_a_callable_that_narrows_its_own_field(ma: Any, log: Any, kind: str) -> None:
    class Inner(ma.Schema):
        x = ma.fields.String()
        secret = ma.fields.String()

    given = {"class": Inner, "instance": Inner, "fields": {}}

    def make() -> Any:
        schema.fields["inner"].only = ("x",)
        schema.fields["inner"].many = True
        if kind == "fields":
            return {"x": ma.fields.String(), "secret": ma.fields.String()}
        return given[kind]() if kind == "instance" else given[kind]

    class Outer(ma.Schema):
        inner = ma.fields.Nested(make)

    for _ in range(4):
        schema = Outer()
        for _ in range(3):
            log.attempt(schema.dump, {"inner": [{"x": 1, "secret": 2}]})


@pytest.mark.parametrize("direction", ["dump", "load"])
@scenario
def test_a_schema_resolved_while_another_attempt_fails(ma: Any, log: Any, direction: str) -> None:
    calls = [0]

    class Inner(ma.Schema):
        x = ma.fields.String()

    def make() -> Any:
        calls[0] += 1
        if calls[0] == 1:
            getattr(schema, direction)({"inner": {}})
            raise RuntimeError("no")
        return Inner()

    class Outer(ma.Schema):
        inner = ma.fields.Nested(make)

    for _ in range(5):
        schema = Outer()
        calls[0] = 0
        for _ in range(2):
            log.attempt(getattr(schema, direction), {"inner": {"x": "a"}})
        log("calls", calls[0])


@scenario
def test_a_nested_instance_is_there_while_its_fields_are_bound(ma: Any, log: Any) -> None:
    schema = None

    class Inner(ma.Schema):
        x = ma.fields.String()
        y = ma.fields.String()

        def on_bind_field(self, field_name: str, field_obj: Any) -> None:
            if schema is not None:
                seen = schema.fields["inner"].schema
                log("bind", field_name, seen is self, schema.dump({"inner": {"y": 1}}))

    class Outer(ma.Schema):
        inner = ma.fields.Nested(Inner(), only=("x",))

    for _ in range(6):
        schema = Outer()
        log.attempt(schema.dump, {"inner": {"x": 1, "y": 2}})
        schema = None


@scenario
def test_whoever_saw_a_nested_schema_being_made_does_not_meet_it_again(ma: Any, log: Any) -> None:
    made: Any = weakref.WeakSet()
    numbers = set()

    class Known(ma.Schema):
        x = ma.fields.Method("here")

        def here(self, obj: Any) -> Any:
            return self in made, id(self) in numbers

    class ByInit(Known):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            made.add(self)

    class ByNew(Known):
        def __new__(cls, **options: Any) -> Any:
            self = super().__new__(cls)
            numbers.add(id(self))
            kept.append(self)
            return self

    def noted() -> Any:
        schema = Known()
        made.add(schema)
        return schema

    kept: list[Any] = []
    for nested in (lambda: ByInit(), lambda: ByNew(), noted):
        outer = ma.Schema.from_dict({"inner": ma.fields.Nested(nested)})
        for _ in range(5):
            log.attempt(outer().dump, {"inner": {}})
    kept.clear()


@pytest.mark.parametrize("load_only", [(), ("inner.secret",)])
@scenario
def test_looking_into_an_instance_while_it_is_looked_into(
    ma: Any, log: Any, load_only: tuple[str, ...]
) -> None:
    """The collector runs while an instance is built in full, and with it a finalizer that looks
    into the same instance."""
    fails = [True]

    class Inner(ma.Schema):
        x = ma.fields.String()
        secret = ma.fields.String()

    def make() -> Any:
        if fails[0]:
            raise RuntimeError("not yet")
        return Inner

    class Outer(ma.Schema):
        first = ma.fields.String()
        inner = ma.fields.Nested(make)
        method = ma.fields.Method("one")

        def one(self, obj: Any) -> int:
            return 1

    class Looking:
        def __init__(self, schema: Any) -> None:
            self.schema = schema
            self.cycle = self

        def __del__(self) -> None:
            _ = self.schema.fields

    value = {"inner": {"x": "a", "secret": "b"}}
    thresholds = gc.get_threshold()
    try:
        for threshold in range(1, 80):
            schema = Outer(load_only=load_only)
            fails[0] = True
            log.attempt(schema.dump, value)
            Looking(schema)
            gc.set_threshold(threshold)
            field = schema.fields["inner"]
            gc.set_threshold(*thresholds)
            fails[0] = False
            log("bound", field.root is schema, field.parent is schema)
            log.attempt(schema.dump, value)
    finally:
        gc.set_threshold(*thresholds)
