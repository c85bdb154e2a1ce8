"""Explain a schema's plans: each field, its step, and why it has no narrower one.

Each explanation runs the analysis again. It publishes nothing and leaves the schema as it was. It
resolves nested schemas on a copy of their field.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
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

_DUMP = ("dump", "_serialize", "_invoke_dump_processors", "_invoke_processors")
SCHEMA_METHODS = {
    "dump": _DUMP,
    "dumps": ("dumps", *_DUMP),
    "load": (
        "load",
        "_do_load",
        "_deserialize",
        "_call_and_store",
        "_invoke_load_processors",
        "_invoke_processors",
        "_invoke_field_validators",
        "_invoke_schema_validators",
        "handle_error",
    ),
}
"""Methods of the schema that upstream's ``dump`` and ``load`` call: an override is shown."""

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


class _Text:
    """How an explanation is written, and which schemas stand there already."""

    def __init__(self, verbose: bool, depth: int | None) -> None:
        self.verbose, self.depth = verbose, depth
        self.shown: set[str] = set()
        self.level = 0


class Step(NamedTuple):
    """A step of a dump or load, at any depth."""

    direction: str
    path: str
    why: str
    """Why the user's or marshmallow's own code runs, which is not faster; "" if it is planned."""
    unresolved: str = ""
    """Why the schema that is nested here is not known; "" if it is."""


@dataclass(frozen=True)
class FieldPath:
    """One field of a plan, or one inside another field.

    ``name`` is the field's name or, inside another field, what it is there (``items``,
    ``keys``). A dump ``reads`` an attribute of the object and writes a ``key``; a load
    ``reads`` a key of the data and writes one to the result. ``narrow`` says whether the plan
    converts values of the usual types itself; ``why`` is the reason if the step is
    more general than the field's kind would need. ``checks`` are the kinds of its validators,
    ``called`` for any of the user's.
    """

    name: str
    field: str
    step: str
    narrow: bool
    source: str | None
    reads: str | None
    key: str | None
    why: str
    checks: tuple[str, ...] = ()
    inner: tuple[FieldPath, ...] = ()
    nested: Explanation | None = None
    unresolved: str = ""

    def steps(self, direction: str, path: str) -> Iterator[Step]:
        """Yield the field's step and those inside.

        :param path: the field's own
        """
        why = "" if self.narrow else self.why or "its own code"
        yield Step(direction, path, why, self.unresolved)
        for each in self.inner:
            yield from each.steps(direction, f"{path}.{each.name}")
        if self.nested is not None:
            yield from self.nested.steps(path)

    def lines(self, indent: str, text: _Text) -> Iterator[str]:
        head = f"{indent}{self.name}: {self.step}"
        if self.source is not None:
            reads = repr(self.reads) if self.source in ("key", "path") else self.source
            head += f", from {_IN_WORDS.get(self.source, reads)}"
            if self.key != self.name:
                head += f", as {self.key!r}"
        yield f"{head}  ({self.field})"
        if self.checks:
            yield f"{indent}  checks: {', '.join(self.checks)}"
        if self.why:
            yield f"{indent}  {'why' if self.narrow else 'left to the field'}: {self.why}"
        for each in self.inner:
            yield from each.lines(f"{indent}  ", text)
        if self.unresolved:
            yield f"{indent}  nested schema unknown: {self.unresolved}"
        if self.nested is not None:
            yield from self.nested.lines(f"{indent}  ", text)


@dataclass(frozen=True)
class Direction:
    """Dump or load of one schema.

    ``declined`` is the reason why there is no plan at all, else "". ``overridden`` are the
    schema's own methods that upstream's code calls, each with its origin. ``hooks`` are the names
    of the schema's hooks by kind. ``guard`` is the number of things that each call compares.
    ``text`` is the reason why ``dumps`` makes dictionaries first, "" if it writes text straight
    from the objects; None for a load and for nested schemas. ``whole`` is False if ``overridden``
    methods run around the plan.
    """

    name: str
    declined: str
    fields: tuple[FieldPath, ...]
    overridden: tuple[str, ...]
    hooks: dict[str, tuple[str, ...]]
    guard: dict[str, int]
    text: str | None = None
    whole: bool = True

    def steps(self, path: str = "") -> Iterator[Step]:
        """Yield all steps; first the schema itself where its own code runs.

        :param path: that of the field in which the schema is nested
        """
        if self.declined:
            yield Step(self.name, path or "(all)", self.declined)
        elif self.overridden and not self.whole:
            methods = " and ".join(text.partition(",")[0] for text in self.overridden)
            why = f"the schema has its own {'; '.join(self.overridden)}"
            yield Step(self.name, f"{path or '(all)'} by its own {methods}", why)
        for field in self.fields:
            yield from field.steps(self.name, f"{path}.{field.name}".lstrip("."))

    def summary(self) -> str:
        """Return how much of it is planned, and what is not."""
        if self.declined:
            return f"{self.name}: no plan, all of it runs upstream's code ({self.declined})"
        steps = {field.name: [*field.steps("", field.name)] for field in self.fields}
        left = [step.path for found in steps.values() for step in found if step.why]
        unknown = [name for name, found in steps.items() if any(s.unresolved for s in found)]
        planned = sum(field.narrow and not field.unresolved for field in self.fields)
        text = f"{self.name}: {planned} of {_count(len(self.fields), 'field')} planned"
        if not self.fields:
            text = f"{self.name}: no fields"
        if left:
            verb = "runs its" if len(left) == 1 else "run their"
            text += f" ({some_of(left)} {verb} own code, as slowly as without althaia)"
        if unknown:
            text += f", a nested schema of {', '.join(unknown)} is unknown"
        if self.overridden and not (self.whole and self.fields):
            text += f", the schema has its own {'; '.join(self.overridden)}"
        return text

    def lines(self, indent: str, text: _Text) -> Iterator[str]:
        yield f"{indent}{self.summary()}"
        if self.declined:
            return
        for each in self.fields:
            yield from each.lines(f"{indent}  ", text)
        if self.text is not None:
            how = f"by way of dictionaries, because {self.text}" if self.text else "straight"
            yield f"{indent}  to text: {how}"
        for method in self.overridden:
            yield f"{indent}  the schema's own: {method}"
        for kind, names in self.hooks.items():
            yield f"{indent}  {kind}: {', '.join(names)}"
        if not text.verbose:
            return
        counts = ", ".join(_count(count, name[:-1]) for name, count in self.guard.items() if count)
        yield f"{indent}  guard: {counts or 'the schema'}"


@dataclass(frozen=True)
class Explanation:
    """The answer of :func:`althaia.explain`.

    ``dump`` and ``load`` are None if no plans run (``no_plans`` says why), or if the explanation
    has already shown this schema further up (``seen``). ``built`` is the reason why each instance
    of the class is built in full when it is made, "" if its instances are lazy. ``readers`` are the
    objects of imported libraries that dumps read directly, each with "" or with the reason why they
    are read as marshmallow does.
    """

    schema: str
    many: bool = False
    dump: Direction | None = None
    load: Direction | None = None
    built: str = ""
    no_plans: str = ""
    seen: bool = False
    readers: Mapping[str, str] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the same as plain data, ready for JSON."""
        return asdict(self)

    def steps(self, path: str = "") -> Iterator[Step]:
        """Yield the steps of both directions, nested schemas' included.

        :param path: that of the field in which the schema is nested
        """
        for each in self.directions():
            yield from each.steps(path)

    def summary(self) -> str:
        """Return one line: how much is planned, and what stays outside at which price.

        >>> explain(UserSchema).summary()
        'dump: 2 of 2 fields planned; load: 2 of 2 fields planned'
        """
        if self.no_plans:
            return f"no plans run: {self.no_plans}"
        parts = [each.summary() for each in self.directions()]
        if self.built:
            parts.append(f"each instance is built in full, because {self.built}")
        return "; ".join(parts)

    def directions(self) -> Iterator[Direction]:
        """Yield what is explained of ``dump`` and ``load``."""
        yield from (each for each in (self.dump, self.load) if each is not None)

    def as_text(self, *, verbose: bool = True, depth: int | None = None) -> str:
        """Return the same for reading, as a tree. A nested schema is shown once.

        :param verbose: False leaves out what is compared before each call.
        :param depth: how many levels of nested schemas are shown; None: all.
        """
        return "\n".join(self.lines("", _Text(verbose, depth)))

    def lines(self, indent: str, text: _Text) -> Iterator[str]:
        head = f"{indent}{self.schema}{' (many)' if self.many else ''}"
        key = repr(self.as_dict())
        if self.seen or key in text.shown:
            yield f"{head}: as above"
            return
        if text.depth is not None and text.level > text.depth:
            yield f"{head}: shown by --depth {text.level}"
            return
        text.shown.add(key)
        yield head
        if self.no_plans:
            yield f"{indent}  no plans run: {self.no_plans}"
        if self.built:
            yield f"{indent}  instances: built in full, because {self.built}"
        text.level += 1
        for direction in self.directions():
            yield from direction.lines(f"{indent}  ", text)
        text.level -= 1
        for line in lines_of_readers(self.readers or {}):
            yield f"{indent}  {line}"

    def __repr__(self) -> str:
        return f"<Explanation of {self.schema}: {'seen' if self.seen else self.summary()}>"


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
    :raises TypeError: ``schema`` is neither.

    >>> print(althaia.explain(UserSchema).as_text())
    """
    instance = _instance(schema)
    reason = _why_no_plans(instance)
    if reason:
        return Explanation(_name(type(instance)), bool(instance.many), no_plans=reason)
    from althaia.engine.objects import libraries
    from althaia.engine.plan import load_upstream
    from althaia.engine.planner import build

    explained = _Explainer(load_upstream(), build).schema(instance, "dump", "load")
    return replace(explained, readers=libraries.status())


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


def _instance(schema: Any) -> Any:
    """Return the schema, or an instance of the schema class."""
    is_class = isinstance(schema, type) and hasattr(schema, "_declared_fields")
    instance = schema() if is_class else schema
    if seam.owner_of(instance) is not None:
        return instance
    raise TypeError(f"explain() takes a marshmallow schema class or instance, not {schema!r}")


class _Explainer:
    """Builds one explanation; remembers the schemas above the present one."""

    def __init__(self, upstream: Upstream, build: Callable[[Any, str], Any]) -> None:
        self.upstream = upstream
        self.build = build
        self.path: list[Any] = []

    def schema(self, schema: Any, *directions: str) -> Explanation:
        name, many = _name(type(schema)), bool(schema.many)
        # By which a schema is recognised inside itself.
        identity = (type(schema), many, tuple(schema.dump_fields), tuple(schema.load_fields))
        if identity in self.path or len(self.path) == DEEPEST:
            return Explanation(name, many, seen=True)
        self.path.append(identity)
        try:
            found = {
                each: self.direction(each, schema, self.build(schema, each), len(self.path) > 1)
                for each in directions
            }
        finally:
            self.path.pop()
        from althaia.engine.analysis import examine

        cls, upstream = type(schema), self.upstream
        _, built = examine(upstream, cls, schema)
        if not built and not upstream.has(cls, "on_bind_field", upstream.Schema):
            # Its prototype is not lazy: the hook is called for each instance.
            built = upstream.why_not(cls, "on_bind_field", upstream.Schema)
        return Explanation(name, many, found.get("dump"), found.get("load"), built)

    def direction(self, direction: str, schema: Any, plan: Any, nested: bool) -> Direction:
        guard = plan.guard
        return Direction(
            name=direction,
            declined=plan.declined,
            fields=tuple(self.step(direction, str(step.attr), step, True) for step in plan.steps),
            overridden=tuple(self.overridden(direction, schema)),
            hooks=_hooks(direction, schema),
            guard={
                name: len(getattr(guard, name)) for name in ("types", "fields", "lists", "entries")
            },
            text=None if nested or direction == "load" else self.why_no_text(schema, plan),
            whole=bool(plan.whole),
        )

    def why_no_text(self, schema: Any, plan: Any) -> str:
        """Return why ``dumps`` makes dictionaries first; "" where it does not."""
        overridden = next(self.overridden("dumps", schema), "")
        if overridden:
            return f"the schema has its own {overridden}"
        if not plan.straight:
            return "its options are not upstream's kind"
        form = schema.opts.render_module
        from althaia.formats.codec import writes

        if not writes(form):
            return f"it is written by {getattr(form, '__name__', form)!s}"
        hooks = _hooks("dump", schema).get("post_dump")
        if hooks:
            return f"the post_dump hook {hooks[0]} is given them"
        if plan.dict_class is not dict and plan.dict_class is not OrderedDict:
            return f"its dictionaries are {_name(plan.dict_class)}"
        keys = [step.key for step in plan.steps]
        return "" if len(set(keys)) == len(keys) else "two fields have the same key"

    def step(self, direction: str, name: str, step: Any, outer: bool) -> FieldPath:
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
        return FieldPath(
            name=name,
            field=_name(type(step.field)),
            step=step.label,
            narrow=step.narrow,
            source=source if outer else None,
            reads=_said(reads) if outer else None,
            key=_said(key) if outer else None,
            why=step.why,
            checks=tuple(check.label for check in getattr(step, "checks", None) or ()),
            inner=tuple(
                self.step(direction, label, each, False) for label, each in step.inner().items()
            ),
            nested=nested,
            unresolved=unresolved,
        )

    def overridden(self, direction: str, schema: Any) -> Iterator[str]:
        from althaia.engine.analysis import attributes_of

        own = attributes_of(schema)
        for name in SCHEMA_METHODS[direction]:
            if name in own:
                yield f"{name}, set on the instance"
            elif not self.upstream.has(type(schema), name, self.upstream.Schema):
                yield f"{name}, of {self.upstream.owner(type(schema), name)}"
                if name == "load":
                    from althaia.engine.planner import preparations

                    yield from (text for *_, text in preparations(type(schema)))


def _said(key: Any) -> str | None:
    return key if isinstance(key, (str, type(None))) else repr(key)


def _nested_schema(field: Any) -> Any:
    """Return the schema of a Nested field; resolve it on a copy if it is not resolved yet."""
    return field.__dict__.get("_schema") or copy.copy(field).schema


def _hooks(direction: str, schema: Any) -> dict[str, tuple[str, ...]]:
    return {
        kind: names
        for kind in HOOKS[direction]
        if (names := tuple(str(hook[0]) for hook in schema._hooks.get(kind, ())))
    }


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _count(number: int, noun: str) -> str:
    plural = noun if number == 1 else f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {plural}"
