"""Which plans rest on a function of upstream's: ``python -m tests.plans.narrowing FUNCTION…``."""

import json
import re
import sys
from pathlib import Path

from althaia import marshmallow as ma, seam
from althaia.engine.analysis import examine
from althaia.engine.kinds import KINDS, PACKAGES
from althaia.engine.plan import Upstream
from althaia.engine.planner import analyse, by_function, by_name
from althaia.releases import meanings
from tests.conformance.material import FIELDS

fields, validate = ma.fields, ma.validate
ROOT = Path(__file__).parents[2]

NO_PLAN_DEPENDS_ON = {
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
        r"validate\.\w+\._format_error",
        r"fields\.Field\.make_error",
    ),
    "a validator that plans call": (
        r"validate\.(ContainsNoneOf|ContainsOnly|Equal|NoneOf|Predicate|Validator)\.__call__",
        r"validate\.OneOf\.options",
    ),
    "a format that plans leave to upstream, or a function that they call": (
        r"fields\._TemporalField\._make_object_from_format",
        r"utils\.(from_timestamp|from_timestamp_ms|timestamp|timestamp_ms)",
    ),
    "called by plans, or by what they call, as it is": (
        r"class_registry\.(get_class|register)",
        r"schema\.Schema\.(_run_validator|validate)",
        r"exceptions\.ValidationError\.(messages_dict|normalized_messages)",
    ),
    "text is loaded without a dictionary only where it means what it meant: door.connect": (
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


def _schema(name, *beginnings, others=False):
    """A schema of the fields in ``FIELDS`` whose names begin so, or of all others."""
    made = {
        f"field_{number}": make(ma)
        for number, (kind, make) in enumerate(FIELDS.items())
        if kind.startswith(beginnings) is not others
    }
    return ma.Schema.from_dict(made, name=name)


NESTING = ("nested", "pluck", "list-nested", "list-pluck", "dict-nested")
Broad = _schema("Broad", *NESTING, others=True)
Nesting = _schema("Nesting", *NESTING)


class Checked(ma.Schema):
    string = fields.String(validate=validate.Regexp("a"))
    integer = fields.Integer()
    decimal = fields.Decimal()
    path = fields.String(attribute="a.b")


class Own(ma.Schema):
    method = fields.Method("shown", "taken")

    def shown(self, obj):
        return obj

    def taken(self, value):
        return value


SCHEMAS = (Broad, Nesting, Checked, Own)


def entries():
    """The functions of the release that the plans were written against."""
    text = (ROOT / "althaia" / "releases" / "semantics.toml").read_text("utf-8")
    return [*meanings.Table.parse(text).functions]


def step(each):
    inner = {label: step(one) for label, one in each.inner().items()}
    checks = [check.label for check in getattr(each, "checks", None) or ()]
    source = getattr(each, "source", None)
    return each.label, each.narrow, source, each.why, checks, inner


def planned(*unknown):
    """All that the plans of the schemas are, if these functions had changed."""
    upstream = Upstream(frozenset(unknown))
    upstream.makers_by_function = by_function(upstream, KINDS)
    upstream.makers_by_name = by_name(PACKAGES)
    found = {}
    for cls in SCHEMAS:
        schema = cls()
        for direction, word in ((0, "dump"), (1, "load")):
            plan = analyse(upstream, schema, direction, None)
            whole = [plan.declined, plan.whole, plan.nestable, plan.many_allowed]
            whole += [getattr(plan, name, None) for name in ("silent_errors", "straight")]
            found[f"each {word} of {cls.__name__}"] = whole
            for number, each in enumerate(plan.steps):
                kind = type(each.field).__name__
                found[f"{word} of {kind} ({cls.__name__}, {number})"] = step(each)
        _, reason = examine(upstream, schema)
        found[f"lazy instances of {cls.__name__}"] = (bool(reason), reason)
        found[f"quick hooks of {cls.__name__}"] = seam.resolve_hooks(cls) is seam.DECLINED
    return found


def narrowed(entry):
    """What of the schemas' plans rests on a function, in words."""
    before = seam.unknown
    usual = planned()
    seam.unknown = frozenset({entry})
    try:
        found = planned(entry)
    finally:
        seam.unknown = before
    names = dict.fromkeys([*usual, *found])
    return [name for name in names if usual.get(name) != found.get(name)]


def reason_of(entry):
    """Why no plan rests on a function, if that is known."""
    for reason, patterns in NO_PLAN_DEPENDS_ON.items():
        if any(re.fullmatch(pattern, entry) for pattern in patterns):
            return reason
    return None


def in_words(entry):
    """The same in few words: a kind of field is named once, whatever schema it is in."""
    found = {line.partition(" (")[0] for line in narrowed(entry)}
    if not found:
        return [f"nothing: {reason_of(entry) or 'no plan of these schemas changes'}"]
    whole = {
        words.partition(" of ")[0] for words in found if not words.startswith(("dump", "load"))
    }
    told = sorted(whole)
    for word in ("dump", "load"):
        kinds = sorted(each.partition(" of ")[2] for each in found if each.startswith(word))
        if kinds and f"each {word}" not in whole:
            told.append(f"{word} of {', '.join(kinds)}")
    return told


if __name__ == "__main__":
    print(json.dumps({name: in_words(name) for name in sys.argv[1:]}))
