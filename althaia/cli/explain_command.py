"""Show how a schema is dumped and loaded: how much is planned, then each field and the reason.

SCHEMA is a schema class, an instance, or a dotted path to one. The module is imported with
marshmallow redirected.

A module or package alone (package.module) is shown with one line a schema class, worst first:
how many of the steps of both directions, nested schemas' included, run outside a plan, and which;
and why its instances are built in full, where they are.
With --fail-on unplanned the exit code is 1 where there are any: for continuous integration.
"""

import argparse
import pkgutil
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple

import althaia
from althaia.cli import Answer, CommandError, target
from althaia.engine.explain import counted, lines_of_readers, some_of
from althaia.switch.release import why_no_plans


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("schema", metavar="MODULE[:SCHEMA]", help="e.g. shop.schemas:Order, or shop.schemas")
    add("--verbose", action="store_true", help="also what is compared before each call")
    add(
        "--depth",
        type=int,
        default=2,
        help="how many levels of nested schemas are shown; by default 2, each schema once",
    )
    add(
        "--fail-on",
        choices=["unplanned"],
        help="unplanned: exit with 1 where a step runs outside a plan",
    )


def execute(options: argparse.Namespace) -> Answer:
    def explained() -> Answer:
        althaia.patch()
        return _schema(options) if ":" in options.schema else _application(options)

    return target.asked("the module", explained)


def _schema(options: argparse.Namespace) -> Answer:
    explanation = althaia.explain(target.schema(options.schema))
    data = explanation.as_dict()
    left = data["no_plans"] or any(step.reason for step in explanation.steps())
    text = explanation.as_text(verbose=options.verbose, depth=options.depth)
    return bool(options.fail_on and left), data, text


def _application(options: argparse.Namespace) -> Answer:
    lines = lines_of(options.schema)
    unplanned = sum(not line.is_planned for line in lines)
    head = f"{options.schema}: {counted(len(lines), 'schema')}, "
    if why := why_no_plans():
        text = [f"{head}and no plans run: {why}"]
    else:
        from althaia.engine.objects import libraries

        text = [f"{head}{unplanned} with steps outside a plan", *(line.as_text() for line in lines)]
        text += lines_of_readers(libraries.status())
    data = [line._asdict() for line in lines]
    return bool(options.fail_on and unplanned), data, "\n".join(text)


class Line(NamedTuple):
    """What is planned of one schema class, nested schemas included."""

    schema: str
    fields: int
    """Steps of both directions."""
    unplanned: tuple[str, ...]
    """Steps that marshmallow's own code runs, which are not faster: ``load lines.price``."""
    error: str = ""
    """Why the schema could not be explained; empty if it could."""
    unresolved: tuple[str, ...] = ()
    """Why nested schemas are not known: each reason once."""
    built: str = ""
    """Why each instance is built in full; empty if instances are lazy."""

    @property
    def is_planned(self) -> bool:
        return not self.unplanned and not self.error

    def as_text(self) -> str:
        """Return the same for reading."""
        if self.error:
            return f"         ?  {self.schema}: {self.error}"
        text = f"{len(self.unplanned):>4} of {self.fields:<4}{self.schema}"
        if self.unplanned:
            text += f": {some_of(self.unplanned)}"
        if self.unresolved:
            text += f" (nested schema unknown: {'; '.join(self.unresolved)})"
        if self.built:
            text += f" (instances built in full: {self.built})"
        return text


def lines_of(name: str | None) -> list[Line]:
    """Return the lines of all schema classes of a module or package, worst first.

    :param name: of the module, which is imported; None: all classes that are there count, except
        marshmallow's
    :raises CommandError: there is no such module, or no schema class in it
    """
    if name is not None:
        _import(name)
    import marshmallow

    # An application may make the same class again and again: those that are alike have one line.
    lines = dict.fromkeys(
        line_of(cls)
        for cls in dict.fromkeys(_below(marshmallow.Schema))
        if f"{cls.__module__}.".startswith(f"{name or 'marshmallow'}.") is (name is not None)
    )
    if name is not None and not lines:
        raise CommandError(f"{name} has no schema classes")
    return sorted(lines, key=lambda line: (not line.error, -len(line.unplanned), line.schema))


def line_of(cls: type) -> Line:
    """Return what is planned of one schema class."""
    name = f"{cls.__module__}.{cls.__qualname__}"
    try:
        explained = althaia.explain(cls)
    except Exception as error:
        # The class takes arguments, or a nested schema cannot be resolved.
        return Line(name, 0, (), f"{type(error).__name__}: {error}")
    steps = list(explained.steps())
    left = dict.fromkeys(f"{s.direction} {s.path}" for s in steps if s.reason)
    unresolved = dict.fromkeys(step.unresolved for step in steps if step.unresolved)
    data = explained.as_dict()
    return Line(name, len(steps), tuple(left), data["no_plans"], tuple(unresolved), data["built"])


def _import(name: str) -> None:
    """Import a module and, if it is a package, everything in it."""
    found = target.imported(name)
    for each in pkgutil.walk_packages(getattr(found, "__path__", ()), f"{name}."):
        if not each.name.endswith(".__main__") and each.name not in sys.modules:
            import_module(each.name)


def _below(cls: type) -> Iterator[type]:
    """Yield all subclasses of a class; one with two bases below it twice."""
    subclasses: list[type] = type.__subclasses__(cls)
    for each in subclasses:
        yield each
        yield from _below(each)
