"""Encodes any Python value as JSON text, with the same characters and errors as ``json``.

Values of built-in types and of their subclasses are encoded here. Any other value is passed to
CPython's encoder. Text with line breaks (``indent``) is left to the standard library.
"""

cdef extern from "Python.h":
    object PySequence_Fast(object sequence, const char* message)
    list PyMapping_Items(object mapping)
    bint PyUnicode_IS_ASCII(object text)
    int Py_EnterRecursiveCall(const char* where)
    void Py_LeaveRecursiveCall()

cdef extern from "althaia/formats/walking.h":
    bint ALTHAIA_WALKS_IN_PLACE
    void* althaia_item(object items, Py_ssize_t index)
    bint althaia_values_by_keys(dict mapping, tuple keys, PyObject** values)


cdef object unserializable = standard.unserializable
cdef enum:
    # Dictionaries with more keys rarely have the same keys as others.
    MOST_KEYS = 64
    # The number of recent records that are compared with a dictionary.
    FEW_RECORDS = 8
    # After this many dictionaries with new keys, an encoder creates no further records.
    MOST_STRANGERS = 64
# A built-in type from 3.15 on.
cdef object FROZEN_DICT = getattr(builtins, "frozendict", ())


cdef int enter() except -1:
    """Begin a level of recursion. The caller must call ``Py_LeaveRecursiveCall()`` afterwards."""
    althaia_check_stack()
    # Py_EnterRecursiveCall() may return a positive number on error; Cython expects -1.
    return -1 if Py_EnterRecursiveCall(b" while encoding a JSON object") else 0


cdef class Encoder(Sink):
    """Writes values, with everything in them, as JSON text.

    :param default: the function that is called with a value that JSON cannot represent, or None.
    """

    cdef readonly Format format
    cdef readonly object default
    cdef void** containers
    cdef Py_ssize_t open_count, open_room
    cdef list recent
    cdef Py_ssize_t strangers

    def __cinit__(self, Format format, default):
        self.form = self.format = format
        self.default = unserializable if default is None else default
        self.recent = []
        self.buffer.beyond_ascii = format.beyond_ascii
        self.buffer.becomes_text = True

    def __dealloc__(self):
        PyMem_Free(self.containers)

    cdef int encode(self, object value, Py_ssize_t level) except -1:
        """Encode one value. The level does not change JSON text."""
        cls = type(value)
        if put_scalar(self, value):
            return 0
        if cls is dict:
            return self.encode_dict(value)
        if cls is list or cls is tuple:
            return self.encode_list(value)
        return self.encode_other(value)

    cdef int encode_float(self, object value) except -1:
        cdef double number = PyFloat_AS_DOUBLE(value)
        if isfinite(number):
            return althaia_put_double(&self.buffer, number)
        if not self.format.allow_nan:
            # The message of the error differs between Python versions.
            return self.encode_by_standard(value)
        if number != number:
            return self.put_json("NaN")
        return self.put_json("Infinity" if number > 0 else "-Infinity")

    cdef int encode_other(self, object value) except -1:
        """Encode a value that is no usual one: an odd number, or perhaps of a subclass."""
        if isinstance(value, str):
            return althaia_put_text(&self.buffer, value, self.format.ensure_ascii)
        if isinstance(value, int):
            if not althaia_put_small_integer(&self.buffer, value):
                self.put_json(int.__repr__(value))
            return 0
        if isinstance(value, float):
            return self.encode_float(value)
        if isinstance(value, (list, tuple)):
            return self.encode_list(value)
        if isinstance(value, dict):
            return self.encode_dict(value)
        if isinstance(value, FROZEN_DICT):
            return self.encode_by_standard(value)
        return self.encode_by_default(value)

    cdef int encode_by_default(self, object value) except -1:
        """Encode what ``default`` returns for the value."""
        self.open(<void*>value)
        replacement = self.default(value)
        enter()
        try:
            self.encode(replacement, 0)
        except BaseException as error:
            if ALTHAIA_ADDS_NOTES:
                name = althaia_class_name(type(value))
                BaseException.add_note(error, f"when serializing {name} object")
            raise
        finally:
            Py_LeaveRecursiveCall()
        return self.close()

    cdef int encode_by_standard(self, object value) except -1:
        """Encode the value by the interpreter's own encoder."""
        return self.put_json(standard.DUMPS(value, default=self.default, **self.format.options))

    cdef int put_json(self, str text) except -1:
        """Write JSON text that the interpreter has made."""
        self.buffer.beyond_ascii |= not PyUnicode_IS_ASCII(text)
        encoded = text.encode("utf-8", "surrogatepass")
        return althaia_put_bytes(&self.buffer, <const char*>encoded, len(encoded))

    # ---- Containers -----------------------------------------------------------------

    cdef int encode_item(self, object value, object container, object key) except -1:
        """Encode the value at a key or an index of a container."""
        if not ALTHAIA_ADDS_NOTES:
            return self.encode(value, 0)
        try:
            return self.encode(value, 0)
        except BaseException as error:
            name = althaia_class_name(type(container))
            BaseException.add_note(error, f"when serializing {name} item {key!r}")
            raise

    cdef int encode_list(self, object value) except -1:
        enter()
        try:
            items = PySequence_Fast(value, b"_iterencode_list needs a sequence")
            if len(items) == 0:
                return althaia_put_bytes(&self.buffer, b"[]", 2)
            self.open(<void*>value)
            althaia_put_byte(&self.buffer, b"[")
            self.encode_items(items, value)
            althaia_put_byte(&self.buffer, b"]")
            return self.close()
        finally:
            Py_LeaveRecursiveCall()

    cdef int encode_items(self, object items, object container) except -1:
        cdef Py_ssize_t i = 0
        cdef void* taken = althaia_item(items, 0)
        while taken is not NULL:
            item = <object>taken
            Py_DECREF(item)
            if i:
                put_piece(&self.buffer, <PyObject*>self.format.item_separator)
            if not put_scalar(self, item):
                self.encode_item(item, container, i)
            i += 1
            taken = althaia_item(items, i)
        return 0

    cdef int encode_dict(self, object value) except -1:
        enter()
        try:
            if len(<dict>value) == 0:
                return althaia_put_bytes(&self.buffer, b"{}", 2)
            self.open(<void*>value)
            althaia_put_byte(&self.buffer, b"{")
            if type(value) is dict and self.walks_in_place():
                self.encode_in_place(<dict>value)
            elif type(value) is not dict or not self.encode_known(<dict>value):
                self.encode_pairs(self.pairs_of(value), value)
            althaia_put_byte(&self.buffer, b"}")
            return self.close()
        finally:
            Py_LeaveRecursiveCall()

    cdef bint walks_in_place(self) noexcept:
        """Return whether a ``default`` of the user's may change a dictionary that is encoded. From
        CPython 3.12 on json sees such changes, unless it sorts the keys."""
        return (
            ALTHAIA_WALKS_IN_PLACE
            and not self.format.sort_keys
            and self.default is not unserializable
        )

    cdef int encode_in_place(self, dict mapping) except -1:
        cdef PyObject* key
        cdef PyObject* value
        cdef Py_ssize_t position = 0
        cdef bint first = True
        while PyDict_Next(mapping, &position, &key, &value):
            # Own references: user code may remove both from the dictionary.
            held_key, held_value = <object>key, <object>value
            self.encode_pair(held_key, held_value, mapping, first)
            first = False
        return 0

    cdef bint encode_known(self, dict mapping) except -1:
        """Encode an exact dict by a record. Return False, with nothing written, if there is no
        record for its keys."""
        # Owned: user code may change the dictionary while it is encoded.
        cdef PyObject* values[MOST_KEYS]
        cdef Py_ssize_t rank, at
        cdef JSONRecord record = self.known_record(mapping, values)
        if record is None:
            return False
        try:
            for rank in range(len(record.keys)):
                at = rank if record.order is NULL else record.order[rank]
                self.put_key(record, at, rank == 0)
                if not put_scalar(self, <object>values[at]):
                    self.encode_item(<object>values[at], mapping, record.keys[at])
        finally:
            for at in range(len(record.keys)):
                Py_DECREF(<object>values[at])
        return True

    cdef JSONRecord known_record(self, dict mapping, PyObject** values):
        """Return a record for the keys of a dictionary and take its values; None if there is no
        such record."""
        cdef JSONRecord record
        if len(mapping) > MOST_KEYS:
            return None
        for record in self.recent:
            if althaia_values_by_keys(mapping, record.keys, values):
                return record
        record = self.new_record(mapping)
        # The GC may have run user code meanwhile, which changed the dictionary.
        if record is None or not althaia_values_by_keys(mapping, record.keys, values):
            return None
        return record

    cdef int put_key(self, JSONRecord record, Py_ssize_t at, bint first) except -1:
        """Write a key of a record with its separators."""
        cdef Py_ssize_t start = record.ends[at]
        self.buffer.beyond_ascii |= record.beyond_ascii
        if first:
            start += record.separator
        return althaia_put_padded(
            &self.buffer, record.text + start, record.ends[at + 1] - start
        )

    cdef JSONRecord new_record(self, dict mapping):
        """Return a record for the keys of a dictionary; None if one is not str, or if these keys
        occur for the first time."""
        cdef JSONRecord record
        cdef tuple keys
        if self.strangers == MOST_STRANGERS:
            return None
        self.strangers += 1
        # Not by iterating in Python: the GC may run user code that changes the dictionary.
        keys = tuple(PyDict_Keys(mapping))
        for key in keys:
            if type(key) is not str:
                return None
        record = self.format.record_of(keys)
        if record is not None:
            self.recent.insert(0, record)
            del self.recent[FEW_RECORDS:]
        return record

    cdef list pairs_of(self, object mapping):
        """Return the present entries of a dictionary, sorted if the options say so."""
        cdef list pairs = PyMapping_Items(mapping)
        if self.format.sort_keys:
            pairs.sort()
        return pairs

    cdef int encode_pairs(self, list pairs, object mapping) except -1:
        cdef bint first = True
        for pair in pairs:
            if not isinstance(pair, tuple) or len(<tuple>pair) != 2:
                raise ValueError("items must return 2-tuples")
            self.encode_pair((<tuple>pair)[0], (<tuple>pair)[1], mapping, first)
            first = False
        return 0

    cdef int encode_pair(self, object key, object value, object mapping, bint first) except -1:
        if not first:
            put_piece(&self.buffer, <PyObject*>self.format.item_separator)
        if type(key) is str:
            althaia_put_text(&self.buffer, key, self.format.ensure_ascii)
        else:
            self.encode_key(key)
        put_piece(&self.buffer, <PyObject*>self.format.key_separator)
        return self.encode_item(value, mapping, key)

    cdef int encode_key(self, object key) except -1:
        """Write a key that is no exact str."""
        if isinstance(key, str):
            return althaia_put_text(&self.buffer, key, self.format.ensure_ascii)
        if not isinstance(key, (int, float)) and key is not None:
            # The interpreter's encoder raises its error.
            return self.encode_by_standard({key: None})
        althaia_put_byte(&self.buffer, b'"')
        self.encode(key, 0)
        return althaia_put_byte(&self.buffer, b'"')

    # ---- Circular references --------------------------------------------------------

    cdef int open(self, void* container) except -1:
        """Begin a container. :meth:`close` ends the one that was begun last.

        :raises ValueError: the container is being encoded already.
        """
        cdef Py_ssize_t i
        cdef void* containers
        for i in range(self.open_count):
            if self.containers[i] is container:
                raise ValueError("Circular reference detected")
        if self.open_count == self.open_room:
            self.open_room = 2 * self.open_room + 8
            containers = PyMem_Realloc(self.containers, self.open_room * sizeof(void*))
            if containers is NULL:
                raise MemoryError
            self.containers = <void**>containers
        self.containers[self.open_count] = container
        self.open_count += 1
        return 0

    cdef int close(self) except -1:
        self.open_count -= 1
        return 0


cdef inline int put_piece(althaia_buffer* buffer, PyObject* piece) except -1:
    """Write a bytes object of the format. The reference is borrowed: without the GIL, all threads
    that share the object would wait for each other to change its reference count."""
    return althaia_put_bytes(
        buffer, PyBytes_AS_STRING(<bytes>piece), PyBytes_GET_SIZE(<bytes>piece)
    )


cdef inline bint put_scalar(Encoder self, object value) except -1:
    """Write a value of a built-in type that cannot change, and whose encoding cannot fail. Return
    False, with nothing written, if it is none."""
    cls = type(value)
    if cls is str:
        althaia_put_text(&self.buffer, value, self.format.ensure_ascii)
    elif cls is int:
        # An int of more than 64 bits may have more digits than the interpreter accepts, so that
        # encoding it may fail.
        return althaia_put_small_integer(&self.buffer, value)
    elif cls is float:
        if not isfinite(PyFloat_AS_DOUBLE(value)):
            return False
        althaia_put_double(&self.buffer, PyFloat_AS_DOUBLE(value))
    elif value is None:
        althaia_put_bytes(&self.buffer, b"null", 4)
    elif value is True:
        althaia_put_bytes(&self.buffer, b"true", 4)
    elif value is False:
        althaia_put_bytes(&self.buffer, b"false", 5)
    else:
        return False
    return True
