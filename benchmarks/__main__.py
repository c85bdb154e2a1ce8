"""The project's benchmarks: the same work on every library, compared first, then timed.

make bench                            ours, upstream and hand-written Python; minutes
make bench-all                        the peers as well, and docs/performance-tables.md anew
python -m benchmarks --release 3.26.2 another marshmallow on both sides
python -m benchmarks --case orders    one case, or all whose name contains the word
"""

from __future__ import annotations

import sys

from benchmarks.command import main

sys.exit(main())
