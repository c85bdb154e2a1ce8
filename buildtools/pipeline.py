"""The stages in order; ``build_ext.py`` calls :func:`main`."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path

from buildtools import compile as compiling, generate, lock, semantics, stamp, upstream
from buildtools.errors import BuildError
from buildtools.layout import Layout
from buildtools.modules import compiled_modules
from buildtools.queue import read_series
from buildtools.toolchain import toolchain


def is_pure(environ: Mapping[str, str]) -> bool:
    """Whether a build has no extension modules: ``ALTHAIA_PURE_BUILD`` asks for it, or the
    interpreter is not CPython, whose internals they use."""
    wanted = environ.get("ALTHAIA_PURE_BUILD", "") not in {"", "0"}
    return wanted or sys.implementation.name != "cpython"


def main(root: Path, environ: Mapping[str, str]) -> int:
    """Build in place; the exit code says whether it worked."""
    try:
        build(Layout(root), environ)
    except BuildError as error:
        print(f"althaia build: {error}", file=sys.stderr)
        return 1
    return 0


def build(layout: Layout, environ: Mapping[str, str]) -> None:
    """Generate ``althaia/marshmallow``, compile what is to be compiled, write the build info.

    A pure build generates and compiles nothing: it serves the marshmallow that is installed.

    :raises BuildError: any stage failed; nothing falls back silently
    """
    started = time.perf_counter()
    source = upstream.find(environ)
    generated = generate.generate(source, lock.read(layout.lock), read_series(layout.patches))
    table = semantics.read_table(layout.semantics)
    meanings = table.meanings_of_all(semantics.digests(source.texts))
    compiling.remove_binaries(layout)
    tools = None if is_pure(environ) else toolchain(environ)
    if tools is None:
        generate.remove(layout)
    else:
        generate.write(layout, generated)
    modules = compiled_modules(layout)
    compiled = [] if tools is None else compiling.compile_modules(layout, modules, environ)
    stamp.write(layout, source, modules, meanings, compiled=tools is not None)
    took = time.perf_counter() - started
    how = "pure, not accelerated" if tools is None else f"{len(compiled)} compiled"
    print(f"althaia build: {source.origin}, {len(modules)} modules, {how}, {took:.1f} s")
    for name in meanings[0]:
        print(f"althaia build: nobody has read upstream's {name}: what rests on it is not planned")
