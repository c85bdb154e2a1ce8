"""``python -m tests.docs.examples PAGE``: run the examples of one page, in the current folder.

Python blocks share one namespace, as a reader would type them; what ``>>>`` shows is compared. Of
``console`` blocks each ``$`` line is run by a shell and has to succeed; what stands below is
compared with what it prints, where ``...`` stands for anything. A figure with a unit or a point is
any figure, and the folder of the packages any folder. A block that cannot run has a mark before
it, which no reader sees::

    <!-- skip: next "the reason" -->
"""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path
from unittest import SkipTest

from sybil import Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser

MEASURED = re.compile(
    r"\d[\d,]*(?:\.\d+)+|\d[\d,]*(?= ?(?:µs|ms|s|×|%|modules)(?!\w))|/.+(?=/site-packages)"
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def shell(example):
    commands = []
    for line in example.parsed.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif commands:
            commands[-1][1].append(line)
    if not commands:
        return "no line begins with '$ '"
    for command, output in commands:
        ran = subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, timeout=300, env=environment()
        )
        if ran.returncode:
            return f"{command}\nexit code {ran.returncode}\n{ran.stdout}{ran.stderr}"
        wanted = "\n".join(output).strip()
        if wanted and not doctest.OutputChecker().check_output(
            MEASURED.sub("0", wanted) + "\n", MEASURED.sub("0", ran.stdout.strip()) + "\n", FLAGS
        ):
            return f"{command}\nshould print\n{wanted}\nand printed\n{ran.stdout}"
    return None


def environment():
    """``python`` is the interpreter of the tests, and no switch is set."""
    found = {key: value for key, value in os.environ.items() if not key.startswith("ALTHAIA_")}
    paths = [str(Path(sys.executable).parent), found.get("PATH", "")]
    return {**found, "PATH": os.pathsep.join(paths)}


def documents(page):
    parsers = [
        PythonCodeBlockParser(doctest_optionflags=FLAGS),
        CodeBlockParser(language="console", evaluator=shell),
        SkipParser(),
    ]
    document = Sybil(parsers=parsers).parse(page)
    document.namespace["__name__"] = "__main__"
    return document


def run(page):
    """Run all examples; the reasons of those that cannot."""
    reasons = []
    for example in documents(page).examples():
        try:
            example.evaluate()
        except SkipTest as skipped:
            reasons.append(f"line {example.line}: {skipped}")
    return reasons


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    for reason in run(Path(sys.argv[1])):
        print(f"not run, {reason}")
