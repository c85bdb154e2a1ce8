"""Writes MessagePack: ``dumps`` for any value, and the sink for dumps.

The bytes are those that ``msgpack.packb`` writes with its default options; that package need not be
installed. Dates, Decimals and UUIDs are written as the schema dumps them.
"""

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL
    Py_ssize_t Py_SIZE(object items)

cdef extern from "althaia/formats/msgpack/packing.h":
    ctypedef struct althaia_head:
        pass

    const althaia_head ALTHAIA_MAP
    const althaia_head ALTHAIA_ARRAY
    const althaia_head ALTHAIA_TEXT
    const althaia_head ALTHAIA_BYTES

    int althaia_pack_integer(althaia_buffer* buffer, object number) except -1
    int althaia_pack_double(althaia_buffer* buffer, double number) except -1
    int althaia_pack_head(
        althaia_buffer* buffer, const althaia_head* head, Py_ssize_t count
    ) except -1
    Py_ssize_t althaia_mend_head(
        althaia_buffer* buffer, const althaia_head* head, Py_ssize_t start, Py_ssize_t before,
        Py_ssize_t count
    ) except -6

# All MessagePack sinks encode keys in the same way.
cdef object FORM = "MessagePack"


def msgpack_dumps(obj, *, default=None):
    """Return or raise what ``msgpack.packb(obj)`` does.

    :param obj: None, bool, int of at most 64 bits, float, str, bytes, bytearray, memoryview, list,
        tuple or dict, and instances of subclasses.
    :param default: a function that is called with a value of another type and returns one of these.
    :returns: the bytes.
    :raises TypeError: MessagePack cannot represent a value.
    :raises OverflowError: an int of more than 64 bits.
    :raises UnicodeEncodeError: a lone surrogate in a str.
    :raises ValueError: the value is nested deeper than 1,024 levels, or contains itself.

    >>> dumps({"a": [1, None]})
    b'\\x81\\xa1a\\x92\\x01\\xc0'
    """
    cdef MessagePackSink sink = MessagePackSink(default)
    sink.encode(obj, 0)
    return sink.finished()


cdef MessagePackSink open_msgpack(dict options):
    """Return a sink for :func:`dumps` with these options; None if :func:`dumps` rejects them."""
    if not options:
        return MessagePackSink(None)
    return MessagePackSink(options["default"]) if list(options) == ["default"] else None


cdef int check_level(Py_ssize_t level) except -1:
    if level > MOST_LEVELS:
        raise ValueError("recursion limit exceeded.")
    return 0


@cython.final
cdef class MessagePackSink(Sink):
    """MessagePack of any values.

    A list or mapping begins with the number of its items. A guess is written first and corrected at
    the end. If the right number has another length, the bytes after it are moved.
    """

    cdef readonly object default

    def __cinit__(self, default):
        self.form = FORM
        self.default = default

    # ---- Any value ------------------------------------------------------------------

    cdef int encode(self, object value, Py_ssize_t level) except -1:
        return self.pack(value, level, False)

    cdef int pack(self, object value, Py_ssize_t level, bint made) except -1:
        """Pack a value of any type. ``made`` is true if ``default`` returned it; ``default`` is
        then not called again."""
        if type(value) is str:
            return self.pack_text(value)
        if value is None:
            return self.none()
        if value is True or value is False:
            return althaia_put_byte(&self.buffer, <char>(0xc3 if value is True else 0xc2))
        if isinstance(value, int) and self.pack_number(value, made):
            return 0
        if isinstance(value, float):
            return althaia_pack_double(&self.buffer, PyFloat_AS_DOUBLE(value))
        if isinstance(value, (bytes, bytearray)):
            return self.pack_bytes(value)
        if isinstance(value, str):
            return self.pack_text(value)
        # Not Py_EnterRecursiveCall(): the interpreter's recursion limit is below MessagePack's.
        althaia_check_stack()
        if isinstance(value, dict):
            return self.pack_mapping(value, level + 1)
        if type(value) is list or type(value) is tuple:
            return self.pack_items(value, level + 1)
        return self.pack_other(value, level, made)

    cdef bint pack_number(self, object value, bint made) except -1:
        """Pack an integer. Return False if it is out of range and ``default`` must be called."""
        if althaia_pack_integer(&self.buffer, value):
            return True
        if self.default is None or made:
            raise OverflowError("Integer value out of range")
        return False

    cdef int pack_text(self, object value) except -1:
        cdef Py_ssize_t size
        cdef const char* text = PyUnicode_AsUTF8AndSize(value, &size)
        althaia_pack_head(&self.buffer, &ALTHAIA_TEXT, size)
        return althaia_put_bytes(&self.buffer, text, size)

    cdef int pack_bytes(self, object value) except -1:
        cdef Py_buffer view
        PyObject_GetBuffer(value, &view, PyBUF_SIMPLE)
        try:
            althaia_pack_head(&self.buffer, &ALTHAIA_BYTES, view.len)
            return althaia_put_bytes(&self.buffer, <const char*>view.buf, view.len)
        finally:
            PyBuffer_Release(&view)

    cdef int pack_items(self, object value, Py_ssize_t level) except -1:
        if not ALTHAIA_HAS_GIL and type(value) is list:
            # Copy the list: another thread may change it after its length was written.
            value = PyList_AsTuple(value)
        # Py_SIZE(), as in the msgpack package: `__len__` of a subclass is not called.
        althaia_pack_head(&self.buffer, &ALTHAIA_ARRAY, Py_SIZE(value))
        for item in value:
            check_level(level)
            self.encode(item, level)
        return 0

    cdef int pack_mapping(self, object value, Py_ssize_t level) except -1:
        if not ALTHAIA_HAS_GIL and type(value) is dict:
            # Another thread may change the dictionary after its length was written.
            value = (<dict>value).copy()
        althaia_pack_head(&self.buffer, &ALTHAIA_MAP, len(value))
        for key, item in value.items():
            check_level(level)
            self.encode(key, level)
            self.encode(item, level)
        return 0

    cdef int pack_other(self, object value, Py_ssize_t level, bint made) except -1:
        package = sys.modules.get("msgpack")
        if package is not None and (
            isinstance(value, package.ExtType) or type(value) is package.Timestamp
        ):
            packed = package.packb(value)
            return althaia_put_bytes(&self.buffer, <const char*><bytes>packed, len(packed))
        if isinstance(value, (list, tuple)):
            return self.pack_items(value, level + 1)
        if isinstance(value, memoryview):
            return self.pack_bytes(value)
        if self.default is None or made:
            cls = type(value)
            name = (<PyTypeObject*>cls).tp_name.decode()
            raise TypeError(f"can not serialize '{name}' object")
        return self.pack(self.default(value), level, True)

    # ---- Values of a dump -----------------------------------------------------------

    cdef Record make_record(self, tuple keys):
        return Record(FORM, keys, [msgpack_dumps(key) for key in keys], 0, False)

    cdef int none(self) except -1:
        return althaia_put_byte(&self.buffer, <char>0xc0)

    cdef int ascii(self, const char* text, Py_ssize_t length) except -1:
        althaia_pack_head(&self.buffer, &ALTHAIA_TEXT, length)
        return althaia_put_bytes(&self.buffer, text, length)

    cdef int any(self, object value) except -1:
        if type(value) is str:
            return self.pack_text(value)
        if value is None or type(value) is float or type(value) is bool or type(value) is bytes:
            return self.encode(value, 0)
        if type(value) is int and althaia_pack_integer(&self.buffer, value):
            return 0
        return self.defer_value(value)

    # ---- Records and lists ----------------------------------------------------------

    cdef int open_record(self, Record record) except -1:
        self.push(<PyObject*>record, None)
        return althaia_pack_head(&self.buffer, &ALTHAIA_MAP, len(record.keys))

    cdef int close_record(self) except -1:
        cdef Record record = <Record>self.levels[self.depth - 1].record
        return self.close(&ALTHAIA_MAP, len(record.keys))

    cdef int open_list(self, object kind, Py_ssize_t expected) except -1:
        # `index` holds the expected number of items until the list is closed.
        self.push(NULL, kind).index = max(expected, 0)
        return althaia_pack_head(&self.buffer, &ALTHAIA_ARRAY, max(expected, 0))

    cdef int item(self) except -1:
        self.levels[self.depth - 1].count += 1
        return 0

    cdef int close_list(self) except -1:
        return self.close(&ALTHAIA_ARRAY, self.levels[self.depth - 1].index)

    cdef int close(self, const althaia_head* head, Py_ssize_t expected) except -1:
        """Close the last level, whose head was written for ``expected`` items."""
        cdef Level* level
        cdef DeferredValue later
        cdef Py_ssize_t distance
        self.depth -= 1
        level = &self.levels[self.depth]
        if level.count == expected:
            return 0
        distance = althaia_mend_head(&self.buffer, head, level.start, expected, level.count)
        if distance and self.deferred is not None:
            for later in self.deferred[level.deferred:]:
                later.position += distance
        return 0

    cdef tuple path(self):
        return ()

    cdef object finished(self):
        self.encode_deferred()
        return PyBytes_FromStringAndSize(self.buffer.data, self.buffer.size)
