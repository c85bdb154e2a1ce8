"""Fields that do not convert their values: ``Raw``, and every field that only validates."""

from __future__ import annotations

from typing import Any

from althaia.engine.analysis.reader import Analysis
from althaia.engine.run.dump import DumpStep
from althaia.engine.run.load_step import LoadStep
from althaia.engine.steps import Kind


def dump_raw(analysis: Analysis, field: Any, options: dict[str, Any]) -> DumpStep:
    return DumpStep(field, **options)


def load_raw(analysis: Analysis, field: Any, options: dict[str, Any]) -> LoadStep:
    return LoadStep(field, **options)


KINDS = (Kind("Field", dump=dump_raw, load=load_raw),)
