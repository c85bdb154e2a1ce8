# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Where a call was when an exception left it: the fields and indexes that it passed on its way.

The loops say what an exception passes while it leaves them, from the inside out, and only if
somebody has asked for that (``ALTHAIA_NOTES``). Nothing stands in their way otherwise: each asks in
a ``finally`` of which the compiler leaves nothing on the way of an ordinary call.
"""

import sys
from contextvars import ContextVar


cdef bint kept = False
# A context's own: another thread, task or greenlet may fail meanwhile. An exception and its parts.
cdef object _trail = ContextVar("althaia_trail", default=None)


def keep(bint on):
    """Keep from now on what exceptions pass, or keep nothing."""
    global kept
    kept = on


def taken(error, str schema):
    """The path on which an exception has left a call, ``OrderSchema.lines[2].at``; forgotten now.

    "" where it passed no field: the call itself has failed.
    """
    cdef object trail = _trail.get()
    _trail.set(None)
    if trail is None or trail[0] is not error:
        return ""
    return schema + "".join(reversed(<list>trail[1]))


cdef int passed(str part) except -1:
    cdef object error = sys.exc_info()[1]
    cdef object trail = _trail.get()
    if trail is None or trail[0] is not error:
        trail = (error, [])
        _trail.set(trail)
    (<list>trail[1]).append(part)
    return 0


cdef int left_step(object name) except -1:
    """An exception leaves the field of this name."""
    return passed(f".{name}") if kept else 0


cdef int left_item(Py_ssize_t index) except -1:
    """An exception leaves an item of a collection."""
    return passed(f"[{index}]") if kept else 0


cdef int left_key(object key) except -1:
    """An exception leaves the value of a key, which is text or a whole number."""
    return passed(f"[{key!r}]") if kept else 0


cdef int left_hook(object name) except -1:
    """An exception leaves a hook of the schema."""
    return passed(f", in its hook {name}") if kept else 0
