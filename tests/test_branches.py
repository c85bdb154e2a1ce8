"""No function of the engine has more than 20 branches; ruff asks the same of Python's files."""

import re
from pathlib import Path

import pytest

ENGINE = Path(__file__).parents[1] / "althaia"
MOST = 20

_HEAD = re.compile(r"^( *)(?:def|cdef|cpdef) (?!class |extern )(?:[^=(]*?)(\w+)\(")
_BRANCH = re.compile(r"^ +(?:if|elif|for|while|except|case)\b")


def branches(text):
    """How many branches each function of a Cython file has."""
    found = {}
    name, quoted = "", False
    for line in text.split("\n"):
        if line.count('"""') % 2:
            quoted = not quoted
        elif quoted:
            continue
        elif head := _HEAD.match(line):
            name = head[2]
            found[name] = 0
        elif name and _BRANCH.match(line):
            found[name] += 1
    return found


FILES = sorted(path for path in ENGINE.rglob("*.pyx") if "marshmallow" not in path.parts)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ENGINE).as_posix())
def test_functions_have_few_branches(path):
    counted = branches(path.read_text("utf-8"))
    assert not {name: n for name, n in counted.items() if n > MOST}


def test_branches_are_counted():
    text = '''
cdef int one(object value) except -1:
    """Says
    if nothing
    """
    if value:
        for each in value:
            pass
    elif not value:
        return 0


cdef class Held:
    def two(self):
        while True:
            pass
'''
    assert branches(text) == {"one": 3, "two": 1}
    assert len(FILES) > 30
