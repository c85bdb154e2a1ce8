"""``python -m benchmarks.many``: large files checked by one process, by two, by a Dask cluster.

make bench-many                     five million rows; ten minutes
python -m benchmarks.many --quick   200,000 rows
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks import results, sections
from benchmarks.environments import ROOT
from benchmarks.report import CHARTS, FILES, markdown_table
from benchmarks.service.servers import children, environment, status_bytes
from benchmarks.service.shop import data

SCHEMA = "benchmarks.service.shop.schemas:MovementSchema"
RAW = ROOT / ".bench" / "many.json"


@dataclass(frozen=True, slots=True)
class Way:
    """One way to check a file.

    ``share`` is how much of the rows the file has: where checking takes long, a part says enough.
    ``runs`` of them go on at once, each by itself.
    """

    name: str
    label: str
    words: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    share: float = 1.0
    runs: int = 1


WAYS = (
    Way("upstream", "marshmallow, one process", (), {"ALTHAIA_DISABLE": "1"}, share=0.1),
    Way("tenth", "althaia, one process, a tenth of the rows", share=0.1),
    Way("one", "althaia, one process"),
    # What two processes gain on this machine where they share nothing: no way can gain more.
    Way("apart", "althaia, a process for each half, side by side", share=0.5, runs=2),
    Way("two", "althaia, two processes", ("--workers", "2")),
    Way("dask", "althaia, two Dask workers", ("--dask",)),
)


@dataclass(frozen=True, slots=True)
class Figures:
    """What one way took; ``peak_mib`` is that of the largest process."""

    name: str
    label: str
    rows: int
    seconds: float
    rate: float
    peak_mib: float


def written(file: Path, count: int) -> None:
    """``count`` changes of stock as a client would send them, one in a thousand invalid."""
    lines = [
        json.dumps(
            one
            | {name: str(one[name]) for name in ("key", "price", "day")}
            | {"kind": one["kind"].value, "at": one["at"].isoformat()}
        )
        for one in data.movements(data.Size(movements=1_000))
    ]
    lines[500] = json.dumps(json.loads(lines[500]) | {"quantity": "many"})
    block = "\n".join(lines) + "\n"
    with file.open("w") as opened:
        for _ in range(count // 1_000):
            opened.write(block)


def measure(way: Way, file: Path, rows: int, address: str | None) -> Figures:
    """Check ``file``; RuntimeError where the counts are not those that were written."""
    words = [*way.words, *([address] if address else [])]
    start = time.perf_counter()
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "althaia", "check", SCHEMA, str(file), "--json", *words],
            cwd=ROOT,
            env=environment(way.variables),
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(way.runs)
    ]
    with watched([process.pid for process in processes]) as peaks:
        outputs = [process.communicate()[0] for process in processes]
    seconds = time.perf_counter() - start
    expected = (rows, rows // 1_000, rows - rows // 1_000)
    for output in outputs:
        report = json.loads(output)
        if (report["records"], report["invalid"], report["valid"]) != expected:
            raise RuntimeError(f"{way.label}: wrong counts: {output[:500]}")
    rows *= way.runs
    return Figures(way.name, way.label, rows, seconds, rows / seconds, max(peaks.values()) / 2**20)


@contextmanager
def watched(roots: Sequence[int]) -> Iterator[dict[int, int]]:
    """The most memory that each process below ``roots`` had, in bytes."""
    peaks: dict[int, int] = {}
    end = threading.Event()

    def look() -> None:
        while not end.wait(0.2):
            found = list(roots)
            for pid in found:
                found += children(pid)
                try:
                    peaks[pid] = max(peaks.get(pid, 0), status_bytes(pid, "VmHWM"))
                except (OSError, LookupError):
                    continue

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield peaks
    finally:
        end.set()
        thread.join()


@contextmanager
def dask_cluster() -> Iterator[tuple[str, list[int]] | None]:
    """Two worker processes with the scheduler in this one; None without ``distributed``."""
    try:
        from distributed import LocalCluster
    except ImportError:
        yield None
        return
    os.environ["ALTHAIA_PATCH"] = "1"
    os.environ["PYTHONPATH"] = str(ROOT)
    made: Any = LocalCluster
    with made(
        n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
    ) as running:
        yield running.scheduler_address, [nanny.pid for nanny in running.workers.values()]


def run(rows: int, progress: Callable[[str], object]) -> list[Figures]:
    """All ways, one after the other, on one file."""
    found = []
    with tempfile.TemporaryDirectory(prefix="many-") as folder:
        files = {}
        for share in {way.share for way in WAYS}:
            count = int(rows * share)
            progress(f"writing {count:,} rows")
            files[share] = Path(folder) / f"{count}.ndjson", count
            written(*files[share])
        for way in WAYS:
            progress(way.label)
            file, count = files[way.share]
            if way.name != "dask":
                found.append(measure(way, file, count, None))
                continue
            with dask_cluster() as cluster:
                if cluster is None:
                    progress("Dask is not installed: pip install 'althaia[many]'")
                    continue
                address, pids = cluster
                with watched(pids) as peaks:
                    figures = measure(way, file, count, address)
                most = max(figures.peak_mib, *(peak / 2**20 for peak in peaks.values()))
                found.append(Figures(**asdict(figures) | {"peak_mib": most}))
    return found


def table(found: Sequence[Figures]) -> str:
    upstream = next(one.rate for one in found if one.name == "upstream")
    alone = next(one.rate for one in found if one.name == "one")
    return markdown_table(
        ["", "rows", "seconds", "rows/s", "to marshmallow", "to one process", "largest, MiB"],
        (
            [
                one.label,
                f"{one.rows:,}",
                f"{one.seconds:,.1f}",
                f"{one.rate:,.0f}",
                f"{one.rate / upstream:.1f}×",
                f"{one.rate / alone:.2f}×",
                f"{one.peak_mib:,.0f}",
            ]
            for one in found
        ),
    )


def save(found: Sequence[Figures], machine: Mapping[str, object]) -> None:
    """The table in ``docs/performance-files.md``, and a chart beside the raw results."""
    from benchmarks.service import charts

    charts.rates({one.label: one.rate for one in found}, CHARTS / "many.svg")
    sections.replace(
        FILES,
        "many",
        "make bench-many",
        [
            "## Large files",
            "`python -m althaia check` on NDJSON, flat records of eleven fields, one in a thousand "
            f"invalid. CPython {machine['python']} on {machine['processor']}, "
            f"{machine['cores']} cores.",
            table(found),
            "*largest*: the peak of the process that had most memory.",
        ],
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many", description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--quick", action="store_true", help="200,000 rows")
    parser.add_argument("--save", action="store_true", help="write the page of figures")
    options = parser.parse_args(arguments)
    rows = 200_000 if options.quick else options.rows // 10_000 * 10_000
    console = Console(stderr=True)
    found = run(rows, lambda text: console.print(text, highlight=False, markup=False))
    machine = results.machine()
    RAW.parent.mkdir(exist_ok=True)
    RAW.write_text(json.dumps([asdict(one) for one in found], indent=1) + "\n")
    print(table(found))
    if options.save:
        save(found, machine)
    return 0


if __name__ == "__main__":
    sys.exit(main())
