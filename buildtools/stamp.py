"""Write down what was built, for ``althaia.info()`` and for the tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from importlib import metadata

from buildtools.layout import Layout
from buildtools.modules import CompiledModule
from buildtools.upstream import Upstream


def write(
    layout: Layout,
    upstream: Upstream,
    modules: Sequence[CompiledModule],
    found: tuple[list[str], dict[str, str]],
    *,
    compiled: bool,
) -> None:
    """Write ``_build_info.json``.

    :param found: upstream's functions that nobody has read, and those that behave differently
    """
    info = {
        "version": layout.version(),
        # The release that the compiled copy is made from; a pure build has no copy.
        "upstream": {"version": upstream.version, "pinned": upstream.pinned} if compiled else None,
        "compiled": compiled,
        "cython": metadata.version("Cython") if compiled else None,
        "modules": {
            module.name: {
                "sources": [path.as_posix() for path in (module.source, *module.parts)],
                "sha256": _digest(layout, module),
            }
            for module in modules
        },
        "semantics": {"differing": found[0], "variants": found[1]},
    }
    layout.stamp.write_text(json.dumps(info, indent=2, sort_keys=True) + "\n", "utf-8")


def _digest(layout: Layout, module: CompiledModule) -> str:
    texts = [(layout.root / path).read_bytes() for path in (module.source, *module.parts)]
    return sha256(b"".join(texts)).hexdigest()
