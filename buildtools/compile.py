"""Compile modules to extension modules beside their sources.

Finished extension modules are kept in the work folder under the digest of all that went into
them, per interpreter: a build compiles what changed and copies the rest.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from concurrent.futures.process import BrokenProcessPool
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from threading import Lock

from buildtools import c_source, faithful
from buildtools.errors import BuildError
from buildtools.layout import Layout
from buildtools.modules import CompiledModule, files_read
from buildtools.toolchain import Toolchain, linking_environment, toolchain, try_compiler

JOBS = 2

SHARED = "althaia.cpython.cython_shared"
"""The module with the helpers of Cython's that all others use."""

_TELLING = Lock()

# The files that decide what a module's C source is compiled to.
_HOW = ("c_source.py", "compile.py", "faithful.py", "toolchain.py")


def remove_binaries(layout: Layout) -> list[str]:
    """Remove every extension module from the package: other interpreters', outdated ones.

    poetry-core collects whatever it finds after the build script ran.
    """
    removed = []
    for pattern in ("*.so", "*.pyd"):
        for path in sorted(layout.package.rglob(pattern)):
            path.unlink()
            removed.append(path.name)
    return removed


def compile_modules(
    layout: Layout, modules: Iterable[CompiledModule], environ: Mapping[str, str]
) -> list[str]:
    """Put an extension module beside each source.

    :return: the names that had to be compiled; the others were taken from the work folder
    :raises BuildError: Cython or the C compiler refused a module
    """
    modules = list(modules)
    tools = toolchain(environ)
    store = layout.work / sysconfig.get_config_var("EXT_SUFFIX").strip(".").rsplit(".", 1)[0]
    keys = {module.name: key(layout, module, tools, environ) for module in modules}
    missing = [m for m in modules if not _stored(layout, store, m, keys[m.name]).is_file()]
    if missing:
        names = {module.name for module in modules}
        _run(layout, missing, tools, store, SHARED if SHARED in names else None)
        for module in missing:
            kept = _stored(layout, store, module, keys[module.name])
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(_target(layout, module), kept)
    for module in modules:
        kept = _stored(layout, store, module, keys[module.name])
        shutil.copy2(kept, _target(layout, module))
        for old in kept.parent.iterdir():
            if old != kept:
                old.unlink()
    return [module.name for module in missing]


def _target(layout: Layout, module: CompiledModule) -> Path:
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    return (layout.root / module.source).with_suffix("").with_name(module.source.stem + suffix)


def _stored(layout: Layout, store: Path, module: CompiledModule, key: str) -> Path:
    return store / "modules" / module.name / (key + _target(layout, module).suffix)


def key(
    layout: Layout, module: CompiledModule, tools: Toolchain, environ: Mapping[str, str]
) -> str:
    """Digest of all that decides what the compiled module is: sources, settings, tools."""
    facts = {
        "directives": dict(module.directives),
        "cython": metadata.version("Cython"),
        "python": sys.version,
        "suffix": sysconfig.get_config_var("EXT_SUFFIX"),
        "cc": [sysconfig.get_config_var("CC"), environ.get("CC"), environ.get("CFLAGS")],
        "args": [tools.compile_args, tools.link_args, environ.get("LDFLAGS")],
        "how": [sha256(Path(__file__).with_name(n).read_bytes()).hexdigest() for n in _HOW],
    }
    read = [module.source, *module.parts]
    if module.upstream:
        read += [c_source.STACK, c_source.WORDING]
    found = sha256(json.dumps(facts, sort_keys=True, default=list).encode())
    for path in files_read(layout.root, [*read, c_source.FILENAMES]):
        found.update(f"\0{path.as_posix()}\0".encode())
        found.update((layout.root / path).read_bytes())
    return found.hexdigest()[:32]


def _run(
    layout: Layout,
    modules: list[CompiledModule],
    tools: Toolchain,
    store: Path,
    shared: str | None,
) -> None:
    """Translate and compile modules.

    :param shared: the module that has the helpers of Cython's; None puts them into each module.
    """
    from Cython.Compiler.Errors import CompileError as CythonError
    from setuptools.errors import BaseError, CompileError, LinkError

    try:
        # The compiler is tried first, in a second: Cython works for minutes before it is needed.
        try_compiler(tools)
        ours = [m for m in modules if not m.upstream and m.name != shared]
        theirs = [module for module in modules if module.upstream]
        _translate(ours, layout.root, store / "c", shared)
        faithful.write(layout.root, store / "upstream", theirs)
        _translate(theirs, store / "upstream", store / "c", shared)
        for module in ours + theirs:
            name = module.source.as_posix()
            c_source.change(_c_file(store, module), name, is_upstreams=module.upstream)
        for module in modules:
            if module.name == shared:
                _translate_shared(module, layout.root, _c_file(store, module))
        _link(layout, modules, tools, store)
    except BrokenProcessPool as error:
        raise BuildError(
            "translating",
            f"a worker process of Cython's ended before its work was done ({error})",
            "what it printed stands above; a worker that was killed lacked memory (free some, "
            "build again), and a script that builds needs 'if __name__ == \"__main__\":' where "
            "processes do not start by forking",
        ) from error
    except (CythonError, CompileError, LinkError, BaseError, OSError) as error:
        raise BuildError(
            "compiling",
            f"{type(error).__name__}: {error}",
            "the messages above say which module",
        ) from error


def _c_file(store: Path, module: CompiledModule) -> Path:
    return (store / "c" / module.source).with_suffix(".c")


def _translate(modules: list[CompiledModule], root: Path, folder: Path, shared: str | None) -> None:
    """Translate modules below ``root`` to C files below ``folder``."""
    from Cython.Build import cythonize
    from setuptools import Extension

    if not modules:
        return
    whose = "upstream's" if modules[0].upstream else "our own"
    print(f"althaia build: translating {len(modules)} modules to C, {whose}", flush=True)
    for module in modules:
        # Cython makes a folder once a process, even if the name then stands for another place.
        (folder / module.source).parent.mkdir(parents=True, exist_ok=True)
    # Paths are relative, so that C files and binaries say nothing of this machine.
    with contextlib.chdir(root):
        cythonize(
            [Extension(module.name, [module.source.as_posix()]) for module in modules],
            # cythonize() takes directives for a call, not for a module: those here share theirs.
            compiler_directives=dict(modules[0].directives),
            build_dir=os.path.relpath(folder, root),
            include_path=["."],
            shared_utility_qualified_name=shared,
            nthreads=JOBS if len(modules) > 1 else 0,
            force=True,
            quiet=True,
        )


def _translate_shared(module: CompiledModule, root: Path, c_file: Path) -> None:
    """Write the C file of the module that has Cython's helpers; no memoryviews, we have none."""
    from Cython.Build.SharedModule import generate_shared_module
    from Cython.Compiler.Options import CompilationOptions, default_options

    c_file.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.chdir(root):
        error, _ = generate_shared_module(
            CompilationOptions(
                default_options,
                module_name=module.name,
                shared_c_file_path=os.path.relpath(c_file, root),
                shared_utility_features_disabled=["MemoryView"],
            )
        )
    if error is not None:
        raise error
    c_source.mend(c_file)


def _link(layout: Layout, modules: list[CompiledModule], tools: Toolchain, store: Path) -> None:
    """Compile C files to extension modules beside the Python sources."""
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    class Telling(build_ext):  # type: ignore[misc]
        """Print which module is finished, because a build takes a minute and says nothing else."""

        finished = 0

        def build_extension(self, ext: Extension) -> None:
            super().build_extension(ext)
            with _TELLING:
                self.finished += 1
                count = f"{self.finished:>{len(str(len(modules)))}}/{len(modules)}"
                print(f"althaia build: compiled {count} {ext.name}", flush=True)

    with contextlib.chdir(layout.root):
        extensions = [
            Extension(
                module.name,
                [_c_file(store, module).relative_to(layout.root).as_posix()],
                include_dirs=["."],
                extra_compile_args=list(tools.compile_args),
                extra_link_args=list(tools.link_args),
            )
            for module in modules
        ]
        command = Telling(Distribution({"name": "althaia", "ext_modules": extensions}))
        command.inplace = True
        command.parallel = JOBS
        command.force = True
        command.build_temp = (store / "objects").relative_to(layout.root).as_posix()
        command.ensure_finalized()
        with linking_environment():
            command.run()
