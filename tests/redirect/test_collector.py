"""Asking for a pause of the collector, and what ``info`` says of it."""

from __future__ import annotations

import pytest

from althaia.switch.config import ConfigError, Settings

CODE = """
import althaia
{calls}
print(althaia.info().as_dict()["collector"])
"""


@pytest.mark.parametrize(
    ("env", "calls", "paused"),
    [
        ({}, "", False),
        ({}, "althaia.patch()", False),
        ({}, "althaia.patch(gc='pause')", True),
        ({}, "althaia.patch(gc='pause'); althaia.patch()", True),
        ({}, "althaia.patch(gc='pause'); althaia.patch(gc='run')", False),
        ({"ALTHAIA_GC": "pause"}, "althaia.patch()", True),
        ({"ALTHAIA_GC": "pause"}, "althaia.patch(gc='run')", False),
        ({"ALTHAIA_GC": "off"}, "althaia.patch()", False),
        ({"ALTHAIA_GC": "pause", "ALTHAIA_PATCH": "1"}, "", True),
    ],
)
def test_ways_in(env, calls, paused, program):
    expected = "paused for large dumps" if paused else "runs"
    assert program(CODE.format(calls=calls), env=env).strip() == expected


def test_another_word_is_an_error(program):
    code = """
    import althaia
    try:
        althaia.patch(gc="stop")
    except ValueError as error:
        assert str(error) == "gc='stop': expected 'pause' or 'run'", error
    else:
        raise AssertionError
    assert not althaia.is_patched()
    """
    program(code)


def test_a_bad_value_is_named():
    with pytest.raises(ConfigError, match=r"ALTHAIA_GC is 'stop', .*unset it"):
        Settings({"ALTHAIA_GC": "stop"})
