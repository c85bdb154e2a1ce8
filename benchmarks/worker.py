"""One library's process. Run by path, with the runner's name; speaks JSON lines on stdio.

    {"do": "prepare", "case": "small", "objects": 1, "output": "/a/file", …}  -> {"loops": 512}
    {"do": "time", "loops": 512, "collector": false}                          -> {"seconds": 0.1}

Run by path, because the checkout must not be on ``sys.path``: it would hide whichever
althaia is installed here.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import pickle
import sys
import traceback
from pathlib import Path
from typing import Any


def find_benchmarks() -> None:
    """Make ``import benchmarks`` work without its parent folder on ``sys.path``."""
    here = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != here]
    spec = importlib.util.spec_from_file_location(
        "benchmarks", here / "__init__.py", submodule_search_locations=[str(here)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["benchmarks"] = module
    spec.loader.exec_module(module)


class Worker:
    """Holds the work that is being measured between two commands."""

    def __init__(self, runner: str) -> None:
        self.runner = importlib.import_module(f"benchmarks.runners.{runner}")
        self.builds = self.runner.builds()
        self.work: Any = None

    def names(self) -> dict[str, Any]:
        return {"cases": list(self.builds), "versions": self.runner.versions()}

    def prepare(
        self, case: str, objects: int, output: str, seconds: float, collector: bool
    ) -> dict[str, Any]:
        """Build the work, write its output to a file, and find out how often to call it."""
        from benchmarks.timing import loops_for

        self.work = None
        self.work = self.builds[case](objects)
        with Path(output).open("wb") as file:
            pickle.dump(self.runner.plain(self.work()), file)
        return {"loops": loops_for(self.work, seconds, collector)}

    def time(self, loops: int, collector: bool) -> dict[str, Any]:
        from benchmarks.timing import time_loops

        return {"seconds": time_loops(self.work, loops, collector)}

    def memory(self, case: str, objects: int) -> dict[str, Any]:
        """The peak of one call above what was there before, and the process's own peak."""
        from benchmarks.memory import peak_of

        return peak_of(self.builds[case](objects))

    def instances(self) -> dict[str, Any]:
        """What an instance keeps; drop-ins only."""
        from benchmarks.memory import instance_cost

        return instance_cost(self.runner.module())


def main() -> None:
    find_benchmarks()
    # Whatever a library prints must not get between our answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    worker: Worker | None = None
    for line in sys.stdin:
        command = json.loads(line)
        do = command.pop("do")
        try:
            if do == "start":
                worker = Worker(**command)
                answer = worker.names()
            else:
                answer = getattr(worker, do)(**command)
        except Exception:
            answer = {"failed": traceback.format_exc(limit=-4)}
        answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
