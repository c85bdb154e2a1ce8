"""Writes JSON text: ``dumps`` for any value, and the sink for dumps.

Values of built-in types and of their subclasses are encoded here, with the same characters and
errors as ``json``. Text with line breaks (``indent``) is left to the standard library.
"""

cdef extern from "Python.h":
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

cdef extern from *:
    """
    /* From Python 3.14 on json adds a note to an error for each container around the value that
     * could not be encoded. */
    #define ALTHAIA_JSON_ADDS_NOTES (PY_VERSION_HEX >= 0x030E0000)
    """
    const bint ALTHAIA_JSON_ADDS_NOTES

cdef enum:
    # The byte in the place of text that is kept apart. UTF-8 does not have it.
    APART = 0xFF
    # After this many dictionaries with new keys a sink looks for no further records.
    MOST_STRANGERS = 64

# A built-in type from 3.15 on.
cdef object FROZEN_DICT = getattr(builtins, "frozendict", ())
cdef object OBJECT_ITSELF = object()


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
    cdef Sink sink = None if args else sink_of(options)
    if sink is None:
        return standard(json.dumps, DUMPS)(obj, *args, **options)
    encode(sink, obj)
    return sink.finished()


# A function in C that a program has put there may have no signature.
with suppress(ValueError):
    json_dumps.__signature__ = inspect.signature(DUMPS)


cdef Sink sink_of(dict options):
    """Return a sink for ``json.dumps`` with these options; None if that must be called."""
    cdef Format format = format_of(options)
    default = options.get("default") if options else None
    cdef Sink sink
    if format is None:
        return None
    sink = Sink.__new__(Sink)
    sink.format = format
    sink.default = unserializable if default is None else default
    return sink


cdef int add_note(error, cls, key):
    """Add the note about an item of a container, or about an object. Like json's it has the module
    of the class, unless that is builtins or __main__."""
    name = type.__repr__(cls)[len("<class '"):-len("'>")].removeprefix("__main__.")
    part = "object" if key is OBJECT_ITSELF else f"item {key!r}"
    BaseException.add_note(error, f"when serializing {name} {part}")


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class Sink:
    """A growing byte buffer, into which a dump writes JSON text instead of making dictionaries.

    ``default`` is the function that is called with a value that JSON cannot represent.

    A sink receives records (the objects of a schema), lists and single values in the order of the
    text, which must be that of the dictionaries that a dump makes: those are encoded after all user
    code has run. Hence a value that user code can still change, or whose encoding may fail, becomes
    a *deferred value*: :meth:`finished` encodes it at the end, in the order of the text.

    Where the format sorts keys, the sink is given dictionaries, whose keys it sorts at the end, and
    no records: steps call user code in the order of the plan.
    """

    def __cinit__(self):
        althaia_buffer_open(&self.buffer)

    def __dealloc__(self):
        althaia_buffer_free(&self.buffer)

    cdef int put_none(self) except -1:
        return althaia_put_bytes(&self.buffer, b"null", 4)

    cdef int put_ascii(self, const char* text, Py_ssize_t length) except -1:
        """Write ASCII text in which no character needs an escape. ALTHAIA_PADDING bytes must follow
        it, which may be copied, too."""
        return althaia_put_quoted(&self.buffer, text, length)

    cdef int put_value(self, value) except -1:
        """Write a value at once if it cannot change and encoding it cannot fail; else defer it."""
        if put_scalar(self, value):
            return 0
        if type(value) is str:
            return put_string(self, value)
        if self.deferred is None:
            self.deferred, self.positions = [], []
        self.deferred.append(value)
        self.positions.append(self.buffer.size)

    cdef int open_record(self, Record record) except -1:
        self.buffer.beyond_ascii |= record.beyond_ascii
        return althaia_put_byte(&self.buffer, c"{")

    cdef int put_byte(self, char byte) except -1:
        return althaia_put_byte(&self.buffer, byte)

    cdef int begin_item(self, Py_ssize_t index) except -1:
        """Begin the item of that index, whose value follows."""
        return put_piece(&self.buffer, <PyObject*>self.format.item_separator) if index else 0

    cdef str finished(self):
        """Return the text. The sink cannot be used afterwards."""
        encode_deferred(self)
        return althaia_buffer_text(&self.buffer) if self.apart is None else joined(self)

    cdef bytes finished_bytes(self):
        """Return the text in UTF-8 instead."""
        encode_deferred(self)
        if self.buffer.beyond_ascii:
            # A lone surrogate cannot be encoded: str.encode() raises the expected error.
            return self.finished().encode()
        return PyBytes_FromStringAndSize(self.buffer.data, self.buffer.size)


cdef int encode(Sink sink, value):
    """Encode any value now, with everything in it."""
    if put_scalar(sink, value):
        return 0
    if isinstance(value, str):
        return put_string(sink, value)
    if isinstance(value, int):
        return put_json(sink, int.__repr__(value))
    if isinstance(value, float):
        return encode_float(sink, value)
    if isinstance(value, (list, tuple)):
        return encode_list(sink, value)
    if isinstance(value, dict):
        return encode_dict(sink, value)
    if issubclass(type(value), FROZEN_DICT):
        return put_json(sink, DUMPS(value, default=sink.default, **sink.format.options))
    return encode_by_default(sink, value)


cdef int encode_float(Sink sink, value):
    cdef double number = PyFloat_AS_DOUBLE(value)
    if isfinite(number):
        return althaia_put_double(&sink.buffer, number)
    if not sink.format.allow_nan:
        refuse_float(value, 0)
    if number != number:
        return put_json(sink, "NaN")
    return put_json(sink, "Infinity" if number > 0 else "-Infinity")


cdef int encode_by_default(Sink sink, value):
    """Encode what ``default`` returns for the value."""
    cdef Level level
    enter(sink, &level, value)
    replacement = sink.default(value)
    encode_item(sink, replacement, value, OBJECT_ITSELF)
    sink.innermost = level.outer


cdef int put_json(Sink sink, str text):
    """Write JSON text that the interpreter has made; keep it apart if it is not ASCII."""
    cdef Py_ssize_t number
    if PyUnicode_IS_ASCII(text):
        return althaia_put_bytes(&sink.buffer, <const char*>PyUnicode_DATA(text), len(text))
    sink.buffer.beyond_ascii = True
    if sink.apart is None:
        sink.apart = []
    number = len(sink.apart)
    sink.apart.append(text)
    althaia_put_byte(&sink.buffer, <char>APART)
    return althaia_put_bytes(&sink.buffer, <const char*>&number, sizeof(number))


cdef int encode_item(Sink sink, value, container, key):
    """Encode the value at a key or an index of a container, or that of an object itself."""
    if not ALTHAIA_JSON_ADDS_NOTES:
        return encode(sink, value)
    try:
        return encode(sink, value)
    except BaseException as error:
        add_note(error, type(container), key)
        raise


cdef int encode_list(Sink sink, value):
    cdef Level level
    cdef Py_ssize_t i = 0
    items = PySequence_Fast(value, b"_iterencode_list needs a sequence")
    cdef void* taken = althaia_item(items, 0)
    if taken is NULL:
        return althaia_put_bytes(&sink.buffer, b"[]", 2)
    enter(sink, &level, value)
    althaia_put_byte(&sink.buffer, b"[")
    while taken is not NULL:
        item = <object>taken
        Py_DECREF(item)
        if i:
            put_piece(&sink.buffer, <PyObject*>sink.format.item_separator)
        if not put_scalar(sink, item):
            encode_item(sink, item, value, i)
        i += 1
        taken = althaia_item(items, i)
    sink.innermost = level.outer
    return althaia_put_byte(&sink.buffer, b"]")


cdef int encode_dict(Sink sink, value):
    cdef Level level
    if len(<dict>value) == 0:
        return althaia_put_bytes(&sink.buffer, b"{}", 2)
    enter(sink, &level, value)
    althaia_put_byte(&sink.buffer, b"{")
    if (
        type(value) is not dict
        or sink.strangers == MOST_STRANGERS
        or not encode_known(sink, <dict>value)
    ):
        encode_pairs(sink, value)
    sink.innermost = level.outer
    return althaia_put_byte(&sink.buffer, b"}")


cdef bint encode_known(Sink sink, dict mapping):
    """Encode an exact dict by a record. Return False, with nothing written, if there is no
    record for its keys."""
    # Owned: user code may change the dictionary while it is encoded.
    cdef PyObject* values[MOST_KEYS]
    cdef Py_ssize_t rank = 0, at, count
    cdef Record record
    if sink.recent is None:
        sink.recent = []
    record = known_record(sink.format, mapping, values, sink.recent)
    if record is None:
        sink.strangers += 1
        return False
    count = record.encoded.count
    sink.buffer.beyond_ascii |= record.beyond_ascii
    try:
        while True:
            rank = althaia_put_entries(
                &sink.buffer, &record.encoded, values, rank, sink.format.ensure_ascii
            )
            if rank == count:
                return True
            at = record.encoded.order[rank]
            encode_item(sink, <object>values[at], mapping, record.keys[at])
            rank += 1
    finally:
        for at in range(count):
            Py_DECREF(<object>values[at])


cdef int encode_pairs(Sink sink, mapping):
    cdef list pairs = PyMapping_Items(mapping)
    cdef Py_ssize_t index = 0
    if sink.format.sort_keys:
        pairs.sort()
    for pair in pairs:
        if not isinstance(pair, tuple) or len(<tuple>pair) != 2:
            raise ValueError("items must return 2-tuples")
        key, value = <tuple>pair
        sink.begin_item(index)
        index += 1
        encode_key(sink, key)
        put_piece(&sink.buffer, <PyObject*>sink.format.key_separator)
        encode_item(sink, value, mapping, key)


cdef int encode_key(Sink sink, key):
    if isinstance(key, str):
        return put_string(sink, key)
    if not isinstance(key, (int, float)) and key is not None:
        name = Py_TYPE(key).tp_name.decode()
        raise TypeError(f"keys must be str, int, float, bool or None, not {name:.100}")
    althaia_put_byte(&sink.buffer, b'"')
    encode(sink, key)
    return althaia_put_byte(&sink.buffer, b'"')


cdef int enter(Sink sink, Level* level, container):
    """Begin to encode what is in a container, in a level of its own.

    :raises ValueError: the container is being encoded already.
    """
    cdef Level* outer = sink.innermost
    althaia_check_stack()
    while outer is not NULL:
        if outer.container == <PyObject*>container:
            raise ValueError("Circular reference detected")
        outer = outer.outer
    level.container = <PyObject*>container
    level.outer = sink.innermost
    sink.innermost = level


cdef int encode_deferred(Sink sink):
    """Encode the deferred values behind the text; then put both together in their order."""
    cdef Py_ssize_t size = sink.buffer.size, done = 0, tail = size, position, end
    cdef list ends
    cdef char* to
    cdef const char* data
    if sink.deferred is None:
        return 0
    ends = []
    for value in sink.deferred:
        encode(sink, value)
        ends.append(sink.buffer.size)
    sink.deferred = None
    whole = PyUnicode_New(sink.buffer.size, 127)
    data, to = sink.buffer.data, <char*>PyUnicode_DATA(whole)
    for position, end in zip(sink.positions, ends):
        to = copied(to, data + done, position - done)
        to = copied(to, data + tail, end - tail)
        done, tail = position, end
    copied(to, data + done, size - done)
    Py_INCREF(whole)
    althaia_buffer_hold(&sink.buffer, <PyObject*>whole, sink.buffer.size)


cdef inline char* copied(char* to, const char* data, Py_ssize_t size) noexcept:
    """Copy bytes, and return the address behind them."""
    memcpy(to, data, size)
    return to + size


cdef str joined(Sink sink):
    """Return the text, each text that was kept apart in its place."""
    cdef const char* at = sink.buffer.data
    cdef const char* end = at + sink.buffer.size
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
            pieces.append(sink.apart[number])
            at = mark + 1 + sizeof(number)
    return "".join(pieces)


cdef inline int put_piece(althaia_buffer* buffer, PyObject* piece):
    """Write a bytes object of the format. The reference is borrowed: without the GIL, all threads
    that share the object would wait for each other to change its reference count."""
    return althaia_put_bytes(
        buffer, PyBytes_AS_STRING(<bytes>piece), PyBytes_GET_SIZE(<bytes>piece)
    )


cdef inline int put_string(Sink sink, text):
    """Write the characters of a str, or of an instance of a subclass, in quotes."""
    if althaia_put_text(&sink.buffer, text, sink.format.ensure_ascii):
        return 0
    return put_json(sink, quote(text))


cdef inline bint put_scalar(Sink sink, value):
    return althaia_put_scalar(&sink.buffer, value, sink.format.ensure_ascii)
