"""Reads the file in which several workers collect what they find: ``ALTHAIA_COMPARE_FILE``."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from althaia.trust.compare import Finding, Report
from althaia.trust.differences import Difference

_COUNTED = ("compared", "different", "not_deterministic")


def read(file: Path) -> tuple[int, Report]:
    """Return how many processes have written to the file, and their reports as one.

    :raises OSError: the file cannot be read
    :raises ValueError: a line is none of compare mode's
    """
    counts: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
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
                counts.update({name: found[name] for name in _COUNTED})
                skipped.update(found["skipped"])
        except (KeyError, TypeError):
            raise ValueError(f"{line[:80]!r} is no line of compare mode") from None
    # A worker that was killed has not added its counts.
    counts["different"] = max(counts["different"], len(findings))
    compared, different, not_deterministic = (counts[name] for name in _COUNTED)
    kept = tuple(findings.values())
    report = Report(0.0, compared, different, not_deterministic, dict(skipped), kept)
    return len(workers), report
