"""User code changes what is being dumped or loaded, while it is being dumped or loaded.

No step may rest on what it saw of the input before it called a validator, a default, a function
or a field of the user's own. Each scenario reaches the input through a closure.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.conformance.harness import scenario


def several(log: Any, call: Any, data: Any, start: Any) -> None:
    """Call several times, the input made anew each time: the later calls run by a plan."""
    for _ in range(4):
        data.clear()
        if isinstance(data, dict):
            data.update(start)
        else:
            data.extend(start)
        log.attempt(call)
        log("input", data)


def change_keys(data: dict[str, Any], how: str) -> None:
    """Add an unknown key, or take a known one away. Exchanging them: docs/differences.md."""
    if how == "add":
        data["unknown"] = 1
    else:
        data.pop("a", None)


CHANGING = ("validator", "load_default", "function", "method", "pre_load", "post_load", "nested")


def _changing_field(ma: Any, how: str, change: Any) -> Any:
    fields = ma.fields
    if how == "validator":
        return fields.Raw(validate=lambda value: change())
    if how == "load_default":
        return fields.Raw(load_default=change)
    if how == "function":
        return fields.Function(deserialize=lambda value: change())
    if how == "method":
        return fields.Method(deserialize="own")
    if how in ("pre_load", "post_load"):
        return fields.Raw(**{how: lambda value: change() or value})
    inner = ma.Schema.from_dict({"x": fields.Raw(validate=lambda value: change())})
    return fields.Nested(inner)


@pytest.mark.parametrize("how", CHANGING)
@pytest.mark.parametrize("unknown", ["raise", "include", "exclude"])
@pytest.mark.parametrize("change", ["add", "take away"])
@scenario
def test_the_keys_of_the_input_change(
    ma: Any, log: Any, change: str, how: str, unknown: str
) -> None:
    data: dict[str, Any] = {}

    class Own(ma.Schema):
        a = ma.fields.Raw(required=True)
        b = _changing_field(ma, how, lambda: change_keys(data, change))
        c = ma.fields.Raw()

        def own(self, value: Any) -> Any:
            change_keys(data, change)
            return value

    start = {"a": 1, "b": {"x": 1}, "c": 3}
    if how == "load_default":
        del start["b"]
    schema = Own()
    several(log, lambda: schema.load(data, unknown=unknown), data, start)


@pytest.mark.parametrize("changed", range(6))
@pytest.mark.parametrize("unknown", ["raise", "include", "exclude"])
@pytest.mark.parametrize("order", ["the same", "another"])
@pytest.mark.parametrize("change", ["add", "take away"])
@scenario
def test_the_keys_of_one_record_among_others_change(
    ma: Any, log: Any, change: str, changed: int, unknown: str, order: str
) -> None:
    """All records before have the same keys, which the step remembers."""
    records: list[dict[str, Any]] = []

    def check(value: Any) -> None:
        if value == changed:
            change_keys(records[value], change)

    own = ma.fields.Raw(validate=check)
    schema = ma.Schema.from_dict({"a": ma.fields.Raw(), "b": own, "c": ma.fields.Raw()})()
    start = [{"a": 1, "b": i, "c": 3} for i in range(6)]
    if order == "another":
        start[3] = dict(reversed(start[3].items()))
        start[4] = {"a": 1, "b": 4, "d": 3}
    for _ in range(4):
        records[:] = [dict(record) for record in start]
        log.attempt(schema.load, records, many=True, unknown=unknown)
        log("input", records)


@scenario
def test_the_last_field_empties_the_input(ma: Any, log: Any) -> None:
    data: dict[str, Any] = {}

    def empty(value: Any) -> None:
        data.clear()

    schema = ma.Schema.from_dict({"a": ma.fields.Raw(validate=empty)})()
    several(log, lambda: schema.load(data), data, {"a": 1})
    several(log, lambda: schema.load(data, unknown="include"), data, {"a": 1})


LENGTHS = [
    *itertools.product(["List"], ["append", "pop", "clear"], [0, 1]),
    # Other changes while a Tuple loads a list give what was reached: docs/differences.md.
    ("Tuple", "pop", 1),
    ("Tuple", "clear", 1),
]


@pytest.mark.parametrize(("kind", "change", "position"), LENGTHS)
@scenario
def test_a_list_changes_its_length(
    ma: Any, log: Any, kind: str, change: str, position: int
) -> None:
    items: list[int] = []

    def changing(value: Any) -> None:
        if value == position:
            getattr(items, change)(*([9] if change == "append" else []))

    raw = ma.fields.Raw(validate=changing)
    field = ma.fields.List(raw) if kind == "List" else ma.fields.Tuple((raw, raw))
    schema = ma.Schema.from_dict({"items": field})()
    several(log, lambda: schema.load({"items": items}), items, [0, 1])


CHANGES = {"exchange", "put back", "add", "remove"}


@pytest.mark.parametrize(
    ("action", "keys", "change"),
    [
        (action, keys, change)
        for action in ("dump", "load")
        for keys in (False, True)
        # docs/differences.md: a dump of other keys may find no error, or another one.
        for change in sorted(
            CHANGES - ({"exchange"} if (action, keys) == ("dump", False) else set())
        )
    ],
)
@scenario
def test_a_dictionary_changes_its_keys(
    ma: Any, log: Any, keys: bool, change: str, action: str
) -> None:
    data: dict[str, Any] = {}

    def changing() -> None:
        value = data.pop("b", None) if change != "add" else None
        if change != "remove":
            data["b" if change == "put back" else "z"] = value

    class Own(ma.fields.Field):  # type: ignore[misc]
        def _serialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
            changing()
            return value

        def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
            changing()
            return value

    inner: dict[str, Any] = {"values": Own()}
    if keys:
        inner["keys"] = ma.fields.String()
    schema = ma.Schema.from_dict({"table": ma.fields.Dict(**inner)})()
    start = dict(zip("abcdef", range(6), strict=True))
    several(log, lambda: getattr(schema, action)({"table": data}), data, start)
