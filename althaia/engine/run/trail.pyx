"""The trail of an exception: the fields and indexes through which it left a call.

The loops record them from the inside out, and only if that is switched on (``ALTHAIA_NOTES``). A
call without an exception costs nothing, because the loops record in a ``finally`` block that the
compiler removes from the ordinary path.
"""

cdef bint kept = False
# An exception and the parts of its path. In a context variable, because another thread, task or
# greenlet may fail meanwhile.
cdef object _trail = ContextVar("althaia_trail", default=None)


def keep(bint on):
    """Switch the recording of trails on or off."""
    global kept
    kept = on


def taken(error, str schema):
    """Return and forget the path by which an exception left a call: ``OrderSchema.lines[2].at``.

    Return "" if it passed no field, because the call itself has failed.
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
    """Record that an exception leaves the field of this name."""
    return passed(f".{name}") if kept else 0


cdef int left_item(Py_ssize_t index) except -1:
    """Record that an exception leaves an item of a collection."""
    return passed(f"[{index}]") if kept else 0


cdef int left_key(object key) except -1:
    """Record that an exception leaves the value of a key, which is a str or an int."""
    return passed(f"[{key!r}]") if kept else 0


cdef int left_hook(object name) except -1:
    """Record that an exception leaves a hook of the schema."""
    return passed(f", in its hook {name}") if kept else 0
