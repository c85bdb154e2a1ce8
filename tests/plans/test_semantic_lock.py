"""A function of upstream's that has changed costs what was planned for it.

Every entry of the semantic lock is taken for changed, one at a time, and a broad set of schemas is
analysed: some plan must then be narrower, or the entry stands in ``NO_PLAN_DEPENDS_ON`` with its
reason.
"""

from __future__ import annotations

import enum
import re
from pathlib import Path
from typing import Any

import pytest

from althaia import marshmallow as ma
from althaia import seam
from althaia.engine import planner
from althaia.engine.analysis import schema_class as analyse_class
from althaia.engine.kinds import KINDS
from althaia.engine.steps import DUMP, LOAD, analyse, by_function
from althaia.engine.upstream import Upstream
from althaia.releases import meanings

fields, validate = ma.fields, ma.validate
ROOT = Path(__file__).parents[2]

NO_PLAN_DEPENDS_ON: dict[str, tuple[str, ...]] = {
    "a module's imports, constants and tables: plans watch each name of them that they use": (
        "__init__|class_registry|constants|decorators|error_store|exceptions|fields|orderedset",
        r"schema|types|utils|validate|experimental\.(__init__|context)",
    ),
    "a class's own attributes: read of the class when a plan is made, and watched": (
        r"fields\.(?!_resolve)\w+",
        r"validate\.(?!And$|Email$)\w+",
        r"validate\.URL\.RegexMemoizer",
        r"schema\.(Schema|SchemaMeta|SchemaOpts|Schema\.Meta)",
    ),
    "makes a field, validator or schema class, which is read when it is made": (
        r"(fields|validate)\.(?!And\b)\w+\.__init__",
        r"fields\.(Mapping\.mapping_type|Number\.num_type|Field\._normalize_processors)",
        r"fields\._resolve_field_instance",
        r"schema\.(SchemaMeta\.(__init__|__new__|get_declared_fields)|SchemaOpts\.__init__)",
        r"schema\.(_get_fields|_get_fields_by_mro|Schema\.from_dict)",
    ),
    "only shown": (r"(fields|validate|schema)\.\w+\.(__repr__|_repr_args)",),
    "words a message, and is called for it": (
        r"validate\.(?!Email|URL)\w+\._format_error",
        r"fields\.Field\.make_error",
    ),
    "a validator that plans call": (
        r"validate\.(ContainsNoneOf|ContainsOnly|Predicate|Validator)\.__call__",
        r"validate\.OneOf\.options",
    ),
    "a format that plans leave to upstream, or a function that they call": (
        r"fields\.\w+\._make_object_from_format",
        r"utils\.(from_timestamp|from_timestamp_ms|timestamp|timestamp_ms)",
    ),
    "called by plans, or by what they call, as it is": (
        r"class_registry\.(get_class|register)",
        r"schema\.Schema\.(_run_validator|validate)",
        r"exceptions\.ValidationError\.(messages_dict|normalized_messages)",
    ),
    "text is loaded without a dictionary only where it means what it meant: engine.connect": (
        r"schema\.Schema\.loads",
    ),
    "marks a method by decorators.set_hook, which narrows plans": (
        r"decorators\.(post_dump|post_load|pre_dump|pre_load|validates|validates_schema)",
    ),
    "an error that plans neither raise nor catch": (
        r"exceptions\.(MarshmallowError|RegistryError|StringNotCollectionError)",
        r"exceptions\._FieldInstanceResolutionError",
    ),
    "a value or collection that plans pass on": (
        r"constants\._Missing(\.\w+)?",
        r"orderedset\.OrderedSet(\.\w+)?",
    ),
    "types and contexts that neither dumping nor loading asks": (
        r"types\..+",
        r"experimental\.context\..+",
    ),
}
"""Reasons, each with regular expressions for the entries that it holds for."""


class Colour(enum.Enum):
    RED = 1


class Inner(ma.Schema):
    name = fields.String()


class Broad(ma.Schema):
    raw = fields.Raw()
    string = fields.String(validate=[validate.Length(max=3), validate.Regexp("a")])
    email = fields.Email()
    url = fields.Url()
    integer = fields.Integer(strict=True, validate=[validate.Range(1, 3), validate.Equal(1)])
    floating = fields.Float(validate=validate.OneOf([1.0]))
    decimal = fields.Decimal(places=2, validate=validate.NoneOf([1]))
    boolean = fields.Boolean()
    moment = fields.DateTime()
    naive = fields.NaiveDateTime()
    aware = fields.AwareDateTime()
    day = fields.Date()
    clock = fields.Time()
    span = fields.TimeDelta()
    uuid = fields.UUID()
    ip = fields.IP()
    interface = fields.IPInterface()
    colour = fields.Enum(Colour)
    colour_value = fields.Enum(Colour, by_value=True)
    several = fields.List(fields.Integer())
    pair = fields.Tuple((fields.Integer(), fields.String()))
    table = fields.Dict(keys=fields.String(), values=fields.Integer())
    called = fields.Function(lambda obj: 1, lambda value: value)
    constant = fields.Constant(1)
    path = fields.String(attribute="a.b")


class Nesting(ma.Schema):
    one = fields.Nested(Inner)
    pluck = fields.Pluck(Inner, "name")


class Own(ma.Schema):
    method = fields.Method("shown", "taken")

    def shown(self, obj: Any) -> Any:
        return obj

    def taken(self, value: Any) -> Any:
        return value


SCHEMAS = (Inner, Broad, Nesting, Own)


def entries() -> list[str]:
    text = (ROOT / "althaia" / "releases" / "semantics.toml").read_text("utf-8")
    return [*meanings.Table.parse(text).functions]


def step(each: Any) -> tuple[object, ...]:
    inner = {label: step(one) for label, one in each.inner().items()}
    checks = [check.kind for check in getattr(each, "checks", None) or ()]
    source = getattr(each, "source", None)
    return each.kind, each.narrow, source, each.why, checks, inner


def planned(*unknown: str) -> list[object]:
    """All that the plans of the schemas are, if these functions had changed."""
    upstream = Upstream(frozenset(unknown))
    upstream.kinds = by_function(upstream, KINDS)
    found: list[object] = []
    for cls in SCHEMAS:
        schema = cls()
        for direction in (DUMP, LOAD):
            plan = analyse(upstream, schema, direction, None)
            found.append((plan.declined, plan.whole, plan.nestable, plan.many_allowed))
            found += [getattr(plan, name, None) for name in ("silent_errors", "straight")]
            found += map(step, plan.steps)
        guard, reason, _ = analyse_class.examine(upstream, cls, schema)
        found.append((guard is None, reason))
        found.append(seam.resolve_hooks(cls) is seam.DECLINED)
    return found


def reason_of(entry: str) -> str | None:
    for reason, patterns in NO_PLAN_DEPENDS_ON.items():
        if any(re.fullmatch(pattern, entry) for pattern in patterns):
            return reason
    return None


@pytest.fixture(scope="module")
def narrowing() -> set[str]:
    """The entries that narrow some plan where they differ."""
    usual = planned()
    found = set()
    with pytest.MonkeyPatch.context() as patch:
        for entry in entries():
            patch.setattr(seam, "_unknown", frozenset({entry}))
            if planned(entry) != usual:
                found.add(entry)
    return found


def test_everything_is_planned_as_long_as_nothing_differs() -> None:
    for schema in SCHEMAS:
        for build in (planner.build, planner.build_load):
            plan = build(schema())
            assert not plan.declined
            assert [each.why for each in plan.steps if each.why] == []


def test_each_entry_narrows_a_plan_or_has_a_reason_not_to(narrowing: set[str]) -> None:
    assert [e for e in entries() if e not in narrowing and reason_of(e) is None] == []


def test_what_no_plan_depends_on_narrows_none(narrowing: set[str]) -> None:
    assert [e for e in entries() if e in narrowing and reason_of(e) is not None] == []


@pytest.mark.parametrize(
    "pattern", [p for patterns in NO_PLAN_DEPENDS_ON.values() for p in patterns]
)
def test_each_pattern_stands_for_something(pattern: str) -> None:
    assert any(re.fullmatch(pattern, entry) for entry in entries())
