"""The command line of ``python -m benchmarks.service``."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks import results
from benchmarks.service import latency, measure, model, render, servers, shares
from benchmarks.service.client import RequestFailed
from benchmarks.service.model import Missing
from benchmarks.service.postgres import NotInstalled
from benchmarks.service.shop import data

RAW = servers.ROOT / ".bench" / "service.json"

FRAMEWORKS = {
    "sync": None,
    "gthread": ("orders", "one", "bulk"),
    "uvicorn": ("page", "orders", "one", "bulk", "entities", "stream"),
    "twisted": ("page", "orders", "one", "bulk", "entities"),
}
"""The endpoints that each framework is measured with; all of them where nothing is said."""

BESIDE = ("upstream", "switch", "provider", "frozen")
"""The variants of the frameworks other than the first."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service", description=__doc__)
    parser.add_argument("--sqlite", action="store_true", help="the small form, without PostgreSQL")
    parser.add_argument("--quick", action="store_true", help="short rounds, coarse figures")
    parser.add_argument("--once", action="store_true", help="each request once, to see it work")
    parser.add_argument(
        "--server", action="append", choices=list(servers.KINDS), help="only this server"
    )
    parser.add_argument(
        "--variant", action="append", choices=list(model.VARIANTS), help="only this, and upstream"
    )
    parser.add_argument("--row", action="append", help="only this endpoint, by its name")
    parser.add_argument("--no-profile", action="store_true", help="not where the time goes")
    parser.add_argument("--no-latency", action="store_true", help="no pings")
    parser.add_argument("--only-latency", action="store_true", help="nothing but the pings")
    parser.add_argument("--most", type=int, default=15_000, help="the most connections that ping")
    parser.add_argument("--json", action="store_true", help="machine-readable, on stdout")
    parser.add_argument(
        "--raw", type=Path, default=RAW, metavar="FILE", help="where all figures go, as JSON"
    )
    parser.add_argument("--save", action="store_true", help="write the page of figures")
    options = parser.parse_args(arguments)
    console = Console(stderr=True)
    # Database and servers are ended however this ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    report = blank(quick=options.quick)
    try:
        run(options, report, lambda text: console.print(text, highlight=False, markup=False))
    except (Missing, NotInstalled, RequestFailed, servers.ServerFailed, RuntimeError) as error:
        kept = ""
        if report["servers"] or report["latency"]:
            kept = f"What was measured until then is in {_keep(report, options.raw)}.\n"
        parser.exit(2, f"{parser.prog}: {error}\n{kept}")
    _keep(report, options.raw)
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        print(render.text(report))
    if options.save:
        render.save(report)
    return 1 if report["wrong"] else 0


def _keep(report: dict[str, Any], path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(report, indent=1) + "\n")
    return path


def blank(*, quick: bool) -> dict[str, Any]:
    """A report in which nothing is measured yet."""
    return {
        "machine": results.machine(),
        "quick": quick,
        "versions": versions(),
        "absent": {},
        "wrong": [],
        "servers": {},
        "profile": {},
        "latency": [],
    }


def run(
    options: argparse.Namespace, report: dict[str, Any], progress: Callable[[str], object]
) -> None:
    """Measure what is asked for, into a report that is blank.

    :raises Missing: a framework or a variant that was asked for is not installed
    """
    if not options.only_latency:
        _service(options, report, progress)
    if options.only_latency or not (options.no_latency or options.once):
        report["latency"] = latency.measure(options.most, quick=options.quick, progress=progress)


def _service(
    options: argparse.Namespace, report: dict[str, Any], progress: Callable[[str], object]
) -> None:
    size = data.SMALL if options.sqlite else data.FULL
    endpoints = model.endpoints(size)
    effort = measure.ONCE if options.once else measure.QUICK if options.quick else measure.FULL
    variants = _variants(options.variant, report["absent"])
    kinds = _kinds(options.server, report["absent"])
    if options.row and (unknown := set(options.row) - endpoints.keys()):
        raise Missing(f"no endpoint is named {', '.join(unknown)}: one of {', '.join(endpoints)}")
    progress("filling the database")
    with measure.database(size, sqlite=options.sqlite) as (copy, database):
        report["database"] = database
        report["endpoints"] = {name: endpoint.title for name, endpoint in endpoints.items()}
        for kind in kinds:
            names = options.row or FRAMEWORKS[kind.name] or list(endpoints)
            chosen = [
                endpoints[name]
                for name in names
                if _able(endpoints[name], report["absent"], asked=bool(options.row))
            ]
            some = [v for v in variants if kind is servers.SYNC or v.name in BESIDE]
            if kind is servers.TWISTED:
                # It has no adapter: its JSON comes from `dumps`.
                some = [v for v in some if "provider" not in v.label]
            figures, wrong = measure.framework(kind, some, chosen, copy, size, effort, progress)
            report["wrong"] += [f"{kind.label}: {text}" for text in wrong]
            report["servers"][kind.name] = render.figures(kind, figures)
        if not (options.no_profile or options.once) and servers.SYNC in kinds:
            chosen = [
                one
                for name, one in endpoints.items()
                if one.most > 1 and name in (options.row or endpoints)
            ]
            few = [v for v in variants if v.name in BESIDE]
            count = 5 if options.quick else 20
            report["profile"] = shares.measure(chosen, few, copy, count, progress)


def _variants(names: list[str] | None, absent: dict[str, str]) -> list[model.Variant]:
    chosen = [v for v in model.VARIANTS.values() if not names or v.name in names]
    if model.UPSTREAM not in chosen:
        chosen.insert(0, model.UPSTREAM)
    there = []
    for variant in chosen:
        if (need := variant.missing()) is None:
            there.append(variant)
        elif names:
            raise Missing(f"the variant {variant.name!r} needs {need}, which is not there")
        else:
            absent[variant.name] = f"{variant.label}: needs {need}, which is not there"
    return there


def _kinds(names: list[str] | None, absent: dict[str, str]) -> list[servers.Kind]:
    there = []
    for kind in servers.KINDS.values():
        if names and kind.name not in names:
            continue
        if (need := model.missing(kind.modules)) is None:
            there.append(kind)
        elif names:
            raise Missing(f"{kind.label} needs {need}: pip install 'althaia[service]'")
        else:
            absent[kind.name] = f"{kind.label}: needs {need}: pip install 'althaia[service]'"
    return there


def _able(endpoint: model.Endpoint, absent: dict[str, str], *, asked: bool) -> bool:
    if (need := model.missing(endpoint.needs)) is None:
        return True
    text = f"{endpoint.title}: needs {need}, which is not there"
    if asked:
        raise Missing(text)
    absent[endpoint.name] = text
    return False


def versions() -> dict[str, str]:
    """The versions of all that takes part and is installed."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in ("althaia", "marshmallow", "SQLAlchemy", "psycopg", "Flask", "flask-smorest",
                 "gunicorn", "starlette", "uvicorn", "Twisted"):  # fmt: skip
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
