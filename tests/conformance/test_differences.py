"""The accepted differences that ``docs/differences.md`` lists: each is as it says there."""

import copyreg
import gc
import inspect
import json
import subprocess
import sys
import warnings
import weakref
from pathlib import Path
from unittest import mock

import pytest

from tests.conformance.harness import engine, is_compiled, libraries, plans_at_once
from tests.conformance.lacking import without
from tests.conformance.material import subclass, written
from tests.interpreters import lazily

UPSTREAM, OURS = libraries()
compiled_only = pytest.mark.skipif(
    not is_compiled(), reason="a pure build is interpreted and does not differ in this"
)
planned_only = pytest.mark.skipif(
    engine is None, reason="a pure build has no plans and does not differ in this"
)


def differs(upstream, ours, mark=planned_only):
    """Make a test of ``function(ma)``, of what it returns: upstream's, and ours with plans."""

    def make(function):
        @mark
        def test():
            assert function(UPSTREAM) == upstream
            with plans_at_once():
                assert function(OURS) == ours

        test.pytestmark += getattr(function, "pytestmark", [])
        return test

    return make


@differs("days", None, compiled_only)
def test_accepted_the_name_in_an_attribute_error(ma):
    schema = ma.Schema.from_dict({"f": ma.fields.TimeDelta()})()
    with pytest.raises(AttributeError, match="'Schema' has no attribute 'days'") as caught:
        schema.dump({"f": type("Schema", (), {})})
    return caught.value.name


@compiled_only
def test_accepted_the_order_and_number_of_look_ups_while_a_schema_is_made():
    def asked(ma):
        names = []

        class S(ma.Schema):
            f = ma.fields.Raw()

            def __getattribute__(self, name):
                names.append(name)
                return object.__getattribute__(self, name)

        S()
        return names

    assert asked(UPSTREAM) != asked(OURS)
    assert set(asked(UPSTREAM)) == set(asked(OURS))


@differs([20, 20], [0, 0])
def test_accepted_copying_that_no_class_defines(ma):
    def copied(defined):
        seen = []
        Own = subclass(ma.fields.Integer)

        class S(ma.Schema):
            a = Own()

            def on_bind_field(self, field_name, field_obj):
                pass

        def reduced(field):
            seen.append(field)
            return Own, ()

        if defined == "on the field":
            S._declared_fields["a"].__reduce_ex__ = lambda protocol: reduced(protocol)
        with mock.patch.dict(copyreg.dispatch_table, {Own: reduced} if defined == "there" else {}):
            for _ in range(20):
                assert S().load({"a": "1"}) == {"a": 1}
        return len(seen)

    return [copied(defined) for defined in ("on the field", "there")]


def fresh(ma):
    cls = ma.Schema.from_dict({"f": ma.fields.Raw()})
    with plans_at_once():
        cls()
        return cls()


@planned_only
@lazily
@pytest.mark.parametrize(
    "look", [lambda one: delattr(one, "fields"), lambda one: object.__getattribute__(one, "fields")]
)
def test_accepted_looking_past_attribute_access(look):
    look(fresh(UPSTREAM))
    schema = fresh(OURS)
    with pytest.raises(AttributeError):
        look(schema)
    assert "f" in schema.fields
    look(schema)


CHANGES = written(
    {}, "cls",
    getattr="""def unheard(self, name):
    raise AttributeError(f"asked for {name}")
cls.__getattr__ = unheard""",
    getattribute="cls.__getattribute__ = lambda self, name: object.__getattribute__(self, name)",
    bases='cls.__bases__ = (type("Other", cls.__bases__, {}),)',
)  # fmt: skip


@planned_only
@lazily
@pytest.mark.parametrize("change", CHANGES)
def test_accepted_attribute_access_redefined_before_somebody_looks(change):
    schema = fresh(UPSTREAM)
    CHANGES[change](type(schema))
    assert "f" in schema.fields
    schema, looked_into = fresh(OURS), fresh(OURS)
    assert "f" in looked_into.fields
    for each in (schema, looked_into):
        CHANGES[change](type(each))
    with pytest.raises(AttributeError):
        assert schema.fields
    # Everything else goes on, and what uses the schema builds it.
    assert schema.dump({"f": 1}) == {"f": 1}
    assert schema.load({"f": 1}) == {"f": 1}
    assert "f" in schema.fields
    assert "f" in looked_into.fields
    assert "f" in type(schema)().fields


@differs(True, False)
def test_accepted_an_error_that_is_never_raised_has_a_traceback(ma):
    kept = []

    class Keeping(ma.fields.Integer):
        def make_error(self, key, **kwargs):
            kept.append(super().make_error(key, **kwargs))
            return kept[-1]

    schema = ma.Schema.from_dict({"f": Keeping(required=True)})()
    missing = ["Missing data for required field."]
    assert schema.validate({}) == {"f": missing}
    assert kept[-1].messages == missing
    return kept[-1].__traceback__ is not None


@differs([{"a": "a", "changed": 1}] * 2, [{"a": "a", "b": 1}, {"a": "a", "changed": 1}])
@without("fields.Field._creation_index")
def test_accepted_a_field_that_changes_its_own_schema_is_seen_by_the_next_call(ma):
    class S(ma.Schema):
        a = ma.fields.Method("change")
        b = ma.fields.Raw()

        def change(self, obj):
            self.fields["b"].data_key = "changed"
            return "a"

    schema = S()
    for _ in range(2):
        schema.fields["b"].data_key = "b"
        schema.dump({"b": 0})
    schema.fields["b"].data_key = "b"
    return [schema.dump({"b": 1}), schema.dump({"b": 1})]


@differs([1, 1, 1], [0, 1, 1])
@without("schema.Schema._has_processors")
def test_accepted_a_hook_that_a_field_adds_is_called_by_the_next_call(ma):
    class S(ma.Schema):
        f = ma.fields.Function(lambda obj: 1, deserialize=lambda value: add())

        def process(self, data, **kwargs):
            calls[-1] += 1
            return data

    def add():
        S._hooks["post_load"][:] = [("process", False, {})]
        return 1

    calls = []
    schema = S()
    for _ in range(3):
        schema.load({})
    for _ in range(3):
        calls.append(0)
        schema.load({"f": 1})
    return calls


@differs(["written", "written"], ['{"a": 1}', "written"])
def test_accepted_a_render_module_that_a_hook_sets_is_used_by_the_next_call(ma):
    class Text:
        @staticmethod
        def dumps(data, **options):
            return "written"

    class S(ma.Schema):
        a = ma.fields.Raw()

        @ma.pre_dump
        def change(self, data, **kwargs):
            if data["a"]:
                self.opts.render_module = Text
            return data

    schema = S()
    return [schema.dumps({"a": number}) for number in (0, 0, 1, 1)][2:]


@differs(["replaced", "replaced"], ['{"a": 1}', "replaced"])
def test_accepted_json_that_is_replaced_during_a_call_is_seen_by_the_next_call(ma):
    class Row:
        @property
        def a(self):
            patch.setattr(json, "dumps", lambda *args, **options: "replaced")
            return 1

    schema = ma.Schema.from_dict({"a": ma.fields.Integer()})()
    schema.dumps({"a": 1})
    with pytest.MonkeyPatch.context() as patch:
        return [schema.dumps(Row()), schema.dumps(Row())]


@differs([{}, {}], [{"n": {"x": ["Missing data for required field."]}}, {}])
@without("fields.Field._creation_index")
def test_accepted_a_list_of_partials_that_a_validator_changes_is_seen_by_the_next_call(ma):
    partial = ["a"]
    nested = ma.Schema.from_dict({"x": ma.fields.Integer(required=True)})
    grow = ma.fields.Integer(validate=lambda value: partial.append("n.x"))
    schema = ma.Schema.from_dict({"a": grow, "n": ma.fields.Nested(nested)})()
    return [schema.validate({"a": 1, "n": {}}, partial=partial) for _ in range(2)]


@differs([{"f": 1}, "is not iterable"], [{"f": 1}, {"f": 1}])
def test_accepted_what_is_behind_the_modules_that_helpers_use_is_not_seen(ma):
    schema = ma.Schema.from_dict({"f": ma.fields.Integer()})()
    found = [schema.load({"f": 1})]
    with mock.patch.object(inspect, "isgenerator", return_value=True):
        try:
            return [*found, schema.load({"f": 1})]
        except TypeError as error:
            return [*found, str(error).partition(" object ")[2]]


@differs([{"key 0": 0}, {"key 1": 1}], [{"b": 0}, {"b": 1}])
def test_accepted_what_a_collection_changes_is_seen_by_the_next_call(ma):
    schema = ma.Schema.from_dict({"b": ma.fields.Raw()})()

    def objects():
        for number in range(2):
            schema.fields["b"].data_key = f"key {number}"
            yield {"b": number}

    schema.dump({"b": 0})
    return schema.dump(objects(), many=True)


@differs([["2", "2"], ["2", "2"]], [[2, 2], ["2", "2"]])
@without("fields.Field._creation_index")
def test_accepted_a_field_that_changes_a_nested_schema_is_seen_by_the_next_call(ma):
    class Changing(ma.fields.Integer):
        def _serialize(self, value, *args, **kwargs):
            self.parent.fields["b"].as_string = value == 1
            return value

    item = ma.Schema.from_dict({"a": Changing(), "b": ma.fields.Integer()})
    schema = ma.Schema.from_dict({"items": ma.fields.List(ma.fields.Nested(item))})()
    schema.dump({"items": [{"a": 0, "b": 2}] * 2})
    return [
        [item["b"] for item in schema.dump({"items": [{"a": 1, "b": 2}] * 2})["items"]]
        for _ in range(2)
    ]


@differs(["who", "who"], ["child,who", "who"])
@without("fields.Field._creation_index")
def test_accepted_an_instance_that_nests_itself_is_bound_anew_for_the_next_call(ma):
    class Node(ma.Schema):
        child = ma.fields.Nested(lambda: node, only=("who",))
        who = ma.fields.Method("get_who")

        def get_who(self, obj):
            return ",".join(self.fields)

    node = None
    for _ in range(8):
        node = Node()
        seen = [node.dump({"child": {}})["who"] for _ in range(2)]
    return seen


@planned_only
@pytest.mark.parametrize("used_in", ["dump", "load"])
def test_accepted_what_was_replaced_goes_with_the_next_use(used_in):
    class Big:
        """A default that a program replaces to be rid of it."""

    schema = OURS.Schema.from_dict({"a": OURS.fields.Raw(load_default=None)})()
    schema.fields["a"].load_default = Big()
    replaced = weakref.ref(schema.fields["a"].load_default)
    for _ in range(20):  # A plan is made at the sixteenth use.
        schema.load({"a": 1})
    schema.fields["a"].load_default = None
    gc.collect()
    assert replaced() is not None
    for _ in range(20):
        getattr(schema, used_in)({"a": 1})
    gc.collect()
    assert replaced() is None


def interpreted(program, *options):
    done = subprocess.run(
        [sys.executable, *options, "-c", program], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@compiled_only
def test_accepted_docstrings_without_docstrings():
    program = "from {} import Schema; print(Schema.__doc__ is None, Schema.dump.__doc__ is None)"
    assert interpreted(program.format("marshmallow"), "-OO") == "True True"
    assert interpreted(program.format("althaia.marshmallow"), "-OO") == "False False"
    assert interpreted(program.format("althaia.marshmallow")) == "False False"


@compiled_only
def test_accepted_modules_are_made_once():
    program = """
import sys, {0} as first
for name in [name for name in sys.modules if name.startswith({0!r})]:
    del sys.modules[name]
import {0} as second
print(first is second, first.Schema is second.Schema, first.Schema().dump({{}}))
"""
    assert interpreted(program.format("marshmallow")) == "False False {}"
    shown = interpreted(program.format("althaia.marshmallow").replace(" as", "  as"))
    assert shown.split()[1:] == ["True", "{}"]


@differs([TypeError] * 3, [type(None)] * 3)
def test_accepted_nothing_is_handled_while_an_attribute_is_asked_for(ma):
    class Row(tuple):
        @property
        def total(self):
            raise ValueError("no total")

    schema = ma.Schema.from_dict({"total": ma.fields.Integer()})()
    found = []
    for _ in range(3):
        with pytest.raises(ValueError, match="no total") as caught:
            schema.dump(Row())
        found.append(type(caught.value.__context__))
    return found


@differs("schema.py", Path(__file__).name, compiled_only)
@pytest.mark.skipif(engine is None, reason="marshmallow's own code makes instances")
def test_accepted_the_line_of_a_warning_from_on_bind_field(ma):
    class S(ma.Schema):
        a = ma.fields.Integer()

        def on_bind_field(self, field_name, field_obj):
            warnings.warn("bound", stacklevel=2)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        S()
    return Path(caught[0].filename).name


@planned_only
@pytest.mark.parametrize(("change", "given"), [("append", (1, 2)), ("pop", (1,))])
def test_accepted_a_list_that_changes_while_a_tuple_loads_it(change, given):
    items = [1, 2]
    raw = OURS.fields.Raw(validate=lambda value: getattr(items, change)(*[3] * (change != "pop")))
    with plans_at_once():
        loaded = OURS.Schema.from_dict({"f": OURS.fields.Tuple((raw, raw))})().load({"f": items})
    assert loaded == {"f": given}


@planned_only
def test_accepted_instances_that_share_a_dictionary_have_methods_of_their_own():
    def called(ma):
        class S(ma.Schema):
            a = ma.fields.Method("name")

            def name(self, obj):
                return "first" if self is first else "second"

        first = S()
        with plans_at_once():
            first.dump({})
            second = S.__new__(S)
            second.__dict__ = first.__dict__
            return second.dump({})["a"]

    assert (called(UPSTREAM), called(OURS)) == ("first", "second")


@differs(UnboundLocalError, OURS.ValidationError)
def test_accepted_an_error_without_messages_of_a_hook(ma):
    class S(ma.Schema):
        @ma.pre_load
        def fail(self, data, **kwargs):
            raise ma.ValidationError({})

    with pytest.raises((UnboundLocalError, ma.ValidationError)) as caught:
        S().load({})
    return caught.type
