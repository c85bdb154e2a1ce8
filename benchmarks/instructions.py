"""Instructions instead of seconds: ``python -m benchmarks.instructions``.

A shared machine's clock tells little about a change of a few per cent; the number of
instructions tells it exactly. Each case runs once, in a process of its own under callgrind. Its
parts are told apart by a call to ``os.getloadavg``, at which callgrind writes down and
zeroes its counters: nobody else calls it, and libc always names it.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks import hotspots
from benchmarks.cases import rows, select
from benchmarks.model import Case, Work

ROOT = Path(__file__).resolve().parent.parent
BASELINE = Path(__file__).with_name("baseline.json")
TOLERANCE = 0.03
OBJECTS = 50
WARM_UPS = {"upstream": 20, "ours": 120}
"""Objects before the count, which is of the steady state, and at least a few calls. Upstream's code
waits only for the interpreter's specialisation; plans and lazy instances come with use, the latter
at a class's tenth instance."""
LEAST_CALLS = {"upstream": 3, "ours": 20}


def mark() -> None:
    """End one counted part and begin the next."""
    os.getloadavg()


def count_in_this_process(case: Case) -> None:
    """Call the work of ``case`` on both sides, marked off; run under callgrind."""
    import althaia.marshmallow  # noqa: F401 - what the engine is loaded for
    from althaia import seam
    from benchmarks.rows import both

    seam.load_engine()
    works = both(case, _objects(case))
    for side, work in zip(WARM_UPS, works, strict=True):
        for _ in range(max(WARM_UPS[side] // _objects(case), LEAST_CALLS[side])):
            work()
    gc.collect()
    gc.disable()
    for work in works:
        _counted(work, OBJECTS // _objects(case))


def _objects(case: Case) -> int:
    """As many objects as counting can afford: callgrind runs fifty times as slow."""
    return min(case.objects, OBJECTS)


def _counted(work: Work, loops: int) -> None:
    turns = range(loops)
    mark()
    for _ in turns:
        work()
    mark()


def count(cases: Iterable[Case], *, profile: bool = False) -> dict[str, dict[str, float]]:
    """Instructions per object for every case: ``{name: {upstream, ours, ratio}}``.

    Each case is printed as soon as it is counted, with the functions that take most of ours if
    ``profile`` is true. Raises RuntimeError when valgrind is missing or the counted process fails.
    """
    counted = {}
    for case in cases:
        with tempfile.TemporaryDirectory() as scratch:
            # Each work leaves two dumps: what led up to it, and the work itself.
            _, upstream, _, ours = _dumps(case, Path(scratch))
            objects = OBJECTS // _objects(case) * _objects(case)
            figures = counted[case.name] = {
                "upstream": round(_total(upstream) / objects),
                "ours": round(_total(ours) / objects),
                "ratio": round(_total(upstream) / _total(ours), 3),
            }
            _print(case.name, figures)
            if profile:
                print("share, instructions per object, function")
                print(*hotspots.show(ours, objects), "", sep="\n")
    return counted


def _dumps(case: Case, folder: Path) -> list[Path]:
    """Run ``case`` under callgrind; the files that it writes into ``folder``."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise RuntimeError("instruction counts need valgrind: install it and try again")
    out = folder / "callgrind.out"
    done = subprocess.run(
        [
            valgrind,
            "--tool=callgrind",
            "--dump-before=getloadavg",
            f"--callgrind-out-file={out}",
            sys.executable,
            "-m",
            "benchmarks.instructions",
            "--count",
            case.name,
        ],
        cwd=ROOT,
        # Hash seeds move dict collisions, and with them the count.
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"the counted process of {case.name} failed:\n{done.stderr[-2000:]}")
    return [folder / f"callgrind.out.{n}" for n in range(1, 5)]


def _total(part: Path) -> int:
    found = re.search(r"^(?:summary|totals): (\d+)", part.read_text(), re.MULTILINE)
    if found is None:
        raise RuntimeError(f"{part} has no total: callgrind did not finish writing it")
    return int(found[1])


def moved(baseline: dict[str, dict[str, float]], counted: dict[str, dict[str, float]]) -> list[str]:
    """One sentence for every case whose ratio differs from the baseline's by over 3 %."""
    sentences = []
    for name, figures in counted.items():
        before = baseline.get(name)
        if before is None:
            sentences.append(f"{name}: not in the baseline")
            continue
        change = figures["ratio"] / before["ratio"] - 1
        if abs(change) > TOLERANCE:
            direction = "better" if change > 0 else "WORSE"
            sentences.append(
                f"{name}: {before['ratio']:.2f}× became {figures['ratio']:.2f}× "
                f"({change:+.1%}, {direction}); ours {before['ours']:,.0f} -> "
                f"{figures['ours']:,.0f} instructions per object"
            )
    sentences += [
        f"{name}: in the baseline but not counted" for name in baseline if name not in counted
    ]
    return sentences


def check(baseline_file: Path = BASELINE) -> int:
    """Compare with a baseline; 1 when a case got worse by over 3 %.

    Another interpreter has other ratios: what moved is said then, but is no failure.
    """
    baseline: dict[str, Any] = json.loads(baseline_file.read_text())
    cases = [select(name)[0] for name in baseline["cases"]]
    sentences = moved(baseline["cases"], count(cases))
    print("\n".join(sentences) or f"no ratio moved by more than {TOLERANCE:.0%}")
    if baseline["interpreter"] != interpreter():
        print(
            f"note: the baseline was counted on {baseline['interpreter']}, this is "
            f"{interpreter()}; a change is said and does not fail"
        )
        return 0
    return 1 if any("WORSE" in sentence for sentence in sentences) else 0


def update(
    counted: dict[str, dict[str, float]], baseline_file: Path = BASELINE, *, others: bool = False
) -> None:
    """Write the baseline anew, or only the cases that were counted if it keeps the ``others``.

    Raises RuntimeError when these were counted on another interpreter.
    """
    if others and baseline_file.is_file():
        baseline: dict[str, Any] = json.loads(baseline_file.read_text())
        if baseline["interpreter"] != interpreter():
            raise RuntimeError(
                f"the other cases were counted on {baseline['interpreter']}, this is "
                f"{interpreter()}: count all of them, without --case"
            )
        counted = baseline["cases"] | counted
    text = json.dumps({"interpreter": interpreter(), "cases": counted}, indent=2)
    baseline_file.write_text(text + "\n")


def interpreter() -> str:
    """What the counts depend on besides the code: version and compiler of Python."""
    return f"CPython {platform.python_version()}, {platform.python_compiler()}"


def _print(name: str, figures: dict[str, float]) -> None:
    print(
        f"{name:<28}  {figures['upstream']:>12,.0f}  {figures['ours']:>12,.0f}  "
        f"{figures['ratio']:>7.2f}×",
        flush=True,
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.instructions", description=__doc__)
    parser.add_argument("--case", action="append", help="a case's name or a part of it")
    parser.add_argument("--profile", action="store_true", help="say which functions hold ours")
    parser.add_argument("--check", action="store_true", help="compare with the baseline")
    parser.add_argument("--update", action="store_true", help="write the counts to the baseline")
    parser.add_argument("--baseline", type=Path, default=BASELINE, help="another file for it")
    parser.add_argument("--count", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.count:
        count_in_this_process(select(options.count)[0])
        return 0
    if options.check:
        return check(options.baseline)
    try:
        cases = [c for name in options.case or [] for c in select(name)] or rows()
        counted = count(cases, profile=options.profile)
        if options.update:
            update(counted, options.baseline, others=bool(options.case))
    except (LookupError, RuntimeError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
