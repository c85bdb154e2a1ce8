"""What a dump takes at its peak, and what an instance keeps."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from pathlib import Path
from typing import Any

from benchmarks import data
from benchmarks.cases.small import schema
from benchmarks.model import Marshmallow, Work

INSTANCES = 500


def peak_of(work: Work) -> dict[str, Any]:
    """The highest traced size during one call, and the process's peak, both in bytes."""
    gc.collect()
    tracemalloc.start()
    result = work()
    _, traced = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del result
    return {"traced": traced, "resident": _resident_peak()}


def _resident_peak() -> int:
    status = Path("/proc/self/status")
    if status.exists():
        # Not ru_maxrss: that one remembers the parent this process was forked from.
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        # Windows has no such module, and nothing else in the standard library says it.
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def instance_cost(ma: Marshmallow) -> dict[str, float]:
    """Bytes one schema instance keeps after one dump, and the objects only the cyclic
    collector frees when it is dropped."""
    cls, source = schema(ma), data.small()
    cls().dump(source)
    gc.collect()
    gc.disable()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    kept = [cls() for _ in range(INSTANCES)]
    for instance in kept:
        instance.dump(source)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept, instance
    cyclic = gc.collect()
    gc.enable()
    return {"bytes": (after - before) / INSTANCES, "cyclic": cyclic / INSTANCES}
