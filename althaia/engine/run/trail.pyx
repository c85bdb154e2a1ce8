"""The trail of an exception: the fields and indexes through which it left a call.

The loops record them from the inside out, and only if that is switched on (``ALTHAIA_NOTES``). A
call without an exception costs nothing, because the loops record in a ``finally`` block that the
compiler removes from the ordinary path.
"""

cdef bint trails_kept = False
# An exception and the parts of its path. In a context variable, because another thread, task or
# greenlet may fail meanwhile.
cdef object _trail = ContextVar("althaia_trail", default=None)


def keep_trails(bint on):
    """Switch the recording of trails on or off."""
    global trails_kept
    trails_kept = on


def take_trail(error, str schema):
    """Return and forget the path by which an exception left a call: ``OrderSchema.lines[2].at``.

    Return "" if it passed no field, because the call itself has failed.
    """
    trail = _trail.get()
    _trail.set(None)
    if trail is None or trail[0] is not error:
        return ""
    return schema + "".join(reversed(<list>trail[1]))


cdef int add_to_trail(str form, part):
    """Record that an exception leaves a part of a call.

    :param form: how that part of the path is written, with braces for its name or index.
    """
    if not trails_kept:
        return 0
    error = sys.exc_info()[1]
    trail = _trail.get()
    if trail is None or trail[0] is not error:
        trail = (error, [])
        _trail.set(trail)
    (<list>trail[1]).append(form.format(part))
