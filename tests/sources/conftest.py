"""A pure build has no parsers."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("althaia.formats.codec") else ["test_*.py"]
