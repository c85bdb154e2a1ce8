"""Writes MessagePack: ``dumps`` for any value.

The bytes are those that ``msgpack.packb`` writes with its default options; that package need not be
installed. Dates, Decimals and UUIDs are written as the schema dumps them.
"""

cdef extern from "althaia/formats/msgpack/packing.h":
    ctypedef struct althaia_head:
        pass

    const althaia_head ALTHAIA_MAP
    const althaia_head ALTHAIA_ARRAY
    const althaia_head ALTHAIA_BYTES

    int althaia_pack_text(althaia_buffer* buffer, object text) except -1
    int althaia_pack_integer(althaia_buffer* buffer, object number) except -1
    int althaia_pack_double(althaia_buffer* buffer, double number) except -1
    int althaia_pack_scalar(althaia_buffer* buffer, object value) except -1
    int althaia_pack_entries(
        althaia_buffer* buffer, dict mapping, Py_ssize_t* position, PyObject** key, PyObject** value
    ) except -1
    int althaia_pack_head(
        althaia_buffer* buffer, const althaia_head* head, Py_ssize_t count
    ) except -1


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
    cdef Packer packer = Packer(default)
    packer.pack(obj, 0)
    return PyBytes_FromStringAndSize(packer.buffer.data, packer.buffer.size)


@cython.final
cdef class Packer:
    """Packs any values.

    :param default: see :func:`dumps`.
    """

    cdef althaia_buffer buffer
    cdef object default

    def __cinit__(self, default):
        self.default = default
        althaia_buffer_open(&self.buffer)

    def __dealloc__(self):
        althaia_buffer_free(&self.buffer)

    cdef int pack(self, value, Py_ssize_t level, bint made=False) except -1:
        """Pack a value of any type. ``made`` is true if ``default`` returned it; ``default`` is
        then not called again."""
        if althaia_pack_scalar(&self.buffer, value):
            return 0
        if isinstance(value, int):
            if althaia_pack_integer(&self.buffer, value):
                return 0
            if self.default is None or made:
                raise OverflowError("Integer value out of range")
        if isinstance(value, float):
            return althaia_pack_double(&self.buffer, PyFloat_AS_DOUBLE(value))
        if isinstance(value, (bytes, bytearray)):
            return self.pack_bytes(value)
        if isinstance(value, str):
            return althaia_pack_text(&self.buffer, value)
        # Not Py_EnterRecursiveCall(): the interpreter's recursion limit is below MessagePack's.
        althaia_check_stack()
        if isinstance(value, dict):
            return self.pack_mapping(value, level + 1)
        if type(value) is list or type(value) is tuple:
            return self.pack_items(value, level + 1)
        return self.pack_other(value, level, made)

    cdef int pack_bytes(self, value) except -1:
        cdef Py_buffer view
        PyObject_GetBuffer(value, &view, PyBUF_SIMPLE)
        try:
            althaia_pack_head(&self.buffer, &ALTHAIA_BYTES, view.len)
            return althaia_put_bytes(&self.buffer, <const char*>view.buf, view.len)
        finally:
            PyBuffer_Release(&view)

    cdef int pack_items(self, value, Py_ssize_t level) except -1:
        if not ALTHAIA_HAS_GIL and type(value) is list:
            # Copy the list: another thread may change it after its length was written.
            value = PyList_AsTuple(value)
        # Py_SIZE(), as in the msgpack package: `__len__` of a subclass is not called.
        self.open(&ALTHAIA_ARRAY, Py_SIZE(value), level)
        for item in value:
            self.pack(item, level)

    cdef int pack_mapping(self, value, Py_ssize_t level) except -1:
        cdef Py_ssize_t position = 0, size = len(value)
        cdef PyObject* at_key
        cdef PyObject* at_value
        if not ALTHAIA_HAS_GIL and type(value) is dict:
            # Another thread may change the dictionary after its length was written.
            value = (<dict>value).copy()
            size = len(<dict>value)
        self.open(&ALTHAIA_MAP, size, level)
        if type(value) is not dict:
            for key, item in value.items():
                self.pack(key, level)
                self.pack(item, level)
            return 0
        while althaia_pack_entries(&self.buffer, value, &position, &at_key, &at_value):
            item = <object>at_value
            if at_key is not NULL:
                key = <object>at_key
                self.pack(key, level)
            self.pack(item, level)
            if len(<dict>value) != size:
                raise RuntimeError("dictionary changed size during iteration")

    cdef int open(self, const althaia_head* head, Py_ssize_t count, Py_ssize_t level) except -1:
        """Begin a container, whose items are inside ``level`` containers."""
        if level > MOST_LEVELS and count:
            raise ValueError("recursion limit exceeded.")
        return althaia_pack_head(&self.buffer, head, count)

    cdef int pack_other(self, value, Py_ssize_t level, bint made) except -1:
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
            name = Py_TYPE(value).tp_name.decode()
            raise TypeError(f"can not serialize '{name}' object")
        return self.pack(self.default(value), level, True)
