"""Explain a schema's plans: each field, its step, and why it has no narrower one.

Each explanation runs the analysis again. It publishes nothing and leaves the schema as it was. It
resolves nested schemas on a copy of their field.
"""

from __future__ import annotations

import copy
import sys
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from althaia import seam
from althaia.switch.config import settings
from althaia.switch.release import why_no_plans

if TYPE_CHECKING:
    from althaia.engine.plan import Upstream

MOST_NAMED = 5
"""Fields or schemas that one line names."""

DEEPEST = 40
"""The most levels of nesting shown. Schemas that make new nested schemas would never end."""

OTHER_METHODS = {"dump": (), "dumps": ("dumps",), "load": ("_call_and_store", "handle_error")}
"""Methods of the schema that upstream's code calls, besides those that plans replace: an override
is shown."""

HOOKS = {
    "dump": ("pre_dump", "post_dump"),
    "load": ("pre_load", "validates", "validates_schema", "post_load"),
}

SOURCES = ("nothing", "key", "path", "get_attribute", "get_value", "serialize")
_IN_WORDS = {
    "nothing": "no attribute",
    "get_attribute": "the schema's get_attribute",
    "get_value": "its own get_value",
    "serialize": "the field itself",
    "deserialize": "the field itself",
}


Data = dict[str, Any]
"""A part of an explanation, as plain data."""


class Step(NamedTuple):
    """A step of a dump or load, at any depth."""

    direction: str
    path: str
    why: str
    """Why the user's or marshmallow's own code runs, which is not faster; "" if it is planned."""
    unresolved: str = ""
    """Why the schema that is nested here is not known; "" if it is."""

    @property
    def reason(self) -> str:
        """Why it is outside the plan; "" if it is not."""
        return self.unresolved or self.why


class Explanation:
    """The answer of :func:`althaia.explain`: its data, and how they read."""

    def __init__(self, data: Data) -> None:
        self._data = data

    def as_dict(self) -> Data:
        """Return all of it as plain data, ready for JSON.

        ``dump`` and ``load`` are None if no plans run (``no_plans`` says why), or if the schema was
        shown further up (``seen``). ``built`` is the reason why each instance of the class is built
        in full when it is made, "" if its instances are lazy. ``readers`` are the objects of
        imported libraries that dumps read directly, each with "" or with the reason why they are
        read as marshmallow does.

        Of a direction, ``declined`` is the reason why there is no plan at all, else "".
        ``overridden`` are the schema's own methods that upstream's code calls, each with its
        origin; ``whole`` is False if they run around the plan. ``hooks`` are the names of hooks by
        kind. ``guard`` is the number of things that each call compares. ``text`` is the reason why
        ``dumps`` makes dictionaries first, "" if it writes text straight from the objects; None for
        a load and for nested schemas.

        Of a field, ``name`` is its name or, inside another field, what it is there (``items``,
        ``keys``). A dump ``reads`` an attribute of the object and writes a ``key``; a load
        ``reads`` a key of the data and writes one to the result. ``narrow`` says whether the plan
        converts values of the usual types itself; ``why`` is the reason if the step is more general
        than the field's kind would need. ``checks`` are the kinds of its validators, ``called`` for
        any of the user's.
        """
        return self._data

    def steps(self) -> Iterator[Step]:
        """Yield the steps of both directions, nested schemas' included."""
        return _steps(self._data)

    def summary(self) -> str:
        """Return one line: how much is planned, and what stays outside at which price.

        >>> explain(UserSchema).summary()
        'dump: 2 of 2 fields planned; load: 2 of 2 fields planned'
        """
        if self._data["no_plans"]:
            return f"no plans run: {self._data['no_plans']}"
        parts = [_summary(each) for each in _directions(self._data)]
        if self._data["built"]:
            parts.append(f"each instance is built in full, because {self._data['built']}")
        return "; ".join(parts)

    def as_text(self, *, verbose: bool = True, depth: int | None = None) -> str:
        """Return the same for reading, as a tree. A nested schema is shown once.

        :param verbose: False leaves out what is compared before each call.
        :param depth: how many levels of nested schemas are shown; None: all.
        """
        printer = _Printer(verbose, sys.maxsize if depth is None else depth, set())
        return "\n".join(printer.schema(self._data, "", 0))

    def __repr__(self) -> str:
        return f"<Explanation of {self._data['schema']}: {self.summary()}>"


def _directions(schema: Data) -> list[Data]:
    return [schema[each] for each in ("dump", "load") if schema[each]]


def _steps(schema: Data, path: str = "") -> Iterator[Step]:
    """Yield all steps; first the schema itself where its own code runs.

    :param path: that of the field in which the schema is nested
    """
    for each in _directions(schema):
        name, own = each["name"], each["overridden"]
        if each["declined"]:
            yield Step(name, path or "(all)", each["declined"])
        elif own and not each["whole"]:
            methods = " and ".join(text.partition(",")[0] for text in own)
            why = f"the schema has its own {'; '.join(own)}"
            yield Step(name, f"{path or '(all)'} by its own {methods}", why)
        for field in each["fields"]:
            yield from _steps_of(field, name, path)


def _steps_of(field: Data, direction: str, around: str) -> Iterator[Step]:
    """Yield a field's step and those inside."""
    path = f"{around}.{field['name']}".lstrip(".")
    why = "" if field["narrow"] else field["why"] or "its own code"
    yield Step(direction, path, why, field["unresolved"])
    for each in field["inner"]:
        yield from _steps_of(each, direction, path)
    if field["nested"]:
        yield from _steps(field["nested"], path)


def _summary(direction: Data) -> str:
    """Return how much of a direction is planned, and what is not."""
    name, fields, own = direction["name"], direction["fields"], direction["overridden"]
    if direction["declined"]:
        return f"{name}: no plan, all of it runs upstream's code ({direction['declined']})"
    steps = {field["name"]: [*_steps_of(field, name, "")] for field in fields}
    left = [step.path for found in steps.values() for step in found if step.why]
    unknown = [name for name, found in steps.items() if any(s.unresolved for s in found)]
    planned = sum(field["narrow"] and not field["unresolved"] for field in fields)
    text = f"{name}: {planned} of {counted(len(fields), 'field')} planned"
    if not fields:
        text = f"{name}: no fields"
    if left:
        verb = "runs its" if len(left) == 1 else "run their"
        text += f" ({some_of(left)} {verb} own code, as slowly as without althaia)"
    if unknown:
        text += f", a nested schema of {', '.join(unknown)} is unknown"
    if own and not (direction["whole"] and fields):
        text += f", the schema has its own {'; '.join(own)}"
    return text


class _Printer(NamedTuple):
    """Writes an explanation as a tree; knows which schemas stand there already."""

    verbose: bool
    depth: int
    shown: set[str]

    def schema(self, schema: Data, indent: str, level: int) -> Iterator[str]:
        head, key = f"{indent}{schema['schema']}{' (many)' if schema['many'] else ''}", repr(schema)
        if schema["seen"] or key in self.shown:
            yield f"{head}: as above"
            return
        if level > self.depth:
            yield f"{head}: shown by --depth {level}"
            return
        self.shown.add(key)
        yield head
        if schema["no_plans"]:
            yield f"{indent}  no plans run: {schema['no_plans']}"
        if schema["built"]:
            yield f"{indent}  instances: built in full, because {schema['built']}"
        for each in _directions(schema):
            yield f"{indent}  {_summary(each)}"
            if not each["declined"]:
                yield from self.direction(each, f"{indent}    ", level + 1)
        for line in lines_of_readers(schema["readers"] or {}):
            yield f"{indent}  {line}"

    def direction(self, direction: Data, indent: str, level: int) -> Iterator[str]:
        for field in direction["fields"]:
            yield from self.field(field, indent, level)
        if (why := direction["text"]) is not None:
            how = f"by way of dictionaries, because {why}" if why else "straight"
            yield f"{indent}to text: {how}"
        for method in direction["overridden"]:
            yield f"{indent}the schema's own: {method}"
        for kind, names in direction["hooks"].items():
            yield f"{indent}{kind}: {', '.join(names)}"
        if self.verbose:
            guard = direction["guard"].items()
            counts = ", ".join(counted(count, name[:-1]) for name, count in guard if count)
            yield f"{indent}guard: {counts or 'the schema'}"

    def field(self, field: Data, indent: str, level: int) -> Iterator[str]:
        head, source = f"{indent}{field['name']}: {field['step']}", field["source"]
        if source is not None:
            reads = repr(field["reads"]) if source in ("key", "path") else source
            head += f", from {_IN_WORDS.get(source, reads)}"
            if field["key"] != field["name"]:
                head += f", as {field['key']!r}"
        yield f"{head}  ({field['field']})"
        indent += "  "
        if field["checks"]:
            yield f"{indent}checks: {', '.join(field['checks'])}"
        if field["why"]:
            yield f"{indent}{'why' if field['narrow'] else 'left to the field'}: {field['why']}"
        for each in field["inner"]:
            yield from self.field(each, indent, level)
        if field["unresolved"]:
            yield f"{indent}nested schema unknown: {field['unresolved']}"
        if field["nested"]:
            yield from self.schema(field["nested"], indent, level)


def some_of(names: Sequence[str]) -> str:
    """Return the first names of some, and whether there are more."""
    return ", ".join(names[:MOST_NAMED]) + (", …" if len(names) > MOST_NAMED else "")


def lines_of_readers(readers: Mapping[str, str]) -> Iterator[str]:
    """How the objects of imported libraries are read, one line each."""
    for objects, reason in readers.items():
        how = f"read as marshmallow does, because {reason}" if reason else "read directly"
        yield f"objects of {objects}: {how}"


def explain(schema: Any) -> Explanation:
    """How a schema is dumped and loaded: each field, its path, and the reason for it.

    :param schema: a schema class of the compiled marshmallow (an instance is made of it,
        without arguments) or an instance.
    :returns: an object with ``summary()``, ``as_text()`` and ``as_dict()``.
    :raises TypeError: ``schema`` is neither, or a class that cannot be made without arguments.

    >>> print(althaia.explain(UserSchema).as_text())
    """
    instance = instance_of(schema)
    reason = _why_no_plans(instance)
    if reason:
        return Explanation(_data(instance, no_plans=reason))
    from althaia.engine.objects import libraries
    from althaia.engine.plan import load_upstream

    explained = _Explainer(load_upstream(), []).schema(instance, "dump", "load")
    return Explanation(explained | {"readers": libraries.status()})


def _data(schema: Any, **known: Any) -> Data:
    """Return what is known of a schema."""
    return {
        "schema": seam.full_name(type(schema)),
        "many": bool(schema.many),
        "dump": None,
        "load": None,
        "readers": None,
        "built": "",
        "no_plans": "",
        "seen": False,
        **known,
    }


def _why_no_plans(instance: Any) -> str:
    if seam.owner_of(instance) not in seam.pristine:
        if settings().disable:
            return "ALTHAIA_DISABLE is set, and this is a schema of the real marshmallow"
        return (
            "this is a schema of the real marshmallow: call althaia.patch() before anything "
            "imports marshmallow, or run the program with python -m althaia"
        )
    # The engine is loaded with a user's first schema class.
    seam.load_engine()
    return why_no_plans()


def instance_of(schema: Any) -> Any:
    """Return the schema, or an instance of the schema class.

    :raises TypeError: it is neither, or the class cannot be made without arguments
    """
    is_class = isinstance(schema, type) and hasattr(schema, "_declared_fields")
    try:
        instance = schema() if is_class else schema
    except TypeError as error:
        name = seam.full_name(schema)
        said = f"{name} cannot be made without arguments, name an instance instead: {error}"
        raise TypeError(said) from error
    if seam.owner_of(instance) is not None:
        return instance
    raise TypeError(f"a marshmallow schema class or instance is needed, not {schema!r}")


class _Explainer(NamedTuple):
    """Builds one explanation; remembers the schemas above the present one."""

    upstream: Upstream
    path: list[Any]

    def schema(self, schema: Any, *directions: str) -> Data:
        # By which a schema is recognised inside itself.
        identity = (
            type(schema), bool(schema.many), tuple(schema.dump_fields), tuple(schema.load_fields)
        )  # fmt: skip
        if identity in self.path or len(self.path) == DEEPEST:
            return _data(schema, seen=True)
        from althaia.engine.analysis import examine, upstreams_binding
        from althaia.engine.planner import build

        self.path.append(identity)
        try:
            found = {
                each: self.direction(each, schema, build(schema, each), len(self.path) > 1)
                for each in directions
            }
        finally:
            self.path.pop()
        cls, upstream = type(schema), self.upstream
        _, built = examine(upstream, schema)
        if not built and not upstream.has(cls, "on_bind_field", upstream.Schema):
            # Its prototype is not lazy: the hook is called for each instance.
            built = upstream.why_not(cls, "on_bind_field", upstream.Schema)
        for field in () if built else cls._declared_fields.values():
            if upstreams_binding(type(field)) is not None:
                built = f"{upstream.owner(type(field), '_bind_to_schema')} binds its field"
        return _data(schema, **found, built=built)

    def direction(self, direction: str, schema: Any, plan: Any, nested: bool) -> Data:
        guard = plan.guard
        return {
            "name": direction,
            "declined": plan.declined,
            "fields": [self.step(direction, str(step.attr), step, True) for step in plan.steps],
            "overridden": [*self.overridden(direction, schema)],
            "hooks": _hooks(direction, schema),
            "guard": {
                name: len(getattr(guard, name)) for name in ("types", "fields", "lists", "entries")
            },
            "text": None if nested or direction == "load" else self.why_no_text(schema, plan),
            "whole": bool(plan.whole),
        }

    def why_no_text(self, schema: Any, plan: Any) -> str:
        """Return why ``dumps`` makes dictionaries first; "" where it does not."""
        for overridden in self.overridden("dumps", schema):
            return f"the schema has its own {overridden}"
        if not plan.straight:
            return "its options are not upstream's kind"
        form = schema.opts.render_module
        from althaia.formats.codec import writes

        if not writes(form):
            return f"it is written by {getattr(form, '__name__', form)!s}"
        for hook, *_ in seam.hooks_of(schema, "post_dump"):
            return f"the post_dump hook {hook} is given them"
        if plan.dict_class is not dict and plan.dict_class is not OrderedDict:
            return f"its dictionaries are {seam.full_name(plan.dict_class)}"
        keys = [step.key for step in plan.steps]
        return "" if len(set(keys)) == len(keys) else "two fields have the same key"

    def step(self, direction: str, name: str, step: Any, outer: bool) -> Data:
        nested, unresolved = None, ""
        if direction == "dump":
            source, reads, key = SOURCES[step.source], step.name, step.key
        else:
            source, reads, key = step.source, step.key, step.target
        if step.label == "nested schema":
            try:
                nested = self.schema(_nested_schema(step.field), direction)
            except Exception as error:
                unresolved = f"{type(error).__name__}: {error}"
        return {
            "name": name,
            "field": seam.full_name(type(step.field)),
            "step": step.label,
            "narrow": step.narrow,
            "source": source if outer else None,
            "reads": _said(reads) if outer else None,
            "key": _said(key) if outer else None,
            "why": step.why,
            "checks": [check.label for check in getattr(step, "checks", None) or ()],
            "inner": [
                self.step(direction, label, each, False) for label, each in step.inner().items()
            ],
            "nested": nested,
            "unresolved": unresolved,
        }

    def overridden(self, direction: str, schema: Any) -> Iterator[str]:
        from althaia.engine.analysis import attributes_of
        from althaia.engine.planner import DUMPING, LOADING, preparations

        own = attributes_of(schema)
        called = LOADING if direction == "load" else DUMPING
        names = (*called.outer, called.inner, *called.around)
        for name in OTHER_METHODS[direction] + names:
            if name in own:
                yield f"{name}, set on the instance"
            elif not self.upstream.has(type(schema), name, self.upstream.Schema):
                yield f"{name}, of {self.upstream.owner(type(schema), name)}"
                if name == "load":
                    yield from (text for *_, text in preparations(type(schema)))


def _said(key: Any) -> str | None:
    return key if isinstance(key, (str, type(None))) else repr(key)


def _nested_schema(field: Any) -> Any:
    """Return the schema of a Nested field; resolve it on a copy if it is not resolved yet."""
    return field.__dict__.get("_schema") or copy.copy(field).schema


def _hooks(direction: str, schema: Any) -> dict[str, list[str]]:
    return {
        kind: names
        for kind in HOOKS[direction]
        if (names := [str(hook[0]) for hook in seam.hooks_of(schema, kind)])
    }


def counted(number: int, noun: str) -> str:
    """Return how many of a thing there are, for people: ``3 entries``."""
    plural = noun if number == 1 else f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {plural}"
