"""The charts of a service: where the time goes, and latency over open connections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt

from benchmarks.charts import HAND, OTHERS, OURS, STYLE, TEXT, UPSTREAM, write
from benchmarks.service.model import VARIANTS
from benchmarks.service.profiler import PARTS

COLOURS = {
    "upstream": UPSTREAM,
    "upstream-chunks": HAND,
    "althaia": OTHERS,
    "althaia-stream": OURS,
}
PART_COLOURS = dict(
    zip(
        PARTS,
        ("#5b6c8f", "#8f9bb3", "#d98e04", UPSTREAM, OURS, "#b9b9b9", "#7a5195"),
        strict=True,
    )
)


def connections(points: Sequence[Mapping[str, Any]], file: Path) -> None:
    """p99 of the pings over the number of open connections, one panel a server."""
    names = list(dict.fromkeys(point["server"] for point in points))
    with mpl.rc_context(STYLE):
        figure, panels = plt.subplots(1, len(names), figsize=(9.5, 3.4), squeeze=False, sharey=True)
        for panel, name in zip(panels.flat, names, strict=True):
            for way in dict.fromkeys(point["way"] for point in points):
                seen = [p for p in points if p["server"] == name and p["way"] == way]
                if seen:
                    panel.plot(
                        [p["connections"] for p in seen],
                        [p["p99_ms"] for p in seen],
                        marker="o",
                        color=COLOURS[way],
                        label=seen[0]["label"],
                    )
            panel.set_xscale("log")
            panel.set_yscale("log")
            panel.set_xlabel("open connections")
            panel.set_title(name, fontsize=9, loc="left")
        panels.flat[0].set_ylabel("p99 of the pings, ms")
        panels.flat[0].legend(labelcolor=TEXT, fontsize=8)
        write(figure, file)


def rates(found: Mapping[str, float], file: Path) -> None:
    """Rows a second of each way to check a file."""
    with mpl.rc_context(STYLE):
        figure, panel = plt.subplots(figsize=(8, 0.6 + 0.35 * len(found)))
        labels = list(found)[::-1]
        bars = panel.barh(labels, [found[label] for label in labels], color=OURS)
        for bar, label in zip(bars, labels, strict=True):
            if label.startswith("marshmallow"):
                bar.set_color(UPSTREAM)
        panel.set_xlabel("rows a second")
        panel.tick_params(axis="y", length=0)
        write(figure, file)


def shares(
    profile: Mapping[str, Mapping[str, Mapping[str, float]]],
    titles: Mapping[str, str],
    file: Path,
) -> None:
    """Processor time of each request by part, a bar for each variant, upstream's as 100 %."""
    bars = [
        (f"{titles[endpoint]}: {VARIANTS[name].label}", seen, sum(variants["upstream"].values()))
        for endpoint, variants in profile.items()
        for name, seen in variants.items()
    ]
    with mpl.rc_context(STYLE):
        figure, panel = plt.subplots(figsize=(9.5, 0.6 + 0.24 * len(bars)))
        places = range(len(bars), 0, -1)
        left = [0.0] * len(bars)
        for part in PARTS:
            widths = [100 * seen[part] / whole for _, seen, whole in bars]
            panel.barh(places, widths, left=left, color=PART_COLOURS[part], label=part)
            left = [start + width for start, width in zip(left, widths, strict=True)]
        panel.set_yticks(list(places), [label for label, _, _ in bars], fontsize=7)
        panel.set_xlabel("processor time of a request, % of marshmallow's")
        panel.legend(labelcolor=TEXT, fontsize=7, ncols=len(PARTS), loc="lower center",
                     bbox_to_anchor=(0.4, 1.0))  # fmt: skip
        write(figure, file)
