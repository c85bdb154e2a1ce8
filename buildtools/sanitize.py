"""Build our extension modules with AddressSanitizer and UBSan, and run tests on them.

The interpreter itself is the ordinary one: the sanitizers' libraries are loaded before it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from buildtools import treecopy
from buildtools.errors import BuildError
from buildtools.layout import Layout

# Unaligned access is CPython's own way in places that are inlined into our modules.
FLAGS = "-fsanitize=address,undefined -fno-sanitize=alignment -fno-sanitize-recover=undefined"
TESTS = (
    "tests/plans",
    "tests/sinks",
    "tests/sources",
    "tests/streams",
    "tests/invalidation",
    "tests/threads",
    "tests/hostile",
    "tests/conformance",
)
# Sanitized frames are several times as large, and code is several times as slow. Tests that measure
# a small stack, a wait or a second therefore say nothing there.
LEFT_OUT = "not 128_kib and not interruptions and not adversary"


def run(layout: Layout, environ: Mapping[str, str], words: Sequence[str] = ()) -> int:
    """Build in ``build/sanitized`` and test there.

    :param words: pytest's arguments, in the place of ours
    :return: the exit code of the tests
    :raises BuildError: the compiler has no sanitizers, or the build failed
    """
    preloaded = " ".join(_library(name, environ) for name in ("libasan.so", "libubsan.so"))
    tree = layout.work / "sanitized"
    treecopy.copy_tree(layout.root, tree)
    # libasan takes over the allocation that CPython's own allocator would hide from it, and
    # keeps CPython's deliberate leaks at exit to itself.
    testing = {
        **environ,
        "LD_PRELOAD": preloaded,
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    building = {
        **environ,
        "CFLAGS": f"-O1 -g -fno-omit-frame-pointer {FLAGS}",
        "LDFLAGS": FLAGS,
    }
    python = partial(subprocess.run, cwd=tree, check=False)
    if python([sys.executable, "-m", "buildtools", "build"], env=building).returncode:
        raise BuildError(str(tree), "the sanitized build failed", "the messages above say why")
    chosen = words or ("-k", LEFT_OUT, *TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen]
    return python(command, env=testing).returncode


def _library(name: str, environ: Mapping[str, str]) -> str:
    """The sanitizer's library beside the C compiler."""
    compiler = environ.get("CC", "gcc")
    found = subprocess.run(
        [compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=False
    )
    path = Path(found.stdout.strip())
    if found.returncode or not path.is_absolute():
        raise BuildError(
            compiler,
            f"it has no {name}",
            "install the compiler's sanitizer libraries, or name another compiler in CC",
        )
    return os.fspath(path)
