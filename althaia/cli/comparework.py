"""The process in which ``python -m althaia compare`` asks one library. Not for use by hand.

Reads its task, a line of JSON, on standard input and writes the answers to a file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import althaia
from althaia.cli import benchwork, target
from althaia.switch.config import ConfigError
from althaia.switch.installed import ReleaseError
from althaia.trust import seam_layers
from althaia.trust.portable import Written, outcome


def answers(task: dict[str, Any]) -> dict[str, Any]:
    """Return the answers of the library to all calls of the task, as JSON values.

    :raises TargetError: the schema or the factory is not there
    :raises DataError: there is nothing to dump or load
    """
    if task["patched"]:
        althaia.patch()
    schema = target.schema(task["schema"])
    plan = ""
    if task["patched"]:
        seam_layers.plan_at_once()
        explanation = althaia.explain(schema)
        if explanation.no_plans:
            raise benchwork.DataError(f"there is nothing to compare: {explanation.no_plans}")
        plan = explanation.summary()
    given, about = _given(task)
    calls = _load_calls(schema, given) if task["load"] else _dump_calls(schema, given)
    return {"about": about, "plan": plan, "calls": [[name, answer] for name, answer in calls]}


def _given(task: dict[str, Any]) -> tuple[list[Any], str]:
    if task["data"] is not None:
        file = Path(task["data"])
        records = benchwork.read_records(file)
        return records, f"{len(records):,} records of {file.name}"
    objects = benchwork.objects_of(task["objects"], task["count"])
    return objects, f"{len(objects):,} {benchwork.kinds_of(objects)} of {task['objects']}"


def _dump_calls(schema: Any, objects: list[Any]) -> Iterator[tuple[str, Written]]:
    for index, each in enumerate(objects):
        yield f"dump [{index}]", outcome(schema.dump, each, many=False)
    yield f"dump all {len(objects):,}", outcome(schema.dump, objects, many=True)
    # Parse the text again if it is JSON, so that a difference has a path.
    yield f"dumps all {len(objects):,}", outcome(lambda: _read(schema.dumps(objects, many=True)))
    yield f"text of all {len(objects):,}", outcome(schema.dumps, objects, many=True)


def _read(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


def _load_calls(schema: Any, records: list[Any]) -> Iterator[tuple[str, Written]]:
    # A pre_load hook may change a record: each call gets its own copy.
    texts = [json.dumps(each) for each in records]
    for index, text in enumerate(texts):
        yield f"load [{index}]", outcome(schema.load, json.loads(text), many=False)
    for index, text in enumerate(texts):
        yield f"loads [{index}]", outcome(schema.loads, text, many=False)
    every = [json.loads(text) for text in texts]
    yield f"load all {len(records):,}", outcome(schema.load, every, many=True)


def main() -> None:
    task = json.load(sys.stdin)
    said: dict[str, Any]
    try:
        said = answers(task)
    except (target.TargetError, benchwork.DataError, ConfigError, ReleaseError, OSError) as error:
        said = {"failed": str(error)}
    except Exception as error:
        said = {"failed": benchwork.raised_by_the_program(error)}
    Path(sys.argv[1]).write_text(json.dumps(said), encoding="utf-8")


if __name__ == "__main__":
    main()
