"""The arguments of the C compiler and the linker."""

from __future__ import annotations

import os
import shlex
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from buildtools.errors import BuildError


@dataclass(frozen=True)
class Toolchain:
    """Arguments on top of those Python was built with."""

    compile_args: tuple[str, ...]
    link_args: tuple[str, ...]


def toolchain(environ: Mapping[str, str]) -> Toolchain:
    """Return arguments for small and reproducible binaries, without debug information and symbols.

    ``CFLAGS`` that state an optimisation level or ask for debug information are believed.
    """
    if sys.platform == "win32":
        return Toolchain(("/O2",), ())
    chosen = environ.get("CFLAGS", "").split()
    level = () if any(flag.startswith("-O") for flag in chosen) else ("-O2",)
    small: tuple[str, ...] = ("-g0",)
    link: tuple[str, ...] = ("-Wl,-x",) if sys.platform == "darwin" else ("-Wl,-s",)
    if "-g" in chosen:
        small = link = ()
    # Setuptools forgets Python's own -DNDEBUG and -fwrapv once CFLAGS is set. And a header of
    # inline functions need not have all of them used in every module.
    common = ("-DNDEBUG", "-fwrapv", "-Wno-unused-function")
    # The interpreter's functions are called through their addresses, not through a stub for each.
    calls = ("-fno-plt",) if sys.platform == "linux" else ()
    return Toolchain((*level, *small, *common, *calls), link)


def try_compiler(tools: Toolchain) -> None:
    """Compile a file that includes Python's headers, as the modules will be.

    :raises buildtools.errors.BuildError: there is no compiler, it does not know an argument, or
        Python's headers are missing; the compiler's own words go to standard error
    """
    from setuptools import Distribution
    from setuptools.command.build_ext import build_ext
    from setuptools.errors import BaseError, CompileError, LinkError
    from setuptools.extension import Extension

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "trial.c"
        source.write_text(_TRIAL, "utf-8")
        extension = Extension(
            "trial",
            [source.as_posix()],
            extra_compile_args=list(tools.compile_args),
            extra_link_args=list(tools.link_args),
        )
        command = build_ext(Distribution({"name": "trial", "ext_modules": [extension]}))
        command.build_lib = command.build_temp = folder
        command.ensure_finalized()
        try:
            with linking_environment():
                command.run()
        except (BaseError, CompileError, LinkError, OSError) as error:
            compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or "the C compiler"
            raise BuildError(
                "compiling",
                f"{type(error).__name__}: {error}",
                f"{compiler!r} cannot compile a C file that includes Python's headers: install a C "
                "compiler and these headers, or set ALTHAIA_PURE_BUILD=1 for a build that needs "
                "neither and has no plans",
            ) from error


_TRIAL = """\
#include "Python.h"
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "trial"};
PyMODINIT_FUNC PyInit_trial(void) { return PyModule_Create(&definition); }
"""


def linker(command: str) -> str:
    """Python's own command for shared objects, without the places of this machine.

    An interpreter built by hand passes its library folder on to every extension module, which
    has no use for it and would carry the path around.

    >>> linker("gcc -shared -L/home/me/lib -Wl,-rpath,/home/me/lib -Wl,-z,now")
    'gcc -shared -Wl,-z,now'
    """
    kept = [
        word for word in shlex.split(command) if not word.startswith(("-L/", "-Wl,-rpath", "-R/"))
    ]
    return shlex.join(kept)


def linking_environment() -> AbstractContextManager[object]:
    """Have setuptools use :func:`linker`, unless the user chose a command."""
    known = sysconfig.get_config_var("LDSHARED")
    if sys.platform != "linux" or not known:
        return nullcontext()
    return mock.patch.dict(os.environ, LDSHARED=os.environ.get("LDSHARED", linker(known)))
