"""Error messages, and the one ValidationError of a call, without the exceptions in between.

A failure is data until somebody sees it. Upstream's ``make_error`` and ``_format_error`` look up a
text and format it. A step or check whose guard watches them does so by :func:`message_of`.
"""

cdef dict NO_WORDS = {}
cdef dict INPUT_WORD = {"input": None}

# Formatting a value of these types runs no user code.
cdef frozenset PLAIN_TYPES = frozenset({str, int, float, bool, type(None)})
cdef tuple TEXTS = (str, bytes)
cdef object new_exception = BaseException.__new__


cdef message_of(text, dict words, value):
    """Return an error message with its words filled in; None if only upstream's own code can make
    it.

    :param text: the message as upstream has it. It may be anything; str is formatted.
    :param words: what the message may name in braces, by name; the value stands for ``input``. None
        if that is not known here.
    """
    cdef dict named
    if type(text) is not str:
        return None
    if "{" not in <str>text and "}" not in <str>text:
        return text
    if words is None:
        return None
    named = dict(words)
    if "input" in named:
        named["input"] = value
    for each in named.values():
        if type(each) not in PLAIN_TYPES:
            return None
    try:
        return (<str>text).format(**named)
    except Exception:
        # Upstream's own code raises it again, where a user expects it.
        return None


cdef constructed(messages):
    """Return the ``messages`` of a ValidationError that is made with these."""
    if type(messages) is list or type(messages) is dict:
        return messages
    # Not isinstance(): Cython asks it for the C type, and a lazy text is another type's.
    return [messages] if PyObject_IsInstance(messages, TEXTS) else messages


cdef validation_error(messages, data, valid_data):
    """Return the ValidationError of a failed call. Its constructor is upstream's."""
    error = new_exception(upstream.ValidationError, messages)
    error.__dict__ = {
        "messages": constructed(messages),
        "field_name": "_schema",
        "data": data,
        "valid_data": valid_data,
        "kwargs": {},
    }
    return error
