"""``python -m althaia``."""

from althaia.cli import main

raise SystemExit(main())
