"""Writes JSON text: ``dumps`` for any value, and the sink for dumps.

Values of built-in types and of their subclasses are encoded here, with the same characters and
errors as ``json``. Text with line breaks (``indent``) is left to the standard library.
"""

cdef extern from "Python.h":
    object PySequence_Fast(object sequence, const char* message)
    list PyMapping_Items(object mapping)
    bint PyUnicode_IS_ASCII(object text)

cdef extern from "althaia/formats/json/scalars.h":
    int althaia_put_quoted(
        althaia_buffer* buffer, const char* text, Py_ssize_t length
    ) except -1
    int althaia_put_text(althaia_buffer* buffer, object text, bint ensure_ascii) except -1
    int althaia_put_double(althaia_buffer* buffer, double number) except -1
    int althaia_put_scalar(
        althaia_buffer* buffer, object value, bint ensure_ascii
    ) except -1
    Py_ssize_t althaia_put_entries(
        althaia_buffer* buffer, const althaia_key_texts* keys, PyObject** values, Py_ssize_t rank,
        bint ensure_ascii
    ) except -1

cdef enum:
    # The byte in the place of text that is kept apart. UTF-8 does not have it.
    APART = 0xFF
    # After this many dictionaries with new keys a sink looks for no further records.
    MOST_STRANGERS = 64

# A built-in type from 3.15 on.
cdef object FROZEN_DICT = getattr(builtins, "frozendict", ())


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
    cdef JSONSink sink
    cdef Format format = None if args else format_of(options)
    if format is None:
        return standard_dumps(obj, *args, **options)
    sink = JSONSink(format, options.get("default"))
    sink.encode(obj, 0)
    return sink.finished()


# A function in C that a program has put there may have no signature.
with suppress(ValueError):
    json_dumps.__signature__ = inspect.signature(DUMPS)


cdef JSONSink open_json(dict options):
    """Return a sink for ``json.dumps`` with these options; None if that must be called."""
    cdef Format format = format_of(options)
    return None if format is None else JSONSink(format, options.get("default"))


@cython.final
cdef class JSONSink(Sink):
    """Writes values, with everything in them, as JSON text.

    :param default: the function that is called with a value that JSON cannot represent, or None.
    """

    cdef readonly Format format
    cdef readonly object default
    # Long text. Encoding it as UTF-8 and decoding it again would take longer than all else. In the
    # buffer APART, and the number of the text, are in its place.
    cdef list apart
    cdef list recent
    cdef Py_ssize_t strangers

    def __cinit__(self, Format format, default):
        self.form = self.format = format
        self.default = unserializable if default is None else default
        self.sorts = format.sort_keys
        self.recent = []

    # ---- Any value ------------------------------------------------------------------

    cdef int encode(self, object value, Py_ssize_t level) except -1:
        """Encode one value. The level does not change JSON text."""
        if put_scalar(self, value):
            return 0
        if isinstance(value, str):
            return put_string(self, value)
        if isinstance(value, int):
            return self.put_json(int.__repr__(value))
        if isinstance(value, float) and self.format.allow_nan:
            return self.encode_float(PyFloat_AS_DOUBLE(value))
        if isinstance(value, (list, tuple)):
            return self.encode_list(value)
        if isinstance(value, dict):
            return self.encode_dict(value)
        if isinstance(value, float) or isinstance(value, FROZEN_DICT):
            return self.encode_by_standard(value)
        return self.encode_by_default(value)

    cdef int encode_float(self, double number) except -1:
        if isfinite(number):
            return althaia_put_double(&self.buffer, number)
        if number != number:
            return self.put_json("NaN")
        return self.put_json("Infinity" if number > 0 else "-Infinity")

    cdef int encode_by_default(self, object value) except -1:
        """Encode what ``default`` returns for the value."""
        self.open(value)
        replacement = self.default(value)
        try:
            self.encode(replacement, 0)
        except BaseException as error:
            if ADDS_NOTES:
                add_note(error, type(value), "object")
            raise
        self.depth -= 1
        return 0

    cdef int encode_by_standard(self, object value) except -1:
        """Encode the value by the interpreter's own encoder."""
        return self.put_json(DUMPS(value, default=self.default, **self.format.options))

    cdef int put_json(self, str text) except -1:
        """Write JSON text that the interpreter has made; keep it apart if it is not ASCII."""
        cdef Py_ssize_t number
        if PyUnicode_IS_ASCII(text):
            return althaia_put_bytes(&self.buffer, <const char*>PyUnicode_DATA(text), len(text))
        self.buffer.beyond_ascii = True
        if self.apart is None:
            self.apart = []
        number = len(self.apart)
        self.apart.append(text)
        althaia_put_byte(&self.buffer, <char>APART)
        return althaia_put_bytes(&self.buffer, <const char*>&number, sizeof(number))

    # ---- Containers -----------------------------------------------------------------

    cdef int encode_item(self, object value, object container, object key) except -1:
        """Encode the value at a key or an index of a container."""
        if not ADDS_NOTES:
            return self.encode(value, 0)
        try:
            return self.encode(value, 0)
        except BaseException as error:
            add_note(error, type(container), f"item {key!r}")
            raise

    cdef int encode_list(self, object value) except -1:
        cdef Py_ssize_t i = 0
        cdef object items = PySequence_Fast(value, b"_iterencode_list needs a sequence")
        cdef void* taken = althaia_item(items, 0)
        if taken is NULL:
            return althaia_put_bytes(&self.buffer, b"[]", 2)
        self.open(value)
        althaia_put_byte(&self.buffer, b"[")
        while taken is not NULL:
            item = <object>taken
            Py_DECREF(item)
            if i:
                put_piece(&self.buffer, <PyObject*>self.format.item_separator)
            if not put_scalar(self, item):
                self.encode_item(item, value, i)
            i += 1
            taken = althaia_item(items, i)
        self.depth -= 1
        return althaia_put_byte(&self.buffer, b"]")

    cdef int encode_dict(self, object value) except -1:
        if len(<dict>value) == 0:
            return althaia_put_bytes(&self.buffer, b"{}", 2)
        self.open(value)
        althaia_put_byte(&self.buffer, b"{")
        if (
            type(value) is not dict
            or self.strangers == MOST_STRANGERS
            or not self.encode_known(<dict>value)
        ):
            self.encode_pairs(value)
        self.depth -= 1
        return althaia_put_byte(&self.buffer, b"}")

    cdef bint encode_known(self, dict mapping) except -1:
        """Encode an exact dict by a record. Return False, with nothing written, if there is no
        record for its keys."""
        # Owned: user code may change the dictionary while it is encoded.
        cdef PyObject* values[MOST_KEYS]
        cdef Py_ssize_t rank = 0, at, count
        cdef Record record = self.format.known_record(mapping, values, self.recent)
        if record is None:
            self.strangers += 1
            return False
        count = record.encoded.count
        self.buffer.beyond_ascii |= record.beyond_ascii
        try:
            while True:
                rank = althaia_put_entries(
                    &self.buffer, &record.encoded, values, rank, self.format.ensure_ascii
                )
                if rank == count:
                    return True
                at = record.encoded.order[rank]
                self.encode_item(<object>values[at], mapping, record.keys[at])
                rank += 1
        finally:
            for at in range(count):
                Py_DECREF(<object>values[at])

    cdef int encode_pairs(self, object mapping) except -1:
        cdef list pairs = PyMapping_Items(mapping)
        cdef bint first = True
        if self.format.sort_keys:
            pairs.sort()
        for pair in pairs:
            if not isinstance(pair, tuple) or len(<tuple>pair) != 2:
                raise ValueError("items must return 2-tuples")
            key, value = <tuple>pair
            if not first:
                put_piece(&self.buffer, <PyObject*>self.format.item_separator)
            first = False
            self.encode_key(key)
            put_piece(&self.buffer, <PyObject*>self.format.key_separator)
            self.encode_item(value, mapping, key)
        return 0

    cdef int encode_key(self, object key) except -1:
        if isinstance(key, str):
            return put_string(self, key)
        if not isinstance(key, (int, float)) and key is not None:
            # The interpreter's encoder raises its error.
            return self.encode_by_standard({key: None})
        althaia_put_byte(&self.buffer, b'"')
        self.encode(key, 0)
        return althaia_put_byte(&self.buffer, b'"')

    cdef int open(self, object container) except -1:
        """Begin to encode what is in a container, in a level of its own.

        :raises ValueError: the container is being encoded already.
        """
        cdef Py_ssize_t i
        althaia_check_stack()
        for i in range(self.depth):
            if self.levels[i].record == <PyObject*>container:
                raise ValueError("Circular reference detected")
        self.push(<PyObject*>container, None)
        return 0

    # ---- Values of a dump -----------------------------------------------------------

    cdef Record make_record(self, tuple keys):
        return self.format.record(keys)

    cdef int none(self) except -1:
        return althaia_put_bytes(&self.buffer, b"null", 4)

    cdef int ascii(self, const char* text, Py_ssize_t length) except -1:
        return althaia_put_quoted(&self.buffer, text, length)

    cdef int any(self, object value) except -1:
        if put_scalar(self, value):
            return 0
        return put_string(self, value) if type(value) is str else self.defer_value(value)

    # ---- Records and lists ----------------------------------------------------------

    cdef int open_record(self, Record record) except -1:
        althaia_put_byte(&self.buffer, c"{")
        self.push(<PyObject*>record, None)
        self.buffer.beyond_ascii |= record.beyond_ascii
        return 0

    cdef int close_record(self) except -1:
        self.depth -= 1
        return althaia_put_byte(&self.buffer, c"}")

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
        return althaia_buffer_text(&self.buffer) if self.apart is None else self.joined()

    cdef object finished_bytes(self):
        self.encode_deferred()
        if self.buffer.beyond_ascii:
            # A lone surrogate cannot be encoded: str.encode() raises the expected error.
            return self.finished().encode()
        return PyBytes_FromStringAndSize(self.buffer.data, self.buffer.size)

    cdef str joined(self):
        """Return the text, each text that was kept apart in its place."""
        cdef const char* at = self.buffer.data
        cdef const char* end = at + self.buffer.size
        cdef const char* mark = at
        cdef Py_ssize_t number
        cdef list pieces = []
        while mark is not NULL:
            mark = <const char*>memchr(at, APART, end - at)
            pieces.append(
                PyUnicode_DecodeUTF8(at, (end if mark is NULL else mark) - at, "surrogatepass")
            )
            if mark is not NULL:
                memcpy(&number, mark + 1, sizeof(number))
                pieces.append(self.apart[number])
                at = mark + 1 + sizeof(number)
        return "".join(pieces)


cdef inline int put_piece(althaia_buffer* buffer, PyObject* piece) except -1:
    """Write a bytes object of the format. The reference is borrowed: without the GIL, all threads
    that share the object would wait for each other to change its reference count."""
    return althaia_put_bytes(
        buffer, PyBytes_AS_STRING(<bytes>piece), PyBytes_GET_SIZE(<bytes>piece)
    )


cdef inline int put_string(JSONSink self, object text) except -1:
    """Write the characters of a str, or of an instance of a subclass, in quotes."""
    if althaia_put_text(&self.buffer, text, self.format.ensure_ascii):
        return 0
    return self.put_json(quote(text))


cdef inline bint put_scalar(JSONSink self, object value) except -1:
    return althaia_put_scalar(&self.buffer, value, self.format.ensure_ascii)
