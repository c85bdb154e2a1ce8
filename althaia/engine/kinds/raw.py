"""Values that are taken as they are: ``Raw``, and every field that only checks its value."""

from __future__ import annotations

from typing import Any

from althaia.engine.analysis.reader import Analysis
from althaia.engine.analysis.steps import Kind, Place
from althaia.engine.run.dump import DumpStep
from althaia.engine.run.load_step import LoadStep


def dump_raw(analysis: Analysis, field: Any, place: Place) -> DumpStep:
    return DumpStep(field, **place)


def load_raw(analysis: Analysis, field: Any, place: Place) -> LoadStep:
    return LoadStep(field, **place)


KINDS = (Kind("Field", dump=dump_raw, load=load_raw),)
