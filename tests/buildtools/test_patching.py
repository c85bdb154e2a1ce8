"""The applier: exact, inside the named function only, never guessing."""

import pytest

from buildtools.errors import BuildError
from buildtools.queue import apply, read_series
from buildtools.shipped import patching

SOURCE = """\
import os


def first(a):
    if a:
        return 1
    return 2


class Box:
    size = 3

    def first(self, a):
        if a:
            return 1
        return 2
"""

HEADER = """\
Description: Try the applier.
Reason: seam
Target: box
Applies-To: >=1
Remove-When: never; it is an example

"""


def patch(hunk, header=HEADER):
    return patching.parse("try.patch", f"{header}--- a/box.py\n+++ b/box.py\n{hunk}")


def applied(hunk, source=SOURCE):
    texts, _ = apply([patch(hunk)], {"box.py": source}, "1.0")
    return texts["box.py"]


HUNK = "@@ -1,1 +1,2 @@ Box.first\n+        hook()\n         if a:\n"
TWICE = "        if a:\n            return 1\n"


def test_a_hunk_goes_into_the_function_it_names():
    assert applied(HUNK) == SOURCE.replace(TWICE, f"        hook()\n{TWICE}")


def test_module_level_means_outside_every_function_and_class():
    text = applied("@@ -1,1 +1,2 @@ <module>\n import os\n+import sys\n")
    assert text.startswith("import os\nimport sys\n")


def test_any_offset_is_allowed_and_reported():
    hunk = HUNK.replace("-1,1 +1,2", "-900,1 +900,2")
    texts, placed = apply([patch(hunk)], {"box.py": "\n" * 50 + SOURCE}, "1.0")
    assert "        hook()\n" in texts["box.py"]
    ((_, applied_hunk, line),) = placed
    assert (applied_hunk.function, applied_hunk.start, line) == ("Box.first", 900, 64)


REFUSED = [
    # "    return 2" is in the other function only, at this indentation.
    ("@@ -1,1 +1,2 @@ Box.first\n+    hook()\n     return 2\n", SOURCE, "found them 0 times"),
    ("@@ -1,1 +1,2 @@ <module>\n     size = 3\n+    colour = 4\n", SOURCE, "found them 0 times"),
    *(
        (HUNK, SOURCE.replace("        if a:", changed), "found them 0 times")
        for changed in ("        if  a:", "        if a: ", "        if\ta:", "        if A:")
    ),
    (HUNK, SOURCE.replace("        return 2\n", TWICE), "found them 2 times"),
    (HUNK.replace("first", "second"), SOURCE, r"box\.py has no function Box\.second"),
    (HUNK.replace("hook()", "if ("), SOURCE, "without valid syntax"),
]


@pytest.mark.parametrize(("hunk", "source", "said"), REFUSED)
def test_what_does_not_fit_exactly_is_refused(hunk, source, said):
    with pytest.raises(BuildError, match=said):
        applied(hunk, source)


def test_a_patch_for_another_release_is_left_out():
    header = HEADER.replace(">=1", ">=2, <3")
    texts, placed = apply([patch(HUNK, header)], {"box.py": SOURCE}, "1.9")
    assert (texts["box.py"], placed) == (SOURCE, [])
    with pytest.raises(BuildError, match=r"upstream 1\.0 has no box\.py"):
        apply([patch(HUNK)], {"other.py": SOURCE}, "1.0")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (HEADER, "expected '--- a/<file>'"),
        (HEADER.replace("Reason: seam", "Reason: because"), "Reason is 'because'"),
        (HEADER.replace("Remove-When", "Until"), "the header has no Remove-When"),
        (HEADER + "--- a/x.py\n+++ b/y.py\n@@ -1,1 +1,1 @@ f\n x\n", "expected '--- a/<file>'"),
        (HEADER + "--- a/x.py\n+++ b/x.py\n", "and hunks"),
        (HEADER + "--- a/x.py\n+++ b/x.py\n@@ -1,1 +1,2 @@\n+x\n y\n", "names a function"),
        (
            HEADER + "--- a/x.py\n+++ b/x.py\n@@ -1,1 +1,1 @@ f\n x\n@@ -1,2 +1,2 @@\n+x\n y\n",
            "names a function",
        ),
    ],
)
def test_a_malformed_patch_is_refused(text, problem):
    if "--- a/" not in text and "expected '---" not in problem:
        text += "--- a/x.py\n+++ b/x.py\n@@ -1,1 +1,2 @@ f\n+x\n y\n"
    with pytest.raises(BuildError) as caught:
        patching.parse("try.patch", text)
    assert problem in str(caught.value)


def test_series_and_folder_must_agree(tmp_path):
    (tmp_path / "series").write_text("# order\ngone.patch\n")
    with pytest.raises(BuildError, match=r"gone\.patch: listed in series, not there"):
        read_series(tmp_path)
    (tmp_path / "series").write_text("")
    (tmp_path / "extra.patch").write_text("")
    with pytest.raises(BuildError, match=r"extra\.patch: not listed in series"):
        read_series(tmp_path)


@pytest.mark.parametrize(
    ("specifiers", "version", "answer"),
    [
        (">=3.20.1, <5", "4.4.0", True),
        (">=3.20.1, <5", "3.20.0", False),
        (">=3.20.1, <5", "3.9.1", False),
        (">=3.20.1, <5", "5.0", False),
        (">=4", "4", True),
        (">=99", "unknown", True),
    ],
)
def test_applies(specifiers, version, answer):
    assert patching.applies(specifiers, version) is answer
