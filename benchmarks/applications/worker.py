"""One process that uses an application's schemas, with althaia or without.

``worker.py data PACKAGE FILE MOST`` makes the data; ``worker.py plain PACKAGE FILE`` and
``worker.py patched PACKAGE FILE`` use it and print what they measured as JSON. ``worker.py start
PACKAGE SIDE`` prints how long the import takes.
"""

from __future__ import annotations

import contextlib
import cProfile
import gc
import importlib
import io
import json
import pickle
import pkgutil
import re
import statistics
import sys
import sysconfig
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROWS = 30
"""Objects of a collection."""
WARM_UPS = 120
ROUNDS = 9
USES = 8
ROUND = 0.002
"""Seconds of processor time of a round."""
SPINS = 2000
SPIN = 0.0005
"""Seconds that so many spins usually take. Both sides are measured by it, so it cancels out."""
LIBRARY = ("<frozen ", sysconfig.get_path("stdlib"))
"""How the file names of the standard library's functions begin. An environment's packages lie
elsewhere."""
DEEPEST = 12
"""Levels of a value that are compared."""
CALLS_IN_LIBRARY = 12
"""Calls inside the standard library through which a function is traced to its caller outside."""

Calls = dict[str, Callable[[], Any]]


def clock() -> float:
    """Processor time of this process: others use the machine."""
    return time.clock_gettime(time.CLOCK_PROCESS_CPUTIME_ID)


def resident() -> float:
    """Megabytes that the process holds."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def import_application(package: str) -> None:
    """Import every module of a package that may define schemas."""
    root = importlib.import_module(package)
    for module in pkgutil.walk_packages(root.__path__, f"{package}.", onerror=lambda name: None):
        if "schema" in module.name.lower():
            # One that needs a configuration, or an extra that is not there.
            with contextlib.suppress(Exception):
                importlib.import_module(module.name)


def schema_classes(package: str) -> dict[str, Any]:
    """The schema classes that an application defines, by name, in the same order each time."""
    from marshmallow import Schema

    def below(cls: Any) -> Iterator[Any]:
        for each in cls.__subclasses__():
            yield each
            yield from below(each)

    found = {
        f"{cls.__module__}.{cls.__qualname__}": cls
        for cls in below(Schema)
        if cls.__module__.startswith(package)
    }
    return {name: found[name] for name in sorted(found)}


def make_data(package: str, target: Path, most: int) -> None:
    """Keep what each schema is to dump and to load; at most so many schemas, evenly spread."""
    from althaia.cli.sampledata import record, sources

    kept: list[tuple[str, bytes]] = []
    import_application(package)
    classes = schema_classes(package)
    for name, cls in classes.items():
        # An abstract one, or one whose data cannot be made up: not every class has a row.
        with contextlib.suppress(Exception):
            schema = cls()
            objects = sources(schema, ROWS)
            dumped = schema.dump(objects, many=True)
            records = [record(schema, each) for each in dumped]
            kept.append((name, pickle.dumps((objects, records))))
    step = max(1, -(-len(kept) // most))
    with target.open("wb") as file:
        pickle.dump((len(classes), kept[::step]), file)


def calls_of(cls: Any, objects: list[Any], records: list[Any]) -> Calls:
    """What is asked of a schema class: an instance a call, and one for a collection."""
    schema = cls()
    one, record = objects[0], records[0]
    return {
        "S().dump": lambda: cls().dump(one),
        "S().load": lambda: cls().load(record),
        f"dump {ROWS}": lambda: schema.dump(objects, many=True),
        f"load {ROWS}": lambda: schema.load(records, many=True),
        "S().dumps": lambda: cls().dumps(one),
    }


def answer(call: Callable[[], Any]) -> tuple[bool, str]:
    """Whether a call returned, and what it returned or raised, as a digest."""
    try:
        returned, told = True, plain(call())
    except Exception as error:
        returned, told = False, (type(error).__name__, str(error), plain(vars(error)))
    return returned, sha256(repr(told).encode()).hexdigest()


def plain(value: Any, depth: int = 0) -> Any:
    """A value as types and parts, whatever the objects in it say of themselves."""
    if depth > DEEPEST:
        return "…"
    name = type(value).__qualname__
    if isinstance(value, Mapping):
        return name, [(plain(key, depth), plain(each, depth + 1)) for key, each in value.items()]
    if isinstance(value, (list, tuple)):
        return name, [plain(each, depth + 1) for each in value]
    if isinstance(value, type) or callable(value):
        return name, getattr(value, "__qualname__", "")
    attributes = getattr(value, "__dict__", None)
    if attributes is not None:
        return name, plain(attributes, depth + 1)
    # Where an object lies is its own affair.
    return name, re.sub("0x[0-9a-f]+", "0x", repr(value))


def spin() -> float:
    """Seconds of a fixed piece of work that resembles the interpreter's."""
    table = {"value": 1}
    started = clock()
    for _ in range(SPINS):
        table["value"] = len(str(table["value"])) + 1
    return clock() - started


def use(classes: Iterable[Calls]) -> float:
    """Microseconds of an instance of each class that dumps one object, and one that loads one."""
    taken, before = 0.0, spin()
    for calls in classes:
        for name in ("S().dump", "S().load"):
            started = clock()
            # What it raises is compared later.
            with contextlib.suppress(Exception):
                calls[name]()
            taken += clock() - started
    return at_usual_speed(taken, before) * 1e6


def at_usual_speed(seconds: float, before: float) -> float:
    """What a measured time would be at the usual speed of the processor.

    A shared machine changes its speed for seconds at a time, by more than half. So the same piece
    of work is timed before and behind each measurement.
    """
    return seconds / (before + spin()) * 2 * SPIN


def steady(call: Callable[[], Any]) -> float:
    """Microseconds of a call that has been made often."""
    for _ in range(WARM_UPS):
        call()
    started, loops = clock(), 0
    while clock() - started < ROUND:
        call()
        loops += 1
    rounds = []
    for _ in range(ROUNDS):
        before, started = spin(), clock()
        for _ in range(loops):
            call()
        rounds.append(at_usual_speed(clock() - started, before) / loops)
    return statistics.median(rounds) * 1e6


def profiled(call: Callable[[], Any], loops: int) -> list[Any]:
    """The profiler's entries of Python functions; what they call of C is part of their time."""
    profile = cProfile.Profile(builtins=False)
    profile.enable()
    for _ in range(loops):
        call()
    profile.disable()
    return profile.getstats()


def is_library(code: Any) -> bool:
    """Whether a function is the standard library's. A str names a function of C, which the profiler
    of newer interpreters lists whether asked to or not."""
    return isinstance(code, str) or code.co_filename.startswith(LIBRARY)


def belongs_to_application(entries: list[Any]) -> dict[Any, float]:
    """For each function the part of its calls that the application's own functions make.

    A function of the standard library belongs to whom it serves; :func:`copy.deepcopy` is called
    by marshmallow, too.
    """
    import marshmallow

    ours = (__file__, str(Path(marshmallow.__file__).parent))
    callers: dict[Any, list[tuple[Any, int]]] = {}
    for entry in entries:
        for callee in entry.calls or ():
            callers.setdefault(callee.code, []).append((entry.code, callee.callcount))
    served = [code for code in callers if is_library(code)]
    parts = {
        entry.code: 0.0
        if is_library(entry.code) or entry.code.co_filename.startswith(ours)
        else 1.0
        for entry in entries
    }
    for _ in range(CALLS_IN_LIBRARY):
        for code in served:
            calls = sum(count for _, count in callers[code])
            parts[code] = sum(parts[caller] * count for caller, count in callers[code]) / calls
    return parts


def own_share(call: Callable[[], Any], microseconds: float) -> float:
    """The share of a call in functions that belong to the application.

    It is asked of marshmallow alone: what such a function calls of althaia would count as its own.
    The profiler's cost, which is the time of an empty function, is subtracted for each call.
    """

    def empty() -> None:
        pass

    def call_empty() -> None:
        for _ in range(100):
            empty()

    loops = max(10, int(ROUND * 1e6 / microseconds))
    shares = []
    for _ in range(ROUNDS):
        costs = [entry for entry in profiled(call_empty, 20) if entry.code is empty.__code__]
        cost = costs[0].inlinetime / costs[0].callcount
        started = clock()
        for _ in range(loops):
            call()
        taken = clock() - started
        entries = profiled(call, loops)
        parts = belongs_to_application(entries)
        own = sum(
            max(0.0, entry.inlinetime - entry.callcount * cost) * parts[entry.code]
            for entry in entries
        )
        shares.append(own / taken)
    return float(min(1.0, round(statistics.median(shares), 4)))


def reasons(shown: Any) -> Iterator[str]:
    """Why something runs its own code, from an explanation as plain data."""
    if isinstance(shown, dict):
        for key, value in shown.items():
            if key in ("built", "declined", "why", "no_plans") and value:
                yield f"{key}: {value}" if key == "built" else str(value)
            else:
                yield from reasons(value)
    elif isinstance(shown, list):
        for each in shown:
            yield from reasons(each)


def explained(cls: Any) -> list[str]:
    """What ``explain`` says keeps a class from being fast."""
    import althaia

    try:
        found = list(dict.fromkeys(reasons(althaia.explain(cls()).as_dict())))
    except Exception as error:
        found = [f"explain: {error}"]
    return found[:3]


def start(package: str, patched: bool) -> float:
    """Import an application; the seconds that it took."""
    started = clock()
    if patched:
        import althaia

        althaia.patch()
    import_application(package)
    return clock() - started


def measure(package: str, source: Path, patched: bool) -> dict[str, Any]:
    """Everything that is told of one application and one side."""
    before = resident()
    start(package, patched)
    classes = schema_classes(package)
    with source.open("rb") as file:
        total, kept = pickle.load(file)
    data = {name: pickle.loads(pickled) for name, pickled in kept if name in classes}
    idle = resident()
    all_calls = {name: calls_of(classes[name], *data[name]) for name in data}
    # A full collection takes as long as ten uses of all schemas, and would fall into one of them.
    gc.collect()
    uses = [use(all_calls.values()) for _ in range(USES)]
    gc.collect()
    used = resident()
    rows = {}
    for name, calls in all_calls.items():
        for kind, call in calls.items():
            returned, digest = answer(call)
            time_of_call = steady(call) if returned else None
            _, later = answer(call)
            rows[f"{name} {kind}"] = {
                "answer": [digest, later],
                "us": time_of_call,
                "own": own_share(call, time_of_call) if time_of_call and not patched else None,
            }
    return {
        "versions": {"python": sys.version.split()[0], "marshmallow": version("marshmallow")},
        "classes": total,
        "measured": len(data),
        "import_mb": idle - before,
        "use_mb": used - idle,
        "uses_us": uses,
        "rows": rows,
        "why": {name: explained(classes[name]) for name in data} if patched else {},
    }


def main() -> None:
    way, package, given, *most = sys.argv[1:]
    warnings.simplefilter("ignore")
    if way == "data":
        make_data(package, Path(given), int(most[0]))
        return
    # An application may print while it is imported.
    with contextlib.redirect_stdout(io.StringIO()):
        if way == "start":
            found: Any = start(package, given == "patched")
        else:
            found = measure(package, Path(given), way == "patched")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
