"""A short run of the stress program; docs/threads.md says what the long ones found."""

import sys
from pathlib import Path

import pytest

import althaia
from tests.redirect.processes import succeed

ROOT = Path(__file__).parents[2]
JOBS = [
    "dump_one load_one new_fresh",
    "dump_many load_many refuse",
    "new_class new_instance use_fresh new_fresh",
    "new_fresh look_at_fresh use_fresh",
    "register set_attributes look_into dump_one load_one",
    "change_key use_key",
    "change_inner_key use_inner_key",
    "replace_dictionary use_dictionary",
    "change_hooks use_hooks",
    "patch_json text",
    "replace_fields use_fields",
    "patch_class use_class ask",
]
"""Those that meet each other most where few others run."""


@pytest.mark.skipif(
    not althaia.info().compiled,
    reason="the program also writes MessagePack, which a pure build has not",
)
@pytest.mark.parametrize(
    ("library", "jobs"),
    # Upstream goes first over the same ground: what it raises would be no fault of ours.
    [("marshmallow", ""), *(("althaia.marshmallow", jobs) for jobs in ("", *JOBS))],
)
def test_no_wrong_answer_and_no_crash(library, jobs):
    # Without the GIL threads meet at any instruction, but not at each in a second.
    with_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    words = ["--library", library, "--seconds", "1" if jobs and with_gil else "3"]
    words += [word for job in jobs.split() for word in ("--job", job)]
    succeed("-X", "faulthandler", "-m", "tests.threads.stress", *words, cwd=ROOT)
