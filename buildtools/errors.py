"""The one error every stage of the build raises."""

from __future__ import annotations


class BuildError(Exception):
    """The build cannot go on.

    :param where: the file (and place in it) that is wrong
    :param problem: what was expected and what was found
    :param remedy: what the reader can do about it

    >>> print(BuildError("schema.py", "expected 7 imports, found 8", "run the lock command"))
    schema.py: expected 7 imports, found 8
      -> run the lock command
    """

    def __init__(self, where: str, problem: str, remedy: str) -> None:
        super().__init__(where, problem, remedy)
        self.where = where
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}\n  -> {self.remedy}"
