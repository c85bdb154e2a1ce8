"""``python -m benchmarks.wire``: messages and stored entities as JSON, MessagePack and XML, and
exports as streams.

Messages are timed in samples, and the figures are for a million of them.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

from rich.console import Console

from benchmarks import data, results, sections, timing
from benchmarks.cases import flat, xml_text
from benchmarks.cases.wire import ENTITY, KINDS, MAKERS, schemas
from benchmarks.environments import ROOT
from benchmarks.report import CHARTS, WIRE, markdown_table
from benchmarks.rows import OURS, UPSTREAM, namespace

SAMPLE = 200
"""Different messages of a kind; they take turns."""
MILLION = 1_000_000
ENTITIES = 100_000
EXPORTS = (10_000, 200_000, 1_000_000)


@dataclass(frozen=True, slots=True)
class Way:
    """A library with a render module."""

    label: str
    library: str
    form: str

    def schemas(self) -> Mapping[str, Any]:
        forms: dict[str, Any] = {"json": None, "XML": xml_text}
        if self.form == "MessagePack":
            from althaia import msgpack

            forms["MessagePack"] = msgpack
        return schemas(namespace(self.library), forms[self.form])


WAYS = (
    Way("marshmallow, JSON", UPSTREAM, "json"),
    Way("marshmallow, XML", UPSTREAM, "XML"),
    Way("althaia, JSON", OURS, "json"),
    Way("althaia, XML", OURS, "XML"),
    Way("althaia, MessagePack", OURS, "MessagePack"),
)
STORES = tuple(way for way in WAYS if way.form != "XML")


@dataclass(frozen=True, slots=True)
class Figures:
    """Bytes of one message on average, microseconds to write one and to read one."""

    kind: str
    label: str
    size: float
    out: float
    back: float


def compared(kind: str, ways: Sequence[Way]) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """The schemas and the written messages of each way; AssertionError where they say different
    things."""
    made = {way.label: way.schemas()[kind] for way in ways}
    objects = [MAKERS[kind](i) for i in range(SAMPLE)]
    written = {way.label: [made[way.label].dumps(one) for one in objects] for way in ways}
    first = ways[0].label
    expected = [made[first].loads(one) for one in written[first]]
    for way in ways:
        read = [made[way.label].loads(one) for one in written[way.label]]
        if read != expected:
            raise AssertionError(f"{way.label} reads another {kind} than {first}")
        twin = f"marshmallow, {way.form}".replace("json", "JSON")
        if twin in written and written[way.label] != written[twin]:
            raise AssertionError(f"{way.label} writes another {kind} than {twin}")
    return made, written


def measure(kind: str, ways: Sequence[Way], rounds: int, seconds: float) -> list[Figures]:
    made, written = compared(kind, ways)
    objects = [MAKERS[kind](i) for i in range(SAMPLE)]

    def out(label: str) -> Callable[[], object]:
        dumps = made[label].dumps
        return lambda: [dumps(one) for one in objects]

    def back(label: str) -> Callable[[], object]:
        loads, texts = made[label].loads, written[label]
        return lambda: [loads(one) for one in texts]

    works = {
        (label, way): how(label) for label in made for way, how in (("out", out), ("in", back))
    }
    times = timing.interleave({" ".join(k): w for k, w in works.items()}, rounds, seconds)

    def each(label: str, way: str) -> float:
        return timing.Spread.of(times[f"{label} {way}"]).median * 1e6 / SAMPLE

    sizes = {
        label: sum(len(one.encode() if isinstance(one, str) else one) for one in texts) / SAMPLE
        for label, texts in written.items()
    }
    return [
        Figures(kind, label, sizes[label], each(label, "out"), each(label, "in")) for label in made
    ]


# ---- In a process of its own ----------------------------------------------------------


def status_kib(name: str) -> int:
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith(name)).split()[1])


def entity_memory(label: str, count: int) -> float:
    """Bytes that the process grows by for each entity that was read and is kept."""
    way = next(way for way in WAYS if way.label == label)
    schema = way.schemas()[ENTITY]
    stored = [schema.dumps(MAKERS[ENTITY](i)) for i in range(SAMPLE)]
    kept = [schema.loads(one) for one in stored]
    before = status_kib("VmRSS")
    kept += [schema.loads(one) for one in islice(cycle(stored), count)]
    return (status_kib("VmRSS") - before) * 1024 / count


def export(label: str, rows: int) -> dict[str, float]:
    """First byte in milliseconds, all in seconds, and the peak of the process in MiB."""
    name = UPSTREAM if label.startswith("marshmallow") else OURS
    schema = flat.schema(namespace(name))(many=True)
    source = data.flat_dicts(500)
    # Warm, and with its plan; a server is.
    schema.dumps(source)
    firsts = []
    # On a busy machine any of them may have to wait.
    for _ in range(5 if name == OURS else 1):
        start = time.perf_counter()
        chunks = parts(schema, name, islice(cycle(source), rows))
        size = len(next(chunks))
        firsts.append(time.perf_counter() - start)
    size += sum(map(len, chunks))
    return {
        "first_ms": statistics.median(firsts) * 1e3,
        "seconds": time.perf_counter() - start,
        "peak_mib": status_kib("VmHWM") / 1024,
        "mib": size / 2**20,
    }


def parts(schema: Any, name: str, rows: Iterator[Any]) -> Iterator[bytes]:
    if name == UPSTREAM:
        return iter([schema.dumps(list(rows)).encode()])
    import althaia

    chunks: Iterator[bytes] = althaia.stream(schema, rows)
    return chunks


def alone(*words: str) -> Any:
    """What this module prints when it is run with these words."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.wire", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


# ---- What is shown --------------------------------------------------------------------


def million(found: Sequence[Figures]) -> str:
    lines = []
    for one in found:
        base = next(x for x in found if x.kind == one.kind)
        lines.append(
            [
                one.kind,
                one.label,
                f"{one.size:,.0f}",
                f"{one.out:,.1f}",
                f"{base.out / one.out:.1f}×",
                f"{one.back:,.1f}",
                f"{base.back / one.back:.1f}×",
            ]
        )
    heads = ["message", "", "bytes each", "s out", "to marshmallow", "s in", "to marshmallow"]
    return markdown_table(heads, iter(lines), left=2)


def stores(found: Sequence[Figures], memory: Mapping[str, float]) -> str:
    base = found[0]
    return markdown_table(
        ["", "bytes", "µs to write", "to JSON", "µs to read", "to JSON", "memory each, bytes"],
        (
            [
                one.label,
                f"{one.size:,.0f}",
                f"{one.out:,.1f}",
                f"{base.out / one.out:.1f}×",
                f"{one.back:,.1f}",
                f"{base.back / one.back:.1f}×",
                f"{memory[one.label]:,.0f}",
            ]
            for one in found
        ),
    )


def exports(found: Sequence[tuple[str, int, Mapping[str, float]]]) -> str:
    return markdown_table(
        ["", "rows", "first byte, ms", "all, s", "text, MiB", "peak of the process, MiB"],
        (
            [
                label,
                f"{rows:,}",
                f"{one['first_ms']:,.1f}",
                f"{one['seconds']:,.1f}",
                f"{one['mib']:,.0f}",
                f"{one['peak_mib']:,.0f}",
            ]
            for label, rows, one in found
        ),
    )


def draw(found: Sequence[Figures]) -> None:
    """A panel a message: seconds out and in for a million, a pair of bars a way."""
    from matplotlib import pyplot as plt, rc_context

    from benchmarks import charts

    with rc_context(charts.STYLE):
        figure, panels = plt.subplots(2, 2, figsize=(9.5, 5.4), squeeze=False)
        for panel, kind in zip(panels.flat, KINDS, strict=True):
            shown = [one for one in found if one.kind == kind][::-1]
            places = range(len(shown))
            for shift, name, colour in ((0.2, "out", charts.OURS), (-0.2, "back", charts.HAND)):
                panel.barh(
                    [place + shift for place in places],
                    [getattr(one, name) for one in shown],
                    0.38,
                    color=colour,
                    label={"out": "out", "back": "in"}[name],
                )
            names = [f"{one.label}, {one.size:,.0f} bytes" for one in shown]
            panel.set_yticks(list(places), names, fontsize=7)
            panel.set_title(f"{kind}, seconds for a million", fontsize=9, loc="left")
        panels.flat[0].legend(labelcolor=charts.TEXT, fontsize=8)
        charts.write(figure, CHARTS / "wire.svg")


def save(parts_: Sequence[str]) -> None:
    machine = results.machine()
    introduction = (
        f"CPython {machine['python']} on {machine['processor']}, {machine['cores']} cores. Before "
        "anything is timed, what was written and read is compared."
    )
    sections.replace(
        WIRE, "wire", "make bench-wire", ["## Messages, entities, exports",
        introduction, *parts_]
    )  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wire", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short rounds, fewer rows")
    parser.add_argument("--save", action="store_true", help="write the page of figures")
    parser.add_argument("--memory", nargs=2, metavar=("WAY", "COUNT"), help=argparse.SUPPRESS)
    parser.add_argument("--export", nargs=2, metavar=("WAY", "ROWS"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.memory:
        print(entity_memory(options.memory[0], int(options.memory[1])))
        return 0
    if options.export:
        print(json.dumps(export(options.export[0], int(options.export[1]))))
        return 0
    rounds, seconds = (3, 0.02) if options.quick else (7, 0.1)
    kept = ENTITIES // 20 if options.quick else ENTITIES
    console = Console(stderr=True)
    found: list[Figures] = []
    for kind in KINDS:
        console.print(kind)
        found += measure(kind, WAYS, rounds, seconds)
    console.print(ENTITY)
    entities = measure(ENTITY, STORES, rounds, seconds)
    memory = {way.label: alone("--memory", way.label, str(kept)) for way in STORES}
    streamed = []
    for label, rows in [("marshmallow, dumps", 10_000), *(("althaia, stream", n) for n in EXPORTS)]:
        console.print(f"{label}, {rows:,} rows", highlight=False)
        streamed.append((label, rows, alone("--export", label, str(rows))))
    shown = [
        "### A million messages",
        f"Measured on {SAMPLE} different messages of each kind, again and again; the seconds are "
        "those of a million at that rate. *out*: `dumps` of an object. *in*: `loads`.",
        million(found),
        "### Stored entities",
        "About 20 fields, eight properties, twelve members. *memory*: what the process grew by for "
        f"each of {kept:,} entities that were read and kept.",
        stores(entities, memory),
        "### Exports",
        "Flat rows of fifteen fields, taken one by one from an iterator; the first byte is the "
        "median of five streams.",
        exports(streamed),
    ]
    print("\n\n".join(shown))
    if options.save:
        draw(found)
        save(shown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
