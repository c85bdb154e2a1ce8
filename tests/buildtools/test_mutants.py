"""Which faults are put into a file."""

import re
from itertools import islice
from pathlib import Path

from buildtools import mutants


def faults(line):
    return [each.after for each in mutants.mutants_of(Path("x.pyx"), f"{line}\n")]


def test_the_faults_of_a_line():
    assert faults("    if a is not b and not c:  # a == b") == [
        "    if a is b and not c:",
        "    if a is not b or not c:",
        "    if False:",
    ]
    assert faults("    if (a < b + 1) {") == [
        "    if (a <= b + 1) {",
        "    if (a < b + 2) {",
        "    if (0) {",
    ]
    assert faults("    Py_INCREF(value)") == ["    pass"]
    assert faults("    return Py_NewRef(value);") == ["    return (value);"]


def test_texts_comments_and_declarations_have_none():
    for line in ('say("a == b")', "# a == b", "from a import b", '"""a == b"""', '"""\\na == b"""'):
        assert faults(line) == []


def test_all_floors_have_their_turn(layout):
    def drawn(seed):
        return [each.path.as_posix() for each in islice(mutants.draw(layout, seed), 60)]

    assert drawn(1) == drawn(1) != drawn(2)
    assert len({re.sub(r"(engine/\w+|\w+).*", r"\1", name[8:]) for name in drawn(1)}) > 9
