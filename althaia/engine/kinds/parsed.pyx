"""Dates and times that are read from text."""


@cython.no_gc_clear
cdef class LoadParsed(LoadStep):
    """Reads a date or time by a function that upstream would call.

    :param parse: the function, of the standard library or of upstream.
    :param words: what the field's messages name in braces.
    """

    cdef public object parse
    cdef public dict words

    kind = "date or time"

    cdef object convert(self, object value, object data, LoadFrame frame):
        return self.parsed(value, data, frame)

    cdef object parsed(self, object value, object data, LoadFrame frame):
        """Return what ``_TemporalField._deserialize`` returns, or FAILED."""
        if not is_of_json(value):
            return self.by_field(value, data, frame)
        try:
            return self.parse(value)
        except (TypeError, AttributeError, ValueError):
            pass
        return self.refuse("invalid", self.words, value, data, frame)
