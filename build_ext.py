"""Copies marshmallow, renames its namespace, patches it and compiles it, in these four steps:

1. copy: the sources of the release that ``vendor/marshmallow/lock.toml`` pins, each file checked
   against its digest (``buildtools/upstream.py``, ``buildtools/lock.py``)
2. patch: the queue in ``patches/`` is applied (``buildtools/queue.py``)
3. rename: ``marshmallow`` becomes ``althaia.marshmallow`` (``buildtools/rename.py``); the result is
   ``althaia/marshmallow/`` (``buildtools/generate.py``)
4. compile: that and the engine, by Cython and the C compiler (``buildtools/compile.py``)

poetry-core runs this file before it collects the files of a wheel. ``buildtools/pipeline.py`` calls
the steps.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from buildtools.pipeline import main  # noqa: E402

# Cython's worker processes import this file again where processes do not start by forking.
if __name__ == "__main__":
    sys.exit(main(ROOT, os.environ))
