"""Reads the file in which several workers collect what they find: ``ALTHAIA_COMPARE_FILE``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from althaia.trust.compare import Finding, Report, sum_of
from althaia.trust.differences import Difference


def read(file: Path) -> tuple[int, Report]:
    """Return how many processes have written to the file, and their reports as one.

    :raises OSError: the file cannot be read
    :raises ValueError: a line is none of compare mode's
    """
    counts: list[dict[str, Any]] = []
    findings: dict[tuple[str, str, str], Finding] = {}
    workers = set()
    for line in file.read_text("utf-8").splitlines():
        found = json.loads(line)
        try:
            workers.add(found["pid"])
            if "path" in found:
                difference = Difference(found["path"], found["planned"], found["upstream"])
                key = (found["schema"], found["call"], difference.kind)
                findings.setdefault(key, Finding(found["schema"], found["call"], difference))
            else:
                sum_of([found])
                counts.append(found)
        except (KeyError, TypeError):
            raise ValueError(f"{line[:80]!r} is no line of compare mode") from None
    return len(workers), sum_of(counts, findings.values())
