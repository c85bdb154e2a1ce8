"""The semantic lock: what each of upstream's functions meant when we read it."""

import pytest

from buildtools import semantics

SOURCE = '''\
"""Doc."""
LIMIT = 3


class Box(Base):
    """Doc."""

    kind = int

    @property
    def size(self):
        """Doc."""
        return LIMIT  # the limit


def helper(box: Box, *sizes: int, by: str = "x") -> int:
    total: int = sum(sizes)
    text = f"{total!r}:>" "3"
    return 1
'''


def digests(text):
    return semantics.digests({"box.py": text})


def differing(known, present):
    return sorted({name for name, _ in known.items() ^ present.items()})


def all_of(source):
    return semantics.digests({name: source.text(name) for name in source.modules})


def test_nothing_has_changed_since_somebody_looked(layout, pinned):
    """Fails on a new release until its differences were read and the digests refreshed."""
    known = semantics.read_table(layout.semantics).functions
    assert differing(known, all_of(pinned)) == []
    assert {"fields.Integer._validated", "fields.DateTime", "fields", "error_store"} <= {*known}


TABLE = """
version = "1.0"

[functions]
"box.size" = "aa"
"box.kept" = "bb"

[equal."box.size"]
cc = "0.9: other words"

[equal."box.older"]
ff = "0.9: called by size"

[variants."box.size"]
dd = "rounded: 0.8: a whole number"
gone = "absent: 0.7: there is none"
"""


@pytest.mark.parametrize(
    ("present", "unread", "variants"),
    [
        ({"box.size": "aa", "box.kept": "bb"}, [], {}),
        ({"box.size": "cc", "box.kept": "bb", "box.older": "ff"}, [], {}),
        ({"box.size": "dd", "box.kept": "bb"}, [], {"box.size": "rounded"}),
        ({"box.kept": "bb"}, [], {"box.size": "absent"}),
        ({"box.size": "ee", "box.new": "00"}, ["box.kept", "box.new", "box.size"], {}),
        ({"box.size": "aa", "box.kept": "cc", "box.older": "aa"}, ["box.kept", "box.older"], {}),
    ],
    ids=["as it was", "equal", "variant", "gone", "unread", "another function's"],
)
def test_meanings(present, unread, variants):
    assert semantics.Table.parse(TABLE).meanings_of_all(present) == (unread, variants)


def test_what_is_written_is_read_again(layout):
    text = layout.semantics.read_text("utf-8")
    assert semantics.render(semantics.read_table(layout.semantics)) == text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""Doc."""', '"""Other words."""'),
        ("LIMIT = 3\n", "# Why three\nLIMIT = 3\n"),
        ("    kind = int\n", "\n    # a comment\n    kind = int\n\n"),
        ("box: Box, *sizes: int", "box, *sizes: list[int] | None"),
        (") -> int:", "):"),
        ("total: int =", "total ="),
        ("    kind = int\n", "    kind: type = int\n    other: str\n"),
        ("sum(sizes)", "sum(\n        sizes,\n    )"),
        ('by: str = "x"', "by: str = 'x'"),
    ],
)
def test_words_are_no_meaning(old, new):
    assert digests(SOURCE.replace(old, new)) == digests(SOURCE)


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("return LIMIT", "return LIMIT + 1", ["box.Box.size"]),
        ("@property", "@cached", ["box.Box.size"]),
        ("kind = int", "kind = float", ["box.Box"]),
        ("Box(Base)", "Box(Other)", ["box.Box"]),
        ("LIMIT = 3", "LIMIT = 4", ["box"]),
        ("return 1", "return 2", ["box.helper"]),
        ('by: str = "x"', 'by: str = "y"', ["box.helper"]),
        ("*sizes: int", "sizes: int", ["box.helper"]),
        ("!r}", "!s}", ["box.helper"]),
        (":>", ":<", ["box.helper"]),
        ("def helper(", "def added(", ["box.added", "box.helper"]),
    ],
)
def test_code_is(old, new, names):
    changed = digests(SOURCE.replace(old, new))
    assert differing(digests(SOURCE), changed) == names
