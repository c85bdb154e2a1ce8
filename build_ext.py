"""What poetry-core runs before it collects the files of a wheel; the work is in buildtools/."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from buildtools.pipeline import main  # noqa: E402

# Cython's worker processes import this file again where processes do not start by forking.
if __name__ == "__main__":
    sys.exit(main(ROOT, os.environ))
