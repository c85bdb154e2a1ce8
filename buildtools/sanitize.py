"""Build our extension modules with AddressSanitizer and UBSan, and run tests on them.

The interpreter itself is the ordinary one: the sanitizers' libraries are loaded before it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import partial

from buildtools import treecopy
from buildtools.errors import BuildError, output_of
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
    :raises BuildError: the build failed
    """
    # Where the compiler has none of them, the build stops at its first link.
    compiler = environ.get("CC", "gcc")
    libraries = [
        output_of(compiler, f"-print-file-name={name}").strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    tree = layout.work / "sanitized"
    treecopy.copy_tree(layout.root, tree)
    # libasan takes over the allocation that CPython's own allocator would hide from it, and
    # keeps CPython's deliberate leaks at exit to itself.
    testing = {
        **environ,
        "LD_PRELOAD": " ".join(libraries),
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
