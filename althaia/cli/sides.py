"""Asks both libraries the same, each in a process of its own: for ``bench`` and ``compare``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

SIDES = ("marshmallow", "althaia")
_ENDED = '{"failed": "its process ended"}'


class SideError(Exception):
    """One of the libraries cannot be asked. The message is shown to the user."""


class Process:
    """One library's process.

    :param side: one of :data:`SIDES`
    :raises SideError: the schema cannot be imported there
    """

    def __init__(self, side: str, schema: str, *, plan_at_once: bool = False) -> None:
        self.side = side
        ours = ("PATCH", "DISABLE", "COMPARE", "COMPARE_FILE", "STRICT", "NOTES")
        dropped = {f"ALTHAIA_{name}" for name in ours}
        environment = {k: v for k, v in os.environ.items() if k not in dropped}
        # Both processes must iterate over sets in the same order.
        environment["PYTHONHASHSEED"] = "0"
        patched = side == "althaia"
        if not patched:
            # The schema's own module may call patch().
            environment["ALTHAIA_DISABLE"] = "1"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "althaia.cli.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        try:
            self.ask("start", schema=schema, patched=patched, plan_at_once=plan_at_once)
        except KeyboardInterrupt:  # It may have come to this process alone.
            self.close()
            raise

    def ask(
        self, do: str, watch: Callable[[int, int], object] | None = None, **details: Any
    ) -> dict[str, Any]:
        """Return the answer to a command.

        :param watch: called with how much is done, and of how much
        :raises SideError: the command failed
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(json.dumps({"do": do, **details}) + "\n")
            stdin.flush()
            while "done" in (answer := json.loads(stdout.readline() or _ENDED)):
                if watch is not None:
                    watch(answer["done"], answer["of"])
        except BrokenPipeError:
            answer = json.loads(_ENDED)
        if "failed" in answer:
            self.close()
            raise SideError(f"with {self.side}: {answer['failed']}")
        return dict(answer)

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
