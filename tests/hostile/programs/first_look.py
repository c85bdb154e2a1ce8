"""Each allocation of the first call in which a compiled module looks around fails, in a child.

``python -m tests.hostile.programs.first_look <library>``
"""

from __future__ import annotations

import _testcapi
import os

from tests.hostile.programs import arguments, begin, library, report

(LIBRARY,) = arguments()
m = library(LIBRARY)


class Inner(m.Schema):  # type: ignore[misc, name-defined]
    a = m.fields.Integer()


FIELD = Inner().fields["a"]


def end_of_child(number: int) -> int:
    """How a child ends in which the allocation with this number fails: 0, 1 for a MemoryError, 2
    for another exception, or minus the number of a signal."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    code = 0
    _testcapi.set_nomemory(number, number + 1)
    try:
        # A module looks around at each 64th check.
        for _ in range(70):
            repr(FIELD)
        _testcapi.remove_mem_hooks()
    except MemoryError:
        _testcapi.remove_mem_hooks()
        code = 1
    except Exception:
        _testcapi.remove_mem_hooks()
        code = 2
    for _ in range(200):
        repr(FIELD)
        Inner().dump({"a": 1})
    os._exit(code)


begin("first look")
ends = [end_of_child(number) for number in range(1000)]
report("first look", {str(end): ends.count(end) for end in sorted(set(ends))})
