"""Writes JSON text: ``dumps`` for any value, and the sink for dumps."""

# ---- Any value ----------------------------------------------------------------------


def json_dumps(obj, *args, **options):
    """Return or raise what ``json.dumps`` does, for any value and with any options.

    :param obj: any value.
    :param options: those of ``json.dumps``. A call with ``cls``, ``indent``, ``skipkeys`` or
        ``check_circular`` is passed to the standard library, as is every call while ``json``'s own
        encoder is patched.
    :returns: the text, as a str.
    :raises TypeError: JSON cannot represent a value or a key.
    :raises ValueError: a circular reference, or a float that ``allow_nan=False`` excludes.
    :raises RecursionError: the value is nested too deep.

    >>> dumps({"a": [1, 2.5, None]})
    '{"a": [1, 2.5, null]}'
    """
    cdef Encoder encoder
    cdef Format format = None if args else format_of(options)
    if format is None:
        return standard.dumps(obj, *args, **options)
    encoder = Encoder(format, options.get("default"))
    encoder.encode(obj, 0)
    return althaia_buffer_text(&encoder.buffer)


# A function in C that a program has put there may have no signature.
with suppress(ValueError):
    json_dumps.__signature__ = inspect.signature(standard.DUMPS)


# ---- Dumps --------------------------------------------------------------------------


cdef JSONSink open_json(dict options):
    """Return a sink for ``json.dumps`` with these options; None if that must be called."""
    cdef Format format = format_of(options)
    return None if format is None else JSONSink(format, options.get("default"))


@cython.final
cdef class JSONSink(Encoder):
    """Writes dumped objects as JSON text."""

    def __cinit__(self, Format format, default):
        self.sorts = format.sort_keys

    cdef Record make_record(self, tuple keys):
        return JSONRecord(self.format, keys)

    # ---- Values ---------------------------------------------------------------------

    cdef int none(self) except -1:
        return althaia_put_bytes(&self.buffer, b"null", 4)

    cdef int ascii(self, const char* text, Py_ssize_t length) except -1:
        return althaia_put_quoted(&self.buffer, text, length)

    cdef int any(self, object value) except -1:
        return 0 if put_scalar(self, value) else self.defer_value(value)

    # ---- Records --------------------------------------------------------------------

    cdef int open_record(self, Record record) except -1:
        althaia_put_byte(&self.buffer, c"{")
        self.push(<PyObject*>record, None)
        self.buffer.beyond_ascii |= (<JSONRecord>record).beyond_ascii
        return 0

    # The record is a borrowed reference here, held by its level. All threads use the same record,
    # and changing its reference count for each key would make them wait for each other.

    cdef Py_ssize_t key(self, Py_ssize_t index) except -1:
        cdef Level* level = &self.levels[self.depth - 1]
        cdef PyObject* record = level.record
        cdef Py_ssize_t mark = self.buffer.size
        cdef Py_ssize_t start = (<JSONRecord>record).ends[index]
        if level.count == 0:
            start += (<JSONRecord>record).separator
        level.index = index
        level.count += 1
        althaia_put_padded(
            &self.buffer,
            (<JSONRecord>record).text + start,
            (<JSONRecord>record).ends[index + 1] - start,
        )
        return mark

    cdef int close_record(self) except -1:
        self.depth -= 1
        return althaia_put_byte(&self.buffer, c"}")

    # ---- Lists ----------------------------------------------------------------------

    cdef int open_list(self, object kind, Py_ssize_t expected) except -1:
        althaia_put_byte(&self.buffer, c"[")
        self.push(NULL, kind)
        return 0

    cdef int item(self) except -1:
        cdef Level* level = &self.levels[self.depth - 1]
        level.index = level.count
        level.count += 1
        if level.index == 0:
            return 0
        return put_piece(&self.buffer, <PyObject*>self.format.item_separator)

    cdef int close_list(self) except -1:
        self.depth -= 1
        return althaia_put_byte(&self.buffer, c"]")

    # ---- The end --------------------------------------------------------------------

    cdef object finished(self):
        self.encode_deferred()
        return althaia_buffer_text(&self.buffer)

    cdef object finished_bytes(self):
        self.encode_deferred()
        if self.buffer.beyond_ascii:
            # A lone surrogate cannot be encoded: str.encode() raises the expected error.
            return althaia_buffer_text(&self.buffer).encode()
        return PyBytes_FromStringAndSize(self.buffer.data, self.buffer.size)
