"""Where users feel it: a shop on real servers, patched and not, compared first, then loaded.

make bench-service                            PostgreSQL, all servers, the pings; half an hour
python -m benchmarks.service --quick          the same with coarse figures
python -m benchmarks.service --sqlite --once  does it all work? seconds, no PostgreSQL
"""

from __future__ import annotations

import sys

from benchmarks.service.command import main

sys.exit(main())
