"""Reads the settings of a call once, before the call runs."""

# These return EXTRAORDINARY if reading or converting a setting would run user code.
cdef object many_of(object schema, object given)
cdef object unknown_of(object schema, object given)
cdef object partial_of(object schema, object given)
cdef bint is_plain_partial(object partial)


cdef inline bint is_plain_flag(object flag):
    """Return whether converting a setting to bool runs no user code."""
    return flag is None or type(flag) is bool or type(flag) is int
