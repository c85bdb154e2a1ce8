"""Write down what was built, for ``althaia.info()`` and for the tests."""

from __future__ import annotations

import json
import platform
import sys
import sysconfig
from collections.abc import Sequence
from hashlib import sha256
from importlib import metadata
from typing import Any

from buildtools.layout import Layout
from buildtools.modules import OWN, UPSTREAM, CompiledModule, interpreted_modules
from buildtools.shipped import meanings
from buildtools.toolchain import Toolchain
from buildtools.upstream import Upstream


def build_info(
    layout: Layout,
    version: str,
    upstream: Upstream,
    modules: Sequence[CompiledModule],
    tools: Toolchain | None,
    found: meanings.Meanings,
) -> dict[str, Any]:
    """The content of ``_build_info.json``.

    :param tools: ``None`` in a pure build
    :param found: what of upstream's functions is not as the plans know it
    """
    return {
        "version": version,
        # The release that the compiled copy is made from; a pure build has no copy.
        "upstream": {"version": upstream.version, "pinned": upstream.pinned} if tools else None,
        "compiled": tools is not None,
        "cython": metadata.version("Cython") if tools else None,
        "python": platform.python_version() if tools else None,
        "implementation": sys.implementation.name if tools else None,
        "abi": sysconfig.get_config_var("SOABI") if tools else None,
        "compile_args": [*tools.compile_args] if tools else [],
        "directives": {"upstream": dict(UPSTREAM), "own": dict(OWN)} if tools else {},
        "modules": {
            module.name: {
                "sources": [path.as_posix() for path in (module.source, *module.parts)],
                "sha256": _digest(layout, module),
                "compiled": tools is not None,
            }
            for module in modules
        },
        "interpreted": [
            path.relative_to(layout.root).as_posix() for path in interpreted_modules(layout)
        ],
        "semantics": {"differing": found.unread, "variants": found.variants},
    }


def _digest(layout: Layout, module: CompiledModule) -> str:
    texts = [(layout.root / path).read_bytes() for path in (module.source, *module.parts)]
    return sha256(b"".join(texts)).hexdigest()


def write(layout: Layout, info: dict[str, Any]) -> None:
    layout.stamp.write_text(json.dumps(info, indent=2, sort_keys=True) + "\n", "utf-8")
