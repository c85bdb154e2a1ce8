"""The process in which ``bench`` and ``compare`` ask one library.

It reads a line of JSON for each command on standard input and answers with one.
"""

import copy
import gc
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from textwrap import shorten
from time import thread_time
from timeit import timeit
from typing import Any

import althaia
from althaia.cli import CommandError, sampledata, target
from althaia.trust import seam_layers
from althaia.trust.differences import name_of, written

ROUND_SECONDS = 0.1
_WHOSE = "the schema's module or the schema itself"


class Side:
    """The user's schema on one of the two libraries, and the calls with it. A command is the name
    of a method; the first one is ``start``."""

    def start(self, schema: str, patched: bool, use: str, **data: Any) -> dict[str, Any]:
        """Import the schema and prepare the calls. Say what the data is, and the calls' names.

        :param use: ``measure`` or ``compare``, the method that prepares the calls
        :param data: its parameters
        """
        if patched:
            althaia.patch()
            if use == "compare":
                seam_layers.plan_at_once()
        self.schema = target.schema(schema)
        self.failing: dict[str, dict[int, str]] = {"dump": {}, "load": {}}
        self.calls: dict[str, Callable[[], Any]] = {}
        return {**getattr(self, use)(**data), "calls": list(self.calls)}

    def measure(
        self, directions: list[str], file: str | None, source: str | None, count: int
    ) -> dict[str, Any]:
        """Prepare the calls that are measured, and one that gives what fails. Say what the data is.

        From a file come the records, and the objects are what loading them gives; from the
        user's code come the objects, and the records are what dumping them gives.
        """
        schema = self.schema
        if file or source:
            given, about = _given(file, source, count)
        else:
            given = sampledata.sources(schema, count)
            about = f"{count:,} plain objects (types.SimpleNamespace) made up from the fields"
        first, other = ("load", "dump") if file else ("dump", "load")
        results = self._passing(first, given)
        if not file:
            results = [sampledata.record(schema, each) for each in results]
        elif results:
            about += f", loaded to {kinds_of(results)}"
        if other in directions:
            self._passing(other, results)
        sizes = {}
        for way in directions:
            objects = given if way == first else results
            for size in sorted({1, len(objects)}) if objects else ():
                name = f"{way} {size:,} object{'s' if size > 1 else ''}"
                each = objects if size > 1 else objects[0]
                self.calls[name] = partial(getattr(schema, way), each, many=size > 1)
                sizes[name] = size
        self.calls["what fails"] = lambda: self.failing
        failing = [why for way in self.failing.values() for why in way.values()]
        if not sizes:
            raise CommandError(
                f"{about} cannot be measured: {failing[0]}; name objects of your own with "
                "--source MODULE:NAME, or records with --data FILE"
            )
        return {"sizes": sizes, "about": about, "failing": len(failing), "why": failing[:1]}

    def _passing(self, way: str, given: list[Any]) -> list[Any]:
        """Dump or load each alone, and return the results. Leave what fails out of ``given``."""
        call = getattr(self.schema, way)
        results = {}
        for place, one in enumerate(given):
            try:
                # A pre_load hook may change its input.
                results[place] = call(copy.deepcopy(one) if way == "load" else one, many=False)
            except Exception as error:
                self.failing[way][place] = _short(f"{way}: {type(error).__name__}: {error}")
        given[:] = [given[place] for place in results]
        return list(results.values())

    def compare(self, load: bool, **data: Any) -> dict[str, Any]:
        """Prepare the calls that are compared: each record alone, then all of them."""
        schema, calls = self.schema, self.calls
        records, about = _given(**data)
        every = f"all {len(records):,}"
        if load:

            def loaded(text: str, many: bool) -> Any:
                # A pre_load hook may change a record: each call gets its own copy.
                return schema.load(json.loads(text), many=many)

            texts = [json.dumps(each) for each in records]
            for i, text in enumerate(texts):
                calls[f"load [{i}]"] = partial(loaded, text, False)
                calls[f"loads [{i}]"] = partial(schema.loads, text, many=False)
            calls[f"load {every}"] = partial(loaded, f"[{','.join(texts)}]", True)
        else:
            for i, each in enumerate(records):
                calls[f"dump [{i}]"] = partial(schema.dump, each, many=False)
            calls[f"dump {every}"] = partial(schema.dump, records, many=True)
            calls[f"dumps {every}"] = partial(schema.dumps, records, many=True)
        return {"about": about}

    def answer(self, name: str) -> dict[str, Any]:
        """Make one of the calls."""
        try:
            return {"answer": written(self.calls[name]()), "raised": ""}
        except Exception as error:
            said = getattr(error, "messages", None) or ", ".join(map(str, error.args))
            return {"answer": written(error), "raised": _short(f"{type(error).__name__}: {said}")}

    def prepare(self, name: str) -> int:
        """Return how often a call that will be timed runs in a round."""
        loops, spent = 1, self.time(name, 1)
        while spent < ROUND_SECONDS / 4:
            loops *= 2
            spent = self.time(name, loops)
        return max(1, round(loops * ROUND_SECONDS / spent))

    def time(self, name: str, loops: int) -> float:
        """Return the seconds of so many calls, with the garbage collector as it is."""
        return timeit(self.calls[name], "import gc; gc.collect(); gc.enable()", thread_time, loops)

    def explained(self) -> dict[str, Any]:
        """Say how much of the schema is planned, and what is not, and why."""
        found = althaia.explain(self.schema)
        left = [f"{s.direction} {s.path}: {s.reason}" for s in found.steps() if s.reason]
        return {"no_plans": found.as_dict()["no_plans"], "summary": found.summary(), "left": left}


def _short(text: str) -> str:
    return shorten(text, 300, placeholder=" …")


def _given(file: str | None, source: str | None, count: int) -> tuple[list[Any], str]:
    """Return the records of a file or the objects that the user's code gives, and what it is.

    ``source`` names a collection, one object, or a function that returns one of these. It is
    called with the number of objects if it takes an argument.
    """
    if file:
        records = read_records(Path(file))
        return records, f"{len(records):,} records of {Path(file).name}"
    named = source or ""

    def found() -> list[Any]:
        given = target.resolve(named)
        if callable(given):
            given = given(count) if inspect.signature(given).parameters else given()
        one = isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable)
        return [given] if one else list(given)

    objects = target.asked(named, found)
    if not objects:
        raise CommandError(f"{source} gives no objects")
    # Plans are made with a collection, on one side only. What is kept alive by a cycle alone, such
    # as the session of these objects, goes on both sides.
    gc.collect()
    return objects, f"{len(objects):,} {kinds_of(objects)} of {source}"


def kinds_of(objects: Iterable[Any]) -> str:
    """Return the classes of some objects, for people: ``shop.models.Order``."""
    return ", ".join(sorted({name_of(type(each)) for each in objects}))


def read_records(file: Path) -> list[Any]:
    """Return the records of a JSON file (a list, or one record) or a JSON-lines file.

    :raises CommandError: it cannot be read; a line is not JSON; there is none
    """
    by_line = file.suffix in (".jsonl", ".ndjson")
    records: list[Any] = []
    place = ""
    try:
        text = file.read_text(encoding="utf-8")
        # Not splitlines(): a text in JSON may contain U+2028, for example.
        for number, part in enumerate(text.split("\n") if by_line else [text], 1):
            place = f", line {number}" if by_line else " (name it .jsonl if each line is a record)"
            if part.strip():
                records.append(json.loads(part))
    except OSError as error:
        raise CommandError(str(error)) from None
    except ValueError as error:
        raise CommandError(f"{file}{place}: {error}") from None
    if not by_line and records and isinstance(records[0], list):
        (records,) = records
    if not records:
        raise CommandError(f"{file} holds no records")
    return records


def main() -> None:
    # The output of the user's modules must not get between the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    side = Side()
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = getattr(side, command.pop("do"))(**command)
        except (Exception, SystemExit) as error:
            answer = {"failed": target.failure(_WHOSE, error)}
        try:
            answers.write(json.dumps(answer) + "\n")
        except BrokenPipeError:
            os._exit(1)  # Who asked was killed.


if __name__ == "__main__":
    main()
