"""Writes JSON text: ``dumps`` for any value, and the sink for dumps."""

cdef struct Fragment:
    Py_ssize_t index
    Py_ssize_t start
    Py_ssize_t deferred

# ---- Any value ----------------------------------------------------------------------


def json_dumps(obj, *args, **options):
    """Return or raise what ``json.dumps`` does, for any value and with any options.

    :param obj: any value.
    :param options: those of ``json.dumps``. ``cls``, ``skipkeys=True`` and
        ``check_circular=False`` are passed to the standard library, as is every call while
        ``json``'s own encoder is patched.
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
    """Writes dumped objects as JSON text.

    If keys are sorted, the entries of a record are first written in the order of the plan's steps,
    because the steps call user code in that order. When the record is closed, each entry's text is
    moved to its place.
    """

    cdef Fragment* fragments
    cdef Py_ssize_t fragment_count, fragment_room

    def __dealloc__(self):
        PyMem_Free(self.fragments)

    cdef Record make_record(self, tuple keys):
        return JSONRecord(self.format, keys)

    # ---- Values ---------------------------------------------------------------------

    cdef int none(self) except -1:
        return althaia_put_bytes(&self.buffer, b"null", 4)

    cdef int ascii(self, const char* text, Py_ssize_t length) except -1:
        cdef char* at = althaia_reserve(&self.buffer, length + 2)
        at[0] = c'"'
        memcpy(at + 1, text, length)
        at[length + 1] = c'"'
        self.buffer.size += length + 2
        return 0

    cdef int any(self, object value) except -1:
        cdef double number
        if type(value) is str:
            return althaia_put_text(&self.buffer, value, self.format.ensure_ascii)
        if value is None:
            return althaia_put_bytes(&self.buffer, b"null", 4)
        if type(value) is int:
            # An int of more than 64 bits may have more digits than the interpreter accepts, so that
            # encoding it may fail.
            if althaia_put_small_integer(&self.buffer, value):
                return 0
        elif type(value) is float:
            number = PyFloat_AS_DOUBLE(value)
            if isfinite(number):
                return althaia_put_double(&self.buffer, number)
        elif value is True:
            return althaia_put_bytes(&self.buffer, b"true", 4)
        elif value is False:
            return althaia_put_bytes(&self.buffer, b"false", 5)
        return self.defer_value(value)

    # ---- Records --------------------------------------------------------------------

    cdef int open_record(self, Record record) except -1:
        althaia_put_byte(&self.buffer, c"{")
        self.push(<PyObject*>record, None).fragments = self.fragment_count
        self.buffer.beyond_ascii |= (<JSONRecord>record).beyond_ascii
        return 0

    # The record is a borrowed reference here, held by its level. All threads use the same record,
    # and changing its reference count for each key would make them wait for each other.

    cdef Py_ssize_t key(self, Py_ssize_t index) except -1:
        cdef Level* level = &self.levels[self.depth - 1]
        cdef PyObject* record = level.record
        cdef Py_ssize_t mark = self.buffer.size
        cdef Py_ssize_t start = (<JSONRecord>record).ends[index]
        cdef bint first = level.count == 0 and (<JSONRecord>record).order is NULL
        level.index = index
        level.count += 1
        if (<JSONRecord>record).order is not NULL:
            self.begin_fragment(index)
        if self.format.indent is not None:
            if not first:
                self.separate()
            self.newline(self.depth)
        elif first:
            start += (<JSONRecord>record).separator
        althaia_put_bytes(
            &self.buffer,
            <const char*>(<JSONRecord>record).text + start,
            (<JSONRecord>record).ends[index + 1] - start,
        )
        return mark

    cdef int take_back(self, Py_ssize_t mark) except -1:
        cdef Level* level = &self.levels[self.depth - 1]
        if (<JSONRecord>level.record).order is not NULL:
            self.fragment_count -= 1
        return Sink.take_back(self, mark)

    cdef int close_record(self) except -1:
        cdef Level* level = &self.levels[self.depth - 1]
        if (<JSONRecord>level.record).order is not NULL:
            if level.count:
                self.sort_fragments(<JSONRecord>level.record)
            self.fragment_count = level.fragments
        self.depth -= 1
        if self.format.indent is not None and level.count:
            self.newline(self.depth)
        return althaia_put_byte(&self.buffer, c"}")

    cdef int begin_fragment(self, Py_ssize_t index) except -1:
        """Record where the text of an entry begins, because it is moved later."""
        cdef Fragment* fragment
        cdef Py_ssize_t room
        if self.fragment_count == self.fragment_room:
            room = 16 if self.fragment_room == 0 else self.fragment_room * 2
            fragment = <Fragment*>PyMem_Realloc(self.fragments, room * sizeof(Fragment))
            if fragment is NULL:
                raise MemoryError
            self.fragments = fragment
            self.fragment_room = room
        fragment = &self.fragments[self.fragment_count]
        fragment.index = index
        fragment.start = self.buffer.size
        fragment.deferred = 0 if self.deferred is None else len(self.deferred)
        self.fragment_count += 1
        return 0

    cdef int sort_fragments(self, JSONRecord record) except -1:
        """Move the pieces of the record that is being closed into the order of their keys."""
        cdef Level* level = &self.levels[self.depth - 1]
        cdef Fragment* pieces = self.fragments + level.fragments
        cdef Py_ssize_t count = self.fragment_count - level.fragments, n = len(record.keys)
        cdef Py_ssize_t i, k, moved, size, deferred_end, end = self.buffer.size
        cdef Py_ssize_t start = pieces[0].start
        cdef Py_ssize_t at = start
        cdef char* copy = <char*>PyMem_Malloc(end - start + n * sizeof(Py_ssize_t))
        cdef Py_ssize_t* places
        cdef DeferredValue later
        cdef list deferred = []
        if copy is NULL:
            raise MemoryError
        try:
            # places[key index] is the index of the key's piece, or -1 if there is none.
            places = <Py_ssize_t*>copy
            for i in range(n):
                places[i] = -1
            for i in range(count):
                places[pieces[i].index] = i
            copy += n * sizeof(Py_ssize_t)
            memcpy(copy, self.buffer.data + start, end - start)
            for i in range(n):
                k = places[record.order[i]]
                if k < 0:
                    continue
                # Each piece begins with a separator, which the first one must not have.
                moved = pieces[k].start + (record.separator if at == start else 0)
                size = (pieces[k + 1].start if k + 1 < count else end) - moved
                memcpy(self.buffer.data + at, copy + (moved - start), size)
                if self.deferred is not None:
                    deferred_end = pieces[k + 1].deferred if k + 1 < count else len(self.deferred)
                    for later in self.deferred[pieces[k].deferred:deferred_end]:
                        later.position += at - moved
                        deferred.append(later)
                at += size
            self.buffer.size = at
            if deferred:
                self.deferred[pieces[0].deferred:] = deferred
        finally:
            PyMem_Free(places)
        return 0

    # ---- Lists ----------------------------------------------------------------------

    cdef int open_list(self, object kind, Py_ssize_t expected) except -1:
        althaia_put_byte(&self.buffer, c"[")
        self.push(NULL, kind)
        return 0

    cdef int item(self) except -1:
        cdef Level* level = &self.levels[self.depth - 1]
        level.index = level.count
        level.count += 1
        if level.index:
            self.separate()
        if self.format.indent is not None:
            self.newline(self.depth)
        return 0

    cdef int close_list(self) except -1:
        self.depth -= 1
        if self.format.indent is not None and self.levels[self.depth].count:
            self.newline(self.depth)
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
