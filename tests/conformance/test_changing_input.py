"""User code changes what is being dumped or loaded, while it is being dumped or loaded.

No step may rest on what it saw of the input before it called a validator, a default, a function
or a field of the user's own. Each scenario reaches the input through a closure.
"""

import itertools

import pytest


def several(log, call, data, start):
    """Call several times, the input made anew each time: the later calls run by a plan."""
    for _ in range(4):
        data.clear()
        if isinstance(data, dict):
            data.update(start)
        else:
            data.extend(start)
        log.attempt(call)
        log("input", data)


def change_keys(data, how):
    """Add an unknown key, or take a known one away. Exchanging them: docs/differences.md."""
    if how == "add":
        data["unknown"] = 1
    else:
        data.pop("a", None)


CHANGING = ("validator", "load_default", "function", "method", "pre_load", "post_load", "nested")


def _changing_field(ma, how, change):
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
def test_the_keys_of_the_input_change(ma, log, change, how, unknown):
    data = {}

    class Own(ma.Schema):
        a = ma.fields.Raw(required=True)
        b = _changing_field(ma, how, lambda: change_keys(data, change))
        c = ma.fields.Raw()

        def own(self, value):
            change_keys(data, change)
            return value

    start = {"a": 1, "b": {"x": 1}, "c": 3}
    if how == "load_default":
        del start["b"]
    schema = Own()
    several(log, lambda: schema.load(data, unknown=unknown), data, start)


def test_the_last_field_empties_the_input(ma, log):
    data = {}

    def empty(value):
        data.clear()

    schema = ma.Schema.from_dict({"a": ma.fields.Raw(validate=empty)})()
    several(log, lambda: schema.load(data), data, {"a": 1})
    several(log, lambda: schema.load(data, unknown="include"), data, {"a": 1})


LENGTHS = [
    *itertools.product(["dump", "load"], ["List"], ["append", "pop", "clear"], [0, 1]),
    # Other changes while a Tuple loads a list give what was reached: docs/differences.md.
    ("load", "Tuple", "pop", 1),
    ("load", "Tuple", "clear", 1),
]


@pytest.mark.parametrize(("action", "kind", "change", "position"), LENGTHS)
def test_a_list_changes_its_length(ma, log, kind, change, position, action):
    items = []

    def changing(value):
        if value == position:
            getattr(items, change)(*([9] if change == "append" else []))

    class Own(ma.fields.Raw):
        def _serialize(self, value, *args, **kwargs):
            changing(value)
            return value

    own = Own(validate=changing)
    field = ma.fields.List(own) if kind == "List" else ma.fields.Tuple((own, own))
    schema = ma.Schema.from_dict({"items": field})()
    calls = {"dump": schema.dump, "load": schema.load}
    several(log, lambda: calls[action]({"items": items}), items, [0, 1])


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
def test_a_dictionary_changes_its_keys(ma, log, keys, change, action):
    data = {}

    def changing():
        value = data.pop("b", None) if change != "add" else None
        if change != "remove":
            data["b" if change == "put back" else "z"] = value

    class Own(ma.fields.Field):
        def _serialize(self, value, *args, **kwargs):
            changing()
            return value

        def _deserialize(self, value, *args, **kwargs):
            changing()
            return value

    inner = {"values": Own()}
    if keys:
        inner["keys"] = ma.fields.String()
    schema = ma.Schema.from_dict({"table": ma.fields.Dict(**inner)})()
    start = dict(zip("abcdef", range(6), strict=True))
    calls = {"dump": schema.dump, "load": schema.load}
    several(log, lambda: calls[action]({"table": data}), data, start)
