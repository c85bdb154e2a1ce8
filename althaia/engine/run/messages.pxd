"""Error messages, and the one ValidationError of a call, without the exceptions in between."""

# What a message may name in braces: nothing, or the value. A value is never in this dictionary.
cdef dict NOTHING
cdef dict INPUT


cdef inline bint is_of_json(object value) noexcept:
    """Return whether a value is of a type that a JSON parser makes, None excluded. What upstream's
    fields do with it runs no user code."""
    return (
        type(value) is str or type(value) is int or type(value) is float or type(value) is bool
        or type(value) is list or type(value) is dict
    )


cdef object message_of(object text, dict words, object value)
cdef object validation_error(object messages, object data, object valid_data)
