"""The charts of ``docs/performance-tables.md``: SVG, readable on a light and on a dark page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

# Greys in the middle have contrast on white and on black alike.
TEXT = "#808080"
OURS, HAND, UPSTREAM, OTHERS = "#2a9d8f", "#d98e04", "#c0504d", "#8f9bb3"
COLOURS = {"althaia": OURS, "hand-written": HAND, "upstream": UPSTREAM}

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    # Element names from a fixed salt, so that equal figures give equal files.
    "svg.hashsalt": "althaia",
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": TEXT,
    "axes.labelcolor": TEXT,
    "axes.edgecolor": TEXT,
    "xtick.color": TEXT,
    "ytick.color": TEXT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "legend.frameon": False,
}


def bars(
    cases: Sequence[Mapping[str, Any]], labels: Mapping[str, str], title: str, file: Path
) -> None:
    """One panel a case: who is how many times as fast as upstream, fastest first."""
    with mpl.rc_context(STYLE):
        columns = 2
        lines = (len(cases) + columns - 1) // columns
        most = max(sum(1 for r in case["results"].values() if r["ratio"]) for case in cases)
        figure, panels = plt.subplots(
            lines, columns, figsize=(9.5, lines * (0.6 + 0.2 * most)), squeeze=False
        )
        for panel in panels.flat[len(cases) :]:
            panel.set_visible(False)
        for panel, case in zip(panels.flat, cases, strict=False):
            _panel(panel, case, labels)
        figure.suptitle(title, color=TEXT)
        write(figure, file)


def _panel(panel: Axes, case: Mapping[str, Any], labels: Mapping[str, str]) -> None:
    ratios = {name: r["ratio"] for name, r in case["results"].items() if r["ratio"]}
    order = sorted(ratios, key=lambda name: ratios[name]["median"])
    medians = [ratios[name]["median"] for name in order]
    errors = [
        [ratios[name]["median"] - ratios[name]["low"] for name in order],
        [ratios[name]["high"] - ratios[name]["median"] for name in order],
    ]
    panel.barh(
        [labels[name] for name in order],
        medians,
        xerr=errors,
        color=[COLOURS.get(name, OTHERS) for name in order],
        ecolor=TEXT,
        error_kw={"elinewidth": 0.8},
    )
    for place, (median, high) in enumerate(zip(medians, errors[1], strict=True)):
        panel.annotate(
            f"{median:.1f}×",
            (median + high, place),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    panel.margins(x=0.15)
    panel.set_title(case["title"], fontsize=9, loc="left")
    panel.tick_params(axis="y", length=0)
    panel.tick_params(axis="x", labelsize=7)


def growth(
    points: Mapping[str, Sequence[tuple[int, float]]], labels: Mapping[str, str], file: Path
) -> None:
    """Microseconds per object over the number of objects: flat lines are good."""
    with mpl.rc_context(STYLE):
        figure, panel = plt.subplots(figsize=(7, 3.4))
        for name, seen in points.items():
            panel.plot(
                [objects for objects, _ in seen],
                [micro for _, micro in seen],
                marker="o",
                color=COLOURS.get(name, OTHERS),
                label=labels[name],
            )
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_xlabel("objects in one dump")
        panel.set_ylabel("µs per object")
        panel.legend(labelcolor=TEXT)
        write(figure, file)


def write(figure: Any, file: Path) -> None:
    """Write ``figure`` as SVG, the same bytes for the same figures, and close it."""
    figure.tight_layout()
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, transparent=True, metadata={"Date": None})
    plt.close(figure)
