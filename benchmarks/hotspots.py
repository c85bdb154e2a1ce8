"""Which functions hold a case: callgrind's own counts, summed by function.

``callgrind_annotate`` attributes the parts of a run that was cut by ``--dump-before`` to the
program's first function, so the files are read here.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

_NAME = re.compile(r"^(fn|cfn|ob|cob)=\((\d+)\)(?: (.*))?$")
_COST = re.compile(r"^[+\-*\d]\S* (\d+)$")


def hotspots(part: Path) -> Counter[str]:
    """Instructions spent in each function itself, ``object:function``.

    >>> hotspots(Path("callgrind.out.4")).most_common(1)  # doctest: +SKIP
    [('libpython3.11.so.1.0:_PyEval_EvalFrameDefault', 1234567)]
    """
    names: dict[tuple[str, str], str] = {}
    spent: Counter[str] = Counter()
    library = function = ""
    inclusive = False
    for line in part.read_text().splitlines():
        if found := _NAME.match(line):
            kind, number, name = found.groups()
            table = "ob" if kind.endswith("ob") else "fn"
            if name:
                names[table, number] = name
            if kind == "ob":
                library = Path(names[table, number]).name.split(".cpython")[0]
            elif kind == "fn":
                function = names[table, number]
        elif line.startswith("calls="):
            # The next line says what the call cost altogether; the callee says it again.
            inclusive = True
        elif found := _COST.match(line):
            if not inclusive:
                spent[f"{library}:{function}"] += int(found[1])
            inclusive = False
    return spent


def show(part: Path, objects: int, most: int = 25) -> list[str]:
    """The functions that take the most, as lines: share, instructions per object, name."""
    spent = hotspots(part)
    total = spent.total() or 1
    return [
        f"{count / total:6.1%} {count / objects:10,.0f}  {name}"
        for name, count in spent.most_common(most)
    ]
