"""Tell Cython which builtins to call rather than to replace by its own C shortcuts.

``isinstance(x, (str, bytes))`` would become a test of the C type, which does not believe
``__class__``; proxies (werkzeug's ``LocalProxy``, lazy strings) pretend through it. A ``.pxd``
declaration of the same name makes Cython call what the interpreter calls.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from buildtools.modules import CompiledModule

DECLARATIONS = """\
cdef extern from *:
    bint isinstance "PyObject_IsInstance"(object, object) except -1
"""


def write(folder: Path, modules: Iterable[CompiledModule]) -> None:
    """Write one ``.pxd`` per upstream module, in package folders below ``folder``.

    :param folder: goes into Cython's include path; nothing of it ships
    """
    for module in modules:
        if not module.upstream:
            continue
        path = folder / module.source.with_suffix(".pxd")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(DECLARATIONS, "utf-8")
        for parent in module.source.parents[:-1]:
            (folder / parent / "__init__.pxd").touch()
