"""The tables of a run: on the terminal, and in ``docs/performance-service.md``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from benchmarks import sections
from benchmarks.report import CHARTS, SERVICE, markdown_table
from benchmarks.service import model, shares
from benchmarks.service.measure import Figures, ratio
from benchmarks.service.profiler import PARTS
from benchmarks.service.servers import KINDS, Kind

Report = Mapping[str, Any]

SHOWN = ("upstream", "switch", "frozen")
"""The variants in the tables of latency and parts; the raw results have all."""


def figures(kind: Kind, measured: Mapping[str, Mapping[str, Figures]]) -> dict[str, Any]:
    """What was measured on one framework, as data: each figure, and the rows' ratios."""
    rows = []
    for row in model.ROWS:
        baseline = measured.get(row.against, {}).get(model.UPSTREAM.name)
        seen = measured.get(row.endpoint, {})
        if baseline is None or not seen:
            continue
        rows.append(
            {
                "endpoint": row.endpoint,
                "against": row.against,
                "reach": dict(row.reach),
                "ratios": {name: asdict(ratio(baseline, one)) for name, one in seen.items()},
            }
        )
    return {
        "label": kind.label,
        "figures": {
            endpoint: {name: one.as_json() for name, one in seen.items()}
            for endpoint, seen in measured.items()
        },
        "rows": rows,
    }


def text(report: Report) -> str:
    """All tables, in Markdown, which a terminal shows just as well."""
    return "\n\n".join([*_parts(report), *_latency(report)]) + "\n"


def save(report: Report) -> None:
    """The tables in ``docs/performance-service.md``, and charts beside the raw results.

    What this run has not measured stays as it is there.
    """
    # Imports matplotlib, which a run without charts does not need.
    from benchmarks.service import charts

    if report["profile"]:
        charts.shares(report["profile"], report["endpoints"], CHARTS / "service.svg")
    if report["latency"]:
        charts.connections(report["latency"], CHARTS / "connections.svg")
    if report["servers"]:
        parts = ["## At the door of a service", *_parts(report)]
        sections.replace(SERVICE, "service", "make bench-service", parts)
    if report["latency"]:
        sections.replace(SERVICE, "pings", "make bench-service", [*_latency(report)])


def _parts(report: Report) -> Iterator[str]:
    yield from (f"**WRONG**: {line}" for line in report["wrong"])
    yield from (f"Not in this run: {line}." for line in report["absent"].values())
    if report["servers"]:
        yield _machine(report)
    for name, server in report["servers"].items():
        yield from _server(report, name, server)
    if report["profile"]:
        yield from _profile(report)


def _machine(report: Report) -> str:
    machine, versions = report["machine"], report["versions"]
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    rounds = " Few and short rounds (`--quick`): coarse figures." if report["quick"] else ""
    return (
        f"CPython {machine['python']} on {machine['processor']}, {machine['cores']} cores, "
        f"{machine['system']}; {report['database']}, {named}.{rounds}"
    )


def _server(report: Report, name: str, server: Mapping[str, Any]) -> Iterator[str]:
    if not server["rows"]:
        return
    label = {variant.name: variant.label for variant in model.VARIANTS.values()}
    titles = report["endpoints"]
    used = [v for v in model.VARIANTS if any(v in row["ratios"] for row in server["rows"])]
    others = [v for v in used if v != model.UPSTREAM.name]
    yield f"### {KINDS[name].label}"
    bounds = report["profile"] if name == "sync" else {}
    heads = ["request", "marshmallow", *(label[v] for v in others)]
    if bounds:
        heads.append("bound")
    yield markdown_table(
        heads, (_ratio_line(row, server, others, titles, bounds) for row in server["rows"])
    )
    if name != "sync":
        return
    yield markdown_table(
        ["request", "", "requests/s", "p50, ms", "p99, ms", "first byte, ms", "peak, MiB"],
        _once(_figure_lines(server["figures"], [v for v in used if v in SHOWN], titles, label)),
        left=2,
    )


def _ratio_line(
    row: Mapping[str, Any],
    server: Mapping[str, Any],
    others: Sequence[str],
    titles: Mapping[str, str],
    bounds: Mapping[str, Any],
) -> list[str]:
    against = "" if row["endpoint"] == row["against"] else f", against {titles[row['against']]}"
    baseline = server["figures"][row["against"]][model.UPSTREAM.name]["cpu_ms"]
    line = [f"{titles[row['endpoint']]}{against}", f"{baseline:,.1f} ms"]
    for name in others:
        found = row["ratios"].get(name)
        if found is None:
            line.append("–")
            continue
        cell = f"{found['median']:.2f}"
        line.append(f"**{cell}**" if name in row["reach"] else cell)
    if bounds:
        seen = bounds.get(row["endpoint"], {}).get(model.UPSTREAM.name)
        same = row["endpoint"] == row["against"]
        line.append(f"{shares.bound(seen):.1f}" if seen and same else "–")
    return line


def _figure_lines(
    measured: Mapping[str, Any],
    used: Sequence[str],
    titles: Mapping[str, str],
    label: Mapping[str, str],
) -> Iterator[list[str]]:
    for endpoint, seen in measured.items():
        for name in used:
            if name in seen:
                one = seen[name]
                yield [
                    titles[endpoint],
                    label[name],
                    f"{one['rate']:,.1f}",
                    *(f"{one[key]:,.1f}" for key in ("p50_ms", "p99_ms", "first_byte_ms")),
                    f"{one['peak_mib']:,.0f}",
                ]


def _once(lines: Iterable[list[str]]) -> Iterator[list[str]]:
    """Leave the first cell of a line empty where it is that of the line before."""
    before = ""
    for first, *rest in lines:
        yield ["" if first == before else first, *rest]
        before = first


def _profile(report: Report) -> Iterator[str]:
    label = {variant.name: variant.label for variant in model.VARIANTS.values()}
    yield "### Where the time goes"
    yield (
        "Milliseconds of the worker's processor time per request, sampled in a run of its own. "
        "*attributes*: the ORM's own code while a dump reads its objects."
    )
    yield markdown_table(
        ["request", "", *PARTS, "together"],
        _once(
            [
                report["endpoints"][endpoint],
                label[name],
                *(f"{seen[part]:,.1f}" for part in PARTS),
                f"{sum(seen.values()):,.1f}",
            ]
            for endpoint, variants in report["profile"].items()
            # Of shorter requests the samples are too few.
            if sum(variants.get(model.UPSTREAM.name, {}).values()) >= 5
            for name, seen in variants.items()
            if name in SHOWN
        ),
        left=2,
    )


def _latency(report: Report) -> Iterator[str]:
    points, machine = report["latency"], report["machine"]
    if not points:
        return
    yield "### Latency while thousands of connections are open"
    yield (
        f"CPython {machine['python']} on {machine['processor']}, {machine['cores']} cores. Of "
        "several rounds: p50, p99 and dumps are their medians, the slowest is that of all."
    )
    ends = [end(point["connections"] for point in points) for end in (min, max)]
    yield markdown_table(
        ["server", "connections", "p50, ms", "p99, ms", "slowest, ms", "dumps/s"],
        _once(
            [
                f"{point['server']}, {point['label']}",
                f"{point['connections']:,}",
                *(f"{point[key]:,.1f}" for key in ("p50_ms", "p99_ms", "most_ms")),
                f"{point['dumps']:.2f}",
            ]
            for point in points
            if point["connections"] in ends
        ),
    )
