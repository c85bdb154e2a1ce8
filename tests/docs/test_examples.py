"""Every example of the README and of docs/ runs, each page in a process and a folder of its own."""

import ast
import builtins
import os
import re
import shutil
from pathlib import Path

import pytest

from tests.docs.conftest import ROOT
from tests.redirect import processes

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
RUNNABLE = re.compile(r"^```(python|console)\n", re.M)
SHOWN = re.compile(r"^```(?:python|py)\n(.*?)^```", re.M | re.S)
OTHER_SHELLS = re.compile(r"^```(sh|bash|shell)\b", re.M)


@pytest.mark.parametrize(
    "page",
    [page if page.parent == ROOT else pytest.param(page, marks=pytest.mark.slow) for page in PAGES],
    ids=lambda page: page.stem,
)
def test_the_examples_run(page, tmp_path):
    pytest.importorskip("sybil")
    text = page.read_text("utf-8")
    assert not OTHER_SHELLS.search(text), "commands stand in console blocks, which are run"
    if not RUNNABLE.search(text):
        pytest.skip("no example")
    if os.environ.get("ALTHAIA_PURE_BUILD"):
        pytest.skip("what examples show is what a compiled althaia prints")
    world = shutil.copytree(Path(__file__).parent / "world", tmp_path / "world")
    words = ("-m", "tests.docs.examples", str(page))
    env = {"PYTHONPATH": os.pathsep.join([str(world), str(ROOT)])}
    ran = processes.run(*words, cwd=world, env=env, timeout=900)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("not run, ") == text.count("<!-- skip: next "), ran.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_reader_sees_where_each_name_comes_from(page):
    """The blocks of a page show their set-up, once; comments that no reader sees may only check."""
    text = page.read_text("utf-8")
    if "<!-- invisible-code-block: python" not in text:
        return
    used, known = set(), {*vars(builtins), "__name__"}
    for block in SHOWN.findall(text):
        code = (
            re.sub(r"^(?!>>> |\.\.\. ).*\n?", "", block, flags=re.M) if ">>> " in block else block
        )
        for node in ast.walk(ast.parse(re.sub(r"^(>>> |\.\.\. )", "", code, flags=re.M))):
            if isinstance(node, ast.Name):
                (known if isinstance(node.ctx, ast.Store) else used).add(node.id)
            elif isinstance(node, ast.alias):
                known.add(node.asname or node.name.partition(".")[0])
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                known.add(node.name)
            elif isinstance(node, ast.arg):
                known.add(node.arg)
    assert not used - known
