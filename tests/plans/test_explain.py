"""What ``althaia.explain`` says."""

import copy
import enum
import json
import types
from unittest import mock

import marshmallow as real
import pytest

import althaia
from althaia import marshmallow as ma
from althaia.engine.explain import DEEPEST

fields = ma.fields


class Colour(enum.Enum):
    RED = 1


class Slug(fields.String):
    def _serialize(self, value, attr, obj, **kwargs):
        return "slug"

    def _bind_to_schema(self, field_name, parent):
        super()._bind_to_schema(field_name, parent)


class Inner(ma.Schema):
    number = fields.Integer(data_key="No")


class Order(ma.Schema):
    id = fields.UUID()
    city = fields.String(attribute="address.city")
    colours = fields.List(fields.Enum(Colour))
    prices = fields.Dict(keys=fields.String(), values=Slug())
    inner = fields.Nested(Inner, many=True)
    total = fields.Method("sum_up")
    unknown = fields.Nested("NobodyKnowsThisSchema")

    def sum_up(self, obj):
        return 1

    @ma.post_dump
    def wrap(self, data, **kwargs):
        return data


ORDER = """\
tests.plans.test_explain.Order
  instances: built in full, because tests.plans.test_explain.Slug defines _bind_to_schema
  dump: 6 of 7 fields planned (prices.values runs its own code, as slowly as without althaia), \
a nested schema of unknown is unknown
    id: UUID, from 'id'  (althaia.marshmallow.fields.UUID)
    city: text, from 'address.city'  (althaia.marshmallow.fields.String)
    colours: list, from 'colours'  (althaia.marshmallow.fields.List)
      items: enum  (althaia.marshmallow.fields.Enum)
        name: text  (althaia.marshmallow.fields.String)
    prices: dict, from 'prices'  (althaia.marshmallow.fields.Dict)
      keys: text  (althaia.marshmallow.fields.String)
      values: field's own _serialize  (tests.plans.test_explain.Slug)
        left to the field: _serialize is overridden by tests.plans.test_explain.Slug
    inner: nested schema, from 'inner'  (althaia.marshmallow.fields.Nested)
      tests.plans.test_explain.Inner (many)
        dump: 1 of 1 field planned
          number: int, from 'number', as 'No'  (althaia.marshmallow.fields.Integer)
          guard: GUARD
    total: function, from no attribute  (althaia.marshmallow.fields.Method)
    unknown: nested schema, from 'unknown'  (althaia.marshmallow.fields.Nested)
      nested schema unknown: RegistryError: Class with name 'NobodyKnowsThisSchema' was not \
found. You may need to import the class.
    to text: by way of dictionaries, because the post_dump hook wrap is given them
    post_dump: wrap
    guard: GUARD"""


def dump_text(schema):
    """The explanation without the load side and without the guards' counts."""
    shown = []
    skipped = None
    for line in althaia.explain(schema).as_text().splitlines():
        depth = len(line) - len(line.lstrip())
        if skipped is not None and depth > skipped:
            continue
        # Other tests of this process have imported libraries that have readers.
        left_out = line.lstrip().startswith(("load:", "objects of "))
        skipped = depth if left_out else None
        if skipped is None:
            head, colon, _ = line.partition("guard: ")
            shown.append(f"{head}guard: GUARD" if colon else line)
    return "\n".join(shown)


def told(schema):
    """The explanation as attributes instead of keys."""
    text = json.dumps(althaia.explain(schema).as_dict())
    return json.loads(text, object_hook=lambda found: types.SimpleNamespace(**found))


def field(explanation, name):
    return next(each for each in explanation.dump.fields if each.name == name)


def test_the_tree():
    assert dump_text(Order) == ORDER
    assert dump_text(Order()) == ORDER


class Signup(ma.Schema):
    name = fields.String(
        data_key="Name", attribute="full.name", validate=[ma.validate.Length(min=1), str.isupper]
    )
    mail = fields.Email()
    slug = Slug()
    odd = type("Odd", (fields.Raw,), {"deserialize": lambda *args, **kwargs: 1})()
    inner = fields.Nested(Inner)

    @ma.validates("name")
    def check_name(self, value, **kwargs): ...


def test_the_load_side():
    load = told(Signup).load
    assert vars(load.hooks) == {"validates": ["check_name"]}
    name, mail, slug, odd, inner = load.fields
    assert (name.step, name.reads, name.key, name.source) == ("text", "Name", "full.name", "key")
    assert name.checks == ["length", "called"]
    assert mail.checks == ["e-mail"]
    assert slug.narrow
    assert (odd.step, odd.source) == ("field's own deserialize", "deserialize")
    assert not odd.narrow
    assert inner.nested.load
    assert inner.nested.dump is None
    text = althaia.explain(Signup).as_text()
    assert "    name: text, from 'Name', as 'full.name'" in text
    assert "      checks: length, called" in text
    assert "  load: 4 of 5 fields planned (odd runs its own code, as slowly as without " in text


def test_the_schema_is_left_as_it_was():
    New = type("New", (Order,), {})
    schema = New()
    before, kind = copy.copy(vars(schema)), type(vars(schema))
    states = {name: copy.copy(vars(each)) for name, each in schema.fields.items()}
    althaia.explain(schema)
    assert vars(schema) == before
    assert {name: vars(each) for name, each in schema.fields.items()} == states
    assert type(vars(schema)) is kind


def test_a_used_schema_and_its_resolved_nested_schema():
    schema = Order(only=("inner",))
    schema.dump({"inner": [{"number": 1}]})
    schema.fields["inner"].schema.fields["number"].data_key = "seen"
    nested = field(told(schema), "inner").nested
    assert field(nested, "number").key == "seen"


@pytest.mark.parametrize("wrong", [3, int, None, "Order", object(), type])
def test_no_schema_at_all(wrong):
    with pytest.raises(TypeError, match="a marshmallow schema class or instance is needed, not"):
        althaia.explain(wrong)


@pytest.mark.parametrize("wrong", [real.Schema, real.Schema(), real.Schema.from_dict({})])
def test_a_schema_of_the_real_marshmallow(wrong):
    explanation = althaia.explain(wrong)
    assert "of the real marshmallow: call althaia.patch()" in explanation.as_dict()["no_plans"]
    assert explanation.summary().startswith("no plans run: ")
    disabled = types.SimpleNamespace(disable=True)
    with mock.patch("althaia.engine.explain.settings", return_value=disabled):
        assert "no plans run: ALTHAIA_DISABLE is set" in althaia.explain(wrong).as_text()


def test_schemas_that_nest_themselves_end():
    class Node(ma.Schema):
        up = fields.Nested(lambda: Node())
        down = fields.List(fields.Nested(lambda: Node(exclude=("down",))))

    text = althaia.explain(Node).as_text()
    assert "Node: as above" in text
    assert len(text.splitlines()) < 100


def test_schemas_that_nest_ever_new_ones_end():
    def deeper():
        return ma.Schema.from_dict({"n": fields.Nested(deeper)})()

    explanation = althaia.explain(deeper()).as_dict()
    for direction in ("dump", "load"):
        depth, innermost = 1, explanation
        while shown := innermost[direction]:
            innermost = shown["fields"][0]["nested"]
            depth += 1
        assert depth == DEEPEST + 1


class Accessor(ma.Schema):
    n = fields.Integer()
    s = Slug()

    def get_attribute(self, obj, attr, default):
        return default


def test_an_accessor_of_the_users():
    explanation = told(Accessor)
    number = field(explanation, "n")
    assert (number.step, number.source, number.narrow) == ("int", "get_attribute", True)
    assert number.why == "get_attribute is overridden by tests.plans.test_explain.Accessor"
    slug = field(explanation, "s")
    assert not slug.narrow
    assert slug.why == (
        "get_attribute is overridden by tests.plans.test_explain.Accessor; "
        "_serialize is overridden by tests.plans.test_explain.Slug"
    )
    assert "  dump: 1 of 2 fields planned (s runs its own code, " in dump_text(Accessor)


def test_schema_methods_of_the_users():
    class Own(ma.Schema):
        def dump(self, obj, *, many=None):
            return super().dump(obj, many=many)

    schema = Own()
    schema._serialize = lambda obj, *, many=False: {}
    assert told(schema).dump.overridden == [
        f"dump, of {__name__}.{Own.__qualname__}",
        "_serialize, set on the instance",
    ]


def test_a_declined_schema():
    class Own(ma.Schema):
        def __getattribute__(self, name):
            return super().__getattribute__(name)

    explanation = told(Own)
    assert explanation.dump.declined.startswith("__getattribute__ is overridden by ")
    assert explanation.built.startswith("__getattribute__ is overridden by ")
    assert dump_text(Own).splitlines()[2] == (
        f"  dump: no plan, all of it runs upstream's code ({explanation.dump.declined})"
    )


def test_keys_and_sources_in_words():
    class Odd(fields.Integer):
        def get_value(self, obj, attr, accessor=None, default=None):
            return 1

    class Own(ma.Schema):
        computed = Odd()
        fixed = fields.Constant(3)
        whole = type("Whole", (fields.Raw,), {"serialize": lambda *args, **kwargs: 1})()

    text = althaia.explain(Own).as_text()
    assert " computed: int, from its own get_value" in text
    assert " fixed: constant, from no attribute" in text
    assert " whole: field's own serialize, from the field itself" in text


class OwnDumps(Inner):
    def dumps(self, *args, **kwargs):
        return super().dumps(*args, **kwargs)


class Rendered(Inner):
    class Meta:
        render_module = ma


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (Inner, ""),
        (Order, "the post_dump hook wrap is given them"),
        (OwnDumps, "the schema has its own dumps, of tests.plans.test_explain.OwnDumps"),
        (Rendered, "it is written by althaia.marshmallow"),
    ],
)
def test_whether_it_goes_straight_to_text(schema, reason):
    explanation = althaia.explain(schema)
    assert explanation.as_dict()["dump"]["text"] == reason
    assert ("to text: straight" in explanation.as_text()) is (reason == "")


class OwnSerialize(Inner):
    def _serialize(self, obj, *, many=False):
        return super()._serialize(obj, many=many)


class Inside(ma.Schema):
    slug = Slug()
    lost = fields.Nested("no such schema anywhere")


class Namespace(ma.Schema, types.SimpleNamespace):
    number = fields.Integer()


def without_a_class():
    schema = Inner()
    vars(schema)["dict_class"] = 3
    return schema


OWN = "as slowly as without althaia)"
NO_PLAN = "no plan, all of it runs upstream's code"
SUMMARIES = {
    "all": (Inner, "dump: 1 of 1 field planned; load: 1 of 1 field planned"),
    "own code": (
        Order,
        f"dump: 6 of 7 fields planned (prices.values runs its own code, {OWN}, a nested schema of "
        "unknown is unknown; load: 5 of 6 fields planned, a nested schema of unknown is unknown; "
        f"each instance is built in full, because {__name__}.Slug defines _bind_to_schema",
    ),
    "nested": (
        lambda: ma.Schema.from_dict({"inside": fields.List(fields.Nested(Inside))}),
        f"dump: 1 of 1 field planned (inside.items.slug runs its own code, {OWN}, a nested schema "
        "of inside is unknown; load: 1 of 1 field planned, a nested schema of inside is unknown",
    ),
    "own methods": (
        OwnSerialize,
        f"dump: 1 of 1 field planned, the schema has its own _serialize, of {__name__}."
        "OwnSerialize; load: 1 of 1 field planned",
    ),
    "no plan": (
        without_a_class,
        f"dump: {NO_PLAN} (dict_class is no class); load: {NO_PLAN} (dict_class is no class)",
    ),
    "no dictionary": (Namespace, "(the dictionary of an instance cannot be replaced)"),
    "many": (
        lambda: ma.Schema.from_dict({f"f{n}": Slug() for n in range(9)}),
        "0 of 9 fields planned (f0, f1, f2, f3, f4, … run their own code",
    ),
}


@pytest.mark.parametrize("name", SUMMARIES)
def test_the_summary_says_what_is_left_and_what_it_costs(name):
    make, text = SUMMARIES[name]
    explanation = althaia.explain(
        make() if "lambda" in make.__name__ or name == "no plan" else make
    )
    summary = explanation.summary()
    assert summary == text if text.startswith("dump: ") else text in summary
    assert repr(explanation) == f"<Explanation of {explanation.as_dict()['schema']}: {summary}>"


def test_the_short_text_leaves_out_the_guard_and_says_why_instances_are_built_in_full():
    explanation = althaia.explain(Order)
    lines = explanation.as_text(verbose=False).splitlines()
    whole = explanation.as_text().splitlines()
    assert lines == [line for line in whole if "guard:" not in line] != whole

    class Bound(ma.Schema):
        def on_bind_field(self, field_name, field_obj): ...

    Around = type("Around", (ma.Schema,), {"inside": fields.Nested(Bound)})
    lines = althaia.explain(Around).as_text(verbose=False).splitlines()
    assert [line.strip() for line in lines if "built in full" in line] == [
        "instances: built in full, because on_bind_field is overridden by "
        f"{__name__}.{Bound.__qualname__}"
    ] * 2


def test_a_replaced_method_goes_by_its_own_name():
    Plain = type("Plain", (ma.Schema,), {"number": fields.Integer()})

    def bind(self, name, field): ...

    assert told(Plain).built == ""
    with mock.patch.object(ma.Schema, "_bind_field", bind):
        built = told(Plain).built
    assert built == f"_bind_field is overridden by {__name__}.{bind.__qualname__}"
    with mock.patch.object(ma.Schema, "_normalize_nested_options", mock.Mock()):
        built = told(Plain).built
    assert built == "_normalize_nested_options is overridden by unittest.mock.Mock"
    original = ma.Schema._init_fields
    with mock.patch.object(ma.Schema, "_init_fields", lambda self: original(self)):
        assert told(Plain).built == "", "instances stay lazy"


def test_the_steps_of_all_depths_with_their_reasons():
    class Odd(Inner):
        class Meta:
            ordered = True

        def __getattribute__(self, name):
            return super().__getattribute__(name)

    class Outside(ma.Schema):
        plain = fields.Integer()
        slugs = fields.List(Slug())
        odd = fields.Nested(Odd)
        lost = fields.Nested("no such schema anywhere")

    steps = althaia.explain(Outside).steps()
    found = {step.path: step for step in steps if step.direction == "dump"}
    assert list(found) == ["plain", "slugs", "slugs.items", "odd", "lost"]
    assert {path for path, step in found.items() if step.why} == {"slugs.items", "odd"}
    assert found["odd"].why.startswith("__getattribute__ is overridden by ")
    assert found["lost"].unresolved.startswith("RegistryError: ")
