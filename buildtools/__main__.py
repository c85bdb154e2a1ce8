"""The maintainer's commands: ``python -m buildtools --help``."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from buildtools import (
    coverage,
    dependents,
    fetch,
    lock,
    mutants,
    queue,
    rehearsal,
    sanitize,
    semantics,
    treecopy,
    upstream,
)
from buildtools.errors import BuildError
from buildtools.layout import Layout
from buildtools.pipeline import build

Command = Callable[[Layout, argparse.Namespace], int | None]
"""Returns its exit code; None is 0."""


def build_in_place(layout: Layout, _: argparse.Namespace) -> None:
    """Generate and compile in this tree, as an editable install does."""
    build(layout, os.environ)


def requirements(layout: Layout, options: argparse.Namespace) -> None:
    """Print what a build in place needs and what the named extras add, one requirement a line."""
    for line in needed(layout.root / "pyproject.toml", options.extra):
        print(line)


def needed(project: Path, extras: Iterable[str]) -> list[str]:
    """The requirements of the build, of the package and of ``extras``.

    :raises BuildError: there is no extra of that name
    """
    table = tomllib.loads(project.read_text("utf-8"))
    known = table["project"]["optional-dependencies"]
    for extra in extras:
        if extra not in known:
            there = ", ".join(known)
            raise BuildError(project.name, f"there is no extra {extra!r}", f"there are {there}")
    parts = [table["build-system"]["requires"], table["project"]["dependencies"]]
    return [line for part in (*parts, *(known[extra] for extra in extras)) for line in part]


def patches_check(layout: Layout, options: argparse.Namespace) -> None:
    """Apply the queue in memory and say where each hunk went."""
    source = _source(options)
    for line in queue.report(queue.read_series(layout.patches), source):
        print(line)


def patches_apply(layout: Layout, options: argparse.Namespace) -> None:
    """Write pristine and patched sources to a folder, to look at or to edit."""
    target = options.to or layout.work / "queue"
    queue.write_trees(queue.read_series(layout.patches), _source(options), target)
    print(f"pristine: {target / 'a'}\npatched:  {target / 'b'}")


def patches_refresh(layout: Layout, options: argparse.Namespace) -> None:
    """Write today's line numbers into the hunk headers; nothing else changes."""
    for name in queue.refresh(layout.patches, _source(options)):
        print(f"refreshed {name}")


def patches_stats(layout: Layout, _: argparse.Namespace) -> None:
    """Count patches and lines against the budget."""
    for line in queue.statistics(queue.read_series(layout.patches)):
        print(line)


def lock_refresh(layout: Layout, options: argparse.Namespace) -> None:
    """Write the lock for the installed release; archive hashes come from --hash."""
    source = _source(options)
    known = lock.read(layout.lock) if layout.lock.is_file() else lock.Lock("", "", "", {}, {}, {})
    hashes = dict(item.split("=", 1) for item in options.hash)
    if known.version == source.version:
        hashes = {"sdist": known.sdist_sha256, "wheel": known.wheel_sha256, **hashes}
    for kind in ("sdist", "wheel"):
        if kind not in hashes:
            raise BuildError(
                str(layout.lock),
                f"the {kind} hash of release {source.version} is not known",
                f"pass --hash {kind}=<sha256>, from the package index's page of files",
            )
    files = {name: lock.digest(data) for name, data in source.files.items()}
    made = replace(
        known,
        version=source.version,
        sdist_sha256=hashes["sdist"],
        wheel_sha256=hashes["wheel"],
        files=files,
    )
    layout.lock.write_text(lock.render(made), "utf-8")
    print(f"locked {source.origin}: {len(files)} files")


def semantics_diff(layout: Layout, options: argparse.Namespace) -> int:
    """Show upstream's functions that nobody has read, function by function: what has changed since
    the installed release, and what of the plans rests on it."""
    source = _source_of(layout, options)
    table = semantics.read_table(layout.semantics)
    names, _ = table.meanings_of_all(semantics.digests(source.texts))
    ours = {} if options.names else semantics.texts(upstream.find(os.environ).texts)
    here = {} if options.names else semantics.texts(source.texts)
    resting = {} if options.names else semantics.resting(names)
    for name in names:
        print(name)
        for line in resting.get(name, ()):
            print(f"    rests on it: {line}")
        for line in semantics.changed(ours.get(name, ""), here.get(name, "")):
            print(f"    {line}")
    print(f"{len(names)} not read", file=sys.stderr)
    return 1 if names else 0


def semantics_accept(layout: Layout, options: argparse.Namespace) -> None:
    """Record that somebody has read functions as they are here."""
    source = _source_of(layout, options)
    table = semantics.read_table(layout.semantics)
    found = semantics.digests(source.texts)
    for name in options.functions:
        semantics.accept(table, name, found, source.version, options.why, options.variant)
    layout.semantics.write_text(semantics.render(table), "utf-8")
    print(f"accepted {', '.join(options.functions)} as in {source.origin}")


def semantics_page(layout: Layout, _: argparse.Namespace) -> None:
    """Write the tables of docs/releases.md: what of each release is planned."""
    (layout.root / "docs" / "releases.md").write_text(releases_page(layout), "utf-8")


def releases_page(layout: Layout) -> str:
    """The page of releases, with the last of each minor version."""
    known = lock.read(layout.lock)
    last = {version.rpartition(".")[0]: version for version in sorted(known.tried, key=_numbers)}
    versions = sorted({known.version, *last.values()}, key=_numbers, reverse=True)
    sources = {
        version: upstream.from_folder(fetch.fetch(known, layout.lock.parent, version))
        for version in versions
    }
    return semantics.page(
        (layout.root / "docs" / "releases.md").read_text("utf-8"),
        semantics.read_table(layout.semantics),
        {version: semantics.digests(source.texts) for version, source in sources.items()},
        known.suites,
        json.loads((layout.root / "benchmarks" / "releases.json").read_text("utf-8")),
    )


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def semantics_refresh(layout: Layout, options: argparse.Namespace) -> None:
    """Record today's digests as those the plans are written against, after reading each
    difference."""
    source = _source(options)
    found = semantics.digests(source.texts)
    known = semantics.read_table(layout.semantics)
    table = replace(known, version=source.version, functions=found)
    layout.semantics.write_text(semantics.render(table), "utf-8")
    print(f"recorded {len(found)} digests of {source.origin}")


def fetch_sources(layout: Layout, options: argparse.Namespace) -> None:
    """Unpack a release's sdist below vendor/marshmallow, checked against the lock."""
    print(fetch.fetch(lock.read(layout.lock), layout.lock.parent, options.release))


def run_dependents(layout: Layout, options: argparse.Namespace) -> None:
    """Run the suites of packages built on marshmallow, on the real one and patched."""
    for line in dependents.run(layout, options.release, options.packages):
        print(line, flush=True)


def copy_sources(layout: Layout, options: argparse.Namespace) -> None:
    """Copy this tree's sources to another folder, to build there in another way."""
    print(f"{treecopy.copy_tree(layout.root, options.to)} files written to {options.to}")


def run_sanitized(layout: Layout, options: argparse.Namespace) -> int:
    """Build with ASan and UBSan in a folder of its own, and run tests on that."""
    return sanitize.run(layout, os.environ, options.words)


def run_coverage(layout: Layout, options: argparse.Namespace) -> None:
    """Say which lines of the engine the tests run, counted by gcov in a build of its own."""
    for line in coverage.run(layout, os.environ, options.words):
        print(line)


def run_mutants(layout: Layout, options: argparse.Namespace) -> None:
    """Put small faults into the engine, one at a time, and say which the tests find."""
    found = mutants.run(
        layout, os.environ, count=options.count, seed=options.seed, whole=not options.quick
    )
    for line in found:
        print(line, flush=True)


def rehearse(layout: Layout, _: argparse.Namespace) -> int:
    """Build a release of this tree, check it as the package index does, install and try it."""
    return rehearsal.run(layout)


def _source(options: argparse.Namespace) -> upstream.Upstream:
    if options.upstream is not None:
        return upstream.from_folder(options.upstream)
    return upstream.find(os.environ)


def _source_of(layout: Layout, options: argparse.Namespace) -> upstream.Upstream:
    """The sources of ``--release``, which is downloaded, or else those of :func:`_source`."""
    if options.release is None:
        return _source(options)
    known = lock.read(layout.lock)
    return upstream.from_folder(
        fetch.fetch(known, layout.lock.parent, options.release, to_read=True)
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m buildtools", description=__doc__)
    topics = parser.add_subparsers(required=True, metavar="topic")

    def command(parent: object, name: str, run: Command) -> argparse.ArgumentParser:
        added: argparse.ArgumentParser = parent.add_parser(  # type: ignore[attr-defined]
            name, help=run.__doc__, description=run.__doc__
        )
        added.set_defaults(run=run)
        added.add_argument(
            "--upstream", type=Path, metavar="FOLDER", help="sources to use, not the installed ones"
        )
        return added

    def topic(name: str, text: str) -> object:
        return topics.add_parser(name, help=text).add_subparsers(required=True, metavar="command")

    command(topics, "build", build_in_place)
    command(topics, "fetch", fetch_sources).add_argument(
        "--release", metavar="VERSION", help="one that the lock knows; the pinned one if not given"
    )
    built_on_it = command(topics, "dependents", run_dependents)
    built_on_it.add_argument("packages", nargs="*", metavar="PACKAGE", help="only these: webargs")
    built_on_it.add_argument(
        "--release", metavar="VERSION", default="3.26.2", help="of marshmallow"
    )
    command(topics, "copy", copy_sources).add_argument(
        "--to", type=Path, metavar="FOLDER", required=True
    )
    command(topics, "sanitize", run_sanitized).add_argument(
        "words", nargs="*", help="pytest's arguments, after --"
    )
    command(topics, "coverage", run_coverage).add_argument(
        "words", nargs="*", help="pytest's arguments, after --"
    )
    mutate = command(topics, "mutate", run_mutants)
    mutate.add_argument("--count", type=int, default=60, help="of mutants (60)")
    mutate.add_argument("--seed", type=int, default=1, help="that draws them (1)")
    mutate.add_argument("--quick", action="store_true", help="not all tests on those left over")
    command(topics, "rehearse", rehearse)
    command(topics, "requirements", requirements).add_argument(
        "extra", nargs="*", help="extras of the package, such as demo"
    )
    patches = topic("patches", "the patch queue")
    command(patches, "check", patches_check)
    command(patches, "apply", patches_apply).add_argument("--to", type=Path, metavar="FOLDER")
    command(patches, "refresh", patches_refresh)
    command(patches, "stats", patches_stats)
    command(topic("lock", "the pinned release"), "refresh", lock_refresh).add_argument(
        "--hash", action="append", default=[], metavar="sdist|wheel=SHA256"
    )
    meanings = topic("semantics", "what upstream's functions meant when we read them")
    diff = command(meanings, "diff", semantics_diff)
    diff.add_argument("--names", action="store_true", help="only which they are")
    command(meanings, "page", semantics_page)
    accept = command(meanings, "accept", semantics_accept)
    accept.add_argument("functions", nargs="+", metavar="FUNCTION", help="fields.Field.deserialize")
    accept.add_argument("--why", required=True, help="why it is equal, or what it does instead")
    accept.add_argument("--variant", metavar="NAME", help="it means something else, called this")
    for each in (diff, accept):
        each.add_argument("--release", metavar="VERSION", help="download and read this release")
    command(meanings, "refresh", semantics_refresh)
    return parser


def main() -> int:
    """Run one command; the exit code is for the shell."""
    options = _parser().parse_args()
    run: Command = options.run
    try:
        return run(Layout(Path(__file__).resolve().parent.parent), options) or 0
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
