"""Write the generated package: upstream, patched and renamed, with its licences."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

from buildtools import lock as locks
from buildtools.layout import Layout
from buildtools.queue import apply
from buildtools.rename import rename
from buildtools.shipped import patching
from buildtools.upstream import Upstream


def generate(upstream: Upstream, lock: locks.Lock, queue: list[patching.Patch]) -> dict[str, bytes]:
    """Check, patch, rename: the files of ``althaia/marshmallow``, which are not written yet.

    :raises buildtools.errors.BuildError: any stage found something it does not know
    """
    if upstream.pinned:
        locks.check(lock, upstream)
    patched, _ = apply(queue, upstream.texts, upstream.version)
    files = {name: data for name, data in upstream.files.items() if name not in patched}
    renamed = {name: rename(name, text).encode() for name, text in patched.items()}
    return {**files, **renamed, **upstream.licences}


def remove(layout: Layout) -> None:
    """Remove what another build has generated."""
    if layout.generated.is_dir():
        shutil.rmtree(layout.generated)


def write(layout: Layout, generated: Mapping[str, bytes]) -> None:
    """Bring the folder to exactly this content, leaving unchanged files untouched."""
    for name, data in generated.items():
        path = layout.generated / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_bytes() != data:
            path.write_bytes(data)
    for path in sorted(layout.generated.rglob("*"), reverse=True):
        relative = path.relative_to(layout.generated).as_posix()
        if path.is_file() and relative not in generated and "__pycache__" not in relative:
            path.unlink()
