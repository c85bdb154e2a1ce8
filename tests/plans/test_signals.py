"""Loops that take long let signal handlers run and give other threads the GIL."""

import sys

import pytest

from althaia import marshmallow as ma, seam


@pytest.mark.parametrize("unknown", ["include", "raise"])
def test_a_load_looks_around_while_it_processes_unknown_keys(unknown):
    schema, pauses = ma.Schema(unknown=unknown), 0

    def count(frame, event, argument):
        nonlocal pauses
        pauses += event == "call" and frame.f_code is seam.pause.__code__

    data = dict.fromkeys(map(str, range(100_000)), 1)
    sys.setprofile(count)
    try:
        schema.validate(data)
    finally:
        sys.setprofile(None)
    # Once for some 64 keys.
    assert pauses > 1500
