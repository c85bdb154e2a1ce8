"""The applier: exact, inside the named function only, never guessing."""

from __future__ import annotations

from pathlib import Path

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


def patch(hunk: str, header: str = HEADER) -> patching.Patch:
    return patching.parse("try.patch", f"{header}--- a/box.py\n+++ b/box.py\n{hunk}")


def applied(hunk: str, source: str = SOURCE) -> str:
    texts, _ = apply([patch(hunk)], {"box.py": source}, "1.0")
    return texts["box.py"]


def test_a_hunk_goes_into_the_function_it_names() -> None:
    text = applied("@@ -1,1 +1,2 @@ Box.first\n+        hook()\n         if a:\n")
    assert text == SOURCE.replace(
        "        if a:\n            return 1",
        "        hook()\n        if a:\n            return 1",
    )


def test_lines_outside_the_named_function_do_not_count() -> None:
    # "    return 2" is in the other function only, at this indentation.
    with pytest.raises(BuildError, match="occur nowhere"):
        applied("@@ -1,1 +1,2 @@ Box.first\n+    hook()\n     return 2\n")


def test_module_level_means_outside_every_function_and_class() -> None:
    text = applied("@@ -1,1 +1,2 @@ <module>\n import os\n+import sys\n")
    assert text.startswith("import os\nimport sys\n")
    with pytest.raises(BuildError, match="occur nowhere"):
        applied("@@ -1,1 +1,2 @@ <module>\n     size = 3\n+    colour = 4\n")


def test_any_offset_is_allowed_and_reported() -> None:
    hunk = "@@ -900,1 +900,2 @@ Box.first\n+        hook()\n         if a:\n"
    moved = "\n" * 50 + SOURCE
    texts, placed = apply([patch(hunk)], {"box.py": moved}, "1.0")
    assert "        hook()\n" in texts["box.py"]
    ((_, applied_hunk, line),) = placed
    assert (applied_hunk.function, applied_hunk.start, line) == ("Box.first", 900, 64)


@pytest.mark.parametrize(
    "changed",
    ["        if  a:", "        if a: ", "        if\ta:", "        if A:"],
    ids=["inner space", "trailing space", "tab", "case"],
)
def test_no_fuzz_one_differing_character_is_a_failure(changed: str) -> None:
    source = SOURCE.replace("        if a:", changed)
    hunk = "@@ -1,1 +1,2 @@ Box.first\n+        hook()\n         if a:\n"
    with pytest.raises(BuildError, match="occur nowhere"):
        applied(hunk, source)


def test_lines_that_occur_twice_are_refused() -> None:
    twice = SOURCE.replace("        return 2\n", "        if a:\n            return 3\n", 1)
    twice += "        if a:\n            return 1\n"
    hunk = "@@ -1,1 +1,2 @@ Box.first\n+        hook()\n         if a:\n"
    with pytest.raises(BuildError, match=r"occur 2 times|occur 3 times"):
        applied(hunk, twice)


def test_a_missing_function_is_named() -> None:
    with pytest.raises(BuildError, match=r"box\.py has no function Box\.second"):
        applied("@@ -1,1 +1,2 @@ Box.second\n+        hook()\n         if a:\n")


def test_a_missing_file_is_named() -> None:
    hunk = "@@ -1,1 +1,2 @@ Box.first\n+        hook()\n         if a:\n"
    with pytest.raises(BuildError, match=r"upstream 1\.0 has no box\.py"):
        apply([patch(hunk)], {"other.py": SOURCE}, "1.0")


def test_what_leaves_no_python_is_refused() -> None:
    with pytest.raises(BuildError, match="without valid syntax"):
        applied("@@ -1,1 +1,2 @@ Box.first\n+        if (\n         if a:\n")


def test_a_patch_for_another_release_is_left_out() -> None:
    header = HEADER.replace(">=1", ">=2, <3")
    hunk = "@@ -1,1 +1,2 @@ Box.first\n+        hook()\n         if a:\n"
    texts, placed = apply([patch(hunk, header)], {"box.py": SOURCE}, "1.9")
    assert (texts["box.py"], placed) == (SOURCE, [])


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
def test_a_malformed_patch_is_refused(text: str, problem: str) -> None:
    if "--- a/" not in text and "expected '---" not in problem:
        text += "--- a/x.py\n+++ b/x.py\n@@ -1,1 +1,2 @@ f\n+x\n y\n"
    with pytest.raises(BuildError) as caught:
        patching.parse("try.patch", text)
    assert problem in str(caught.value)


def test_series_and_folder_must_agree(tmp_path: Path) -> None:
    (tmp_path / "series").write_text("# order\ngone.patch\n")
    with pytest.raises(BuildError, match=r"gone\.patch: listed in series, not there"):
        read_series(tmp_path)
    (tmp_path / "series").write_text("")
    (tmp_path / "extra.patch").write_text("")
    with pytest.raises(BuildError, match=r"extra\.patch: not listed in series"):
        read_series(tmp_path)
