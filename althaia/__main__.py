"""``python -m althaia``."""

from althaia.cli import start

start()
