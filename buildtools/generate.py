"""Write the generated package: upstream, patched and renamed, with its licences."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from buildtools import lock as locks
from buildtools.layout import Layout
from buildtools.queue import apply
from buildtools.rename import rename
from buildtools.shipped import patching
from buildtools.upstream import Upstream


@dataclass(frozen=True)
class Generated:
    """The files of ``althaia/marshmallow``."""

    files: Mapping[str, bytes]


def generate(upstream: Upstream, lock: locks.Lock, queue: list[patching.Patch]) -> Generated:
    """Check, patch, rename; nothing is written yet.

    :raises buildtools.errors.BuildError: any stage found something it does not know
    """
    if upstream.pinned:
        locks.check(lock, upstream)
    pristine = {name: upstream.text(name) for name in upstream.modules}
    patched, _ = apply(queue, pristine, upstream.version)
    files = {name: data for name, data in upstream.files.items() if name not in patched}
    for name, text in patched.items():
        expected = lock.files[name].imports if upstream.pinned else None
        files[name] = rename(name, text, expected).text.encode()
    return Generated({**files, **upstream.licences})


def remove(layout: Layout) -> None:
    """Remove what another build has generated."""
    if layout.generated.is_dir():
        shutil.rmtree(layout.generated)


def write(layout: Layout, generated: Generated) -> None:
    """Bring the folder to exactly this content, leaving unchanged files untouched."""
    for name, data in generated.files.items():
        path = layout.generated / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_bytes() != data:
            path.write_bytes(data)
    for path in sorted(layout.generated.rglob("*"), reverse=True):
        relative = path.relative_to(layout.generated).as_posix()
        if path.is_file() and relative not in generated.files and "__pycache__" not in relative:
            path.unlink()
