"""The programs these tests run in other processes: ``python -m tests.hostile.programs.<name>``."""

import json
import sys
from importlib.util import find_spec


def library(name):
    """``upstream``, ``plans`` (built at each schema's first use) or ``no plans``."""
    if name == "upstream":
        import marshmallow

        return marshmallow
    from althaia import marshmallow as ours

    if name == "plans" and find_spec("althaia.engine.door"):
        from althaia.engine import instances

        instances.build_at_once(True)
    return ours


def report(what, result):
    print(json.dumps([what, result]), flush=True)


def begin(what):
    """Name what is tried next, so that a crash is put down to it."""
    print(json.dumps([what]), flush=True)


def arguments():
    return sys.argv[1:]
