# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Any Python value as JSON text, character for character and error for error as ``json`` does.

A release of the interpreter has one encoder in C or, until 3.12 where ``indent`` is given, one in
Python. They differ in what they ask of a value: the first goes by its real type, the second by
``isinstance``. Values of the built-in types are encoded here for both. Whatever else the second
meets is handed to it, in its place.
"""

import builtins

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.dict cimport PyDict_Keys, PyDict_Next
from cpython.float cimport PyFloat_AS_DOUBLE
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF
from cpython.tuple cimport PyTuple_GET_ITEM
from libc.math cimport isfinite

from althaia.formats.json import shipped_encoder as standard

from althaia.formats.buffer cimport (
    althaia_buffer,
    althaia_put_byte,
    althaia_put_bytes,
    althaia_put_double,
    althaia_put_small_integer,
    althaia_put_text,
)
from althaia.formats.json.style cimport Format, JSONRecord
from althaia.formats.sink cimport Sink

cdef extern from "Python.h":
    object PySequence_Fast(object sequence, const char* message)
    list PyMapping_Items(object mapping)
    void* PyUnicode_1BYTE_DATA(object text)
    bint PyUnicode_IS_ASCII(object text)
    bint PyObject_IsInstance(object value, object cls) except -1
    int Py_EnterRecursiveCall(const char* where)
    void Py_LeaveRecursiveCall()

cdef extern from "althaia/cpython/stack.h":
    int althaia_check_stack() except -1

cdef extern from "althaia/formats/walking.h":
    bint ALTHAIA_ADDS_NOTES
    bint ALTHAIA_COPIES_ENTRIES
    bint ALTHAIA_WALKS_IN_PLACE
    bint althaia_same_keys(object mapping, object keys)
    int althaia_refuse_key(object key) except -1
    bint althaia_has_text_keys(object mapping)
    object althaia_class_name(object cls)
    void* althaia_item(object items, Py_ssize_t index)

cdef object unserializable = standard.unserializable
cdef object spell_key = standard.spell_key
# Dictionaries with more keys than these are rarely alike; so many kinds are looked for.
cdef Py_ssize_t MOST_KEYS = 64
cdef Py_ssize_t FEW_RECORDS = 8
# Where dictionaries are met that so often had other keys than those before, no more are looked for.
cdef Py_ssize_t MOST_STRANGERS = 64
# A built-in type from 3.15 on.
cdef object FROZEN_DICT = getattr(builtins, "frozendict", ())


cdef int enter() except -1:
    """One level deeper; :func:`leave` follows in any case."""
    althaia_check_stack()
    # It answers 1 where it refuses.
    return -1 if Py_EnterRecursiveCall(b" while encoding a JSON object") else 0


cdef bint is_plain(object value):
    """Whether a value is of a type that JSON has a form for; no metaclass is asked."""
    cls = type(value)
    return (
        cls is dict or cls is list or cls is tuple or cls is str or cls is int or cls is float
        or value is None or value is True or value is False
    )


cdef bint is_plain_key(object key):
    """Whether a key is of a built-in type that the encoder in Python spells; no metaclass is
    asked."""
    return (
        type(key) is int or type(key) is float or key is None or key is True or key is False
    )


cdef inline int put_piece(althaia_buffer* buffer, PyObject* piece) except -1:
    """Bytes of the format; borrowed, as all threads share the format and would wait for each other
    to count them."""
    return althaia_put_bytes(
        buffer, PyBytes_AS_STRING(<bytes>piece), PyBytes_GET_SIZE(<bytes>piece)
    )


cdef class Encoder(Sink):
    """Writes values as text, each with what they hold.

    :param default: what is called with a value that JSON has no form for, or None.
    """

    def __cinit__(self, Format format, default):
        self.form = self.format = format
        self.default = unserializable if default is None else default
        self.recent = []
        self.buffer.beyond_ascii = format.beyond_ascii
        self.buffer.becomes_text = True

    cdef int encode_root(self, object value) except -1:
        if not is_plain(value) and PyObject_IsInstance(value, str):
            # Asked as json does, so that an object may say that it is a str; it is refused then.
            text = standard.spell(self.format.ensure_ascii)(value)
            return self.put_spelled(text)
        return self.encode(value, 0)

    cdef int encode(self, object value, Py_ssize_t level) except -1:
        """One value that stands in ``level`` containers."""
        cls = type(value)
        if cls is str:
            return althaia_put_text(&self.buffer, value, self.format.ensure_ascii)
        if value is None:
            return althaia_put_bytes(&self.buffer, b"null", 4)
        if value is True:
            return althaia_put_bytes(&self.buffer, b"true", 4)
        if value is False:
            return althaia_put_bytes(&self.buffer, b"false", 5)
        if cls is int:
            return self.encode_integer(value)
        if cls is float:
            return self.encode_float(PyFloat_AS_DOUBLE(value), value, level)
        if cls is dict:
            return self.encode_dict(value, level)
        if cls is list or cls is tuple:
            return self.encode_list(value, level)
        return self.encode_other(value, level)

    cdef int encode_integer(self, object value) except -1:
        if not althaia_put_small_integer(&self.buffer, value):
            self.put_ascii(int.__repr__(value))
        return 0

    cdef int encode_float(self, double number, object value, Py_ssize_t level) except -1:
        if isfinite(number):
            return althaia_put_double(&self.buffer, number)
        if not self.format.allow_nan:
            # Releases word the error differently.
            return self.encode_by_standard(value, level)
        if number != number:
            return althaia_put_bytes(&self.buffer, b"NaN", 3)
        if number > 0:
            return althaia_put_bytes(&self.buffer, b"Infinity", 8)
        return althaia_put_bytes(&self.buffer, b"-Infinity", 9)

    cdef int encode_other(self, object value, Py_ssize_t level) except -1:
        """A value that is not of a built-in type, though maybe of a subclass."""
        if isinstance(value, str):
            return althaia_put_text(&self.buffer, value, self.format.ensure_ascii)
        if isinstance(value, int):
            return self.encode_integer(value)
        if self.format.in_python:
            return self.encode_by_standard(value, level)
        if isinstance(value, float):
            return self.encode_float(PyFloat_AS_DOUBLE(value), value, level)
        if isinstance(value, (list, tuple)):
            return self.encode_list(value, level)
        if isinstance(value, dict):
            if self.format.indent is not None:
                # Releases differ where `items` of the user's own gives nothing.
                return self.encode_by_standard(value, level)
            return self.encode_dict(value, level)
        if isinstance(value, FROZEN_DICT):
            return self.encode_by_standard(value, level)
        return self.encode_by_default(value, level)

    cdef int encode_by_default(self, object value, Py_ssize_t level) except -1:
        """What ``default`` makes of the value."""
        self.open(<void*>value)
        self.keep_rest()
        made = self.default(value)
        enter()
        try:
            self.encode(made, level)
        except BaseException as error:
            if ALTHAIA_ADDS_NOTES:
                name = althaia_class_name(type(value))
                BaseException.add_note(error, f"when serializing {name} object")
            raise
        finally:
            Py_LeaveRecursiveCall()
        return self.close()

    cdef int encode_by_standard(self, object value, Py_ssize_t level) except -1:
        """The value as the interpreter's own encoder writes it."""
        cdef Py_ssize_t i
        markers = {<size_t>self.open_few[i]: None for i in range(min(self.open_count, FEW_OPEN))}
        if self.open_count > FEW_OPEN:
            markers.update(dict.fromkeys(self.open_set))
        self.keep_rest()
        return self.put_spelled(
            standard.encode(value, level, markers, self.default, **self.format.options)
        )

    cdef int put_spelled(self, str text) except -1:
        """JSON text that the interpreter has made."""
        if PyUnicode_IS_ASCII(text):
            return self.put_ascii(text)
        self.buffer.beyond_ascii = True
        encoded = text.encode("utf-8", "surrogatepass")
        return althaia_put_bytes(&self.buffer, <const char*>encoded, len(encoded))

    # ---- Containers -----------------------------------------------------------------

    cdef int encode_item(
        self, object value, Py_ssize_t level, object container, object key, Py_ssize_t index
    ) except -1:
        """What a container holds at a key, or where that is not given, at an index."""
        if not ALTHAIA_ADDS_NOTES:
            return self.encode(value, level)
        try:
            return self.encode(value, level)
        except BaseException as error:
            name = althaia_class_name(type(container))
            place = index if index >= 0 else repr(key)
            BaseException.add_note(error, f"when serializing {name} item {place}")
            raise

    cdef int encode_list(self, object value, Py_ssize_t level) except -1:
        enter()
        try:
            if type(value) is not list and type(value) is not tuple:
                self.keep_rest()
            items = PySequence_Fast(value, b"_iterencode_list needs a sequence")
            if len(items) == 0:
                return althaia_put_bytes(&self.buffer, b"[]", 2)
            self.open(<void*>value)
            althaia_put_byte(&self.buffer, b"[")
            self.encode_items(items, level + 1, value)
            if self.format.indent is not None:
                self.newline(level)
            althaia_put_byte(&self.buffer, b"]")
            return self.close()
        finally:
            Py_LeaveRecursiveCall()

    cdef int encode_items(self, object items, Py_ssize_t level, object container) except -1:
        cdef Py_ssize_t i = 0
        cdef void* taken = althaia_item(items, 0)
        while taken is not NULL:
            item = <object>taken
            Py_DECREF(item)
            if i:
                self.separate()
            if self.format.indent is not None:
                self.newline(level)
            self.encode_item(item, level, container, None, i)
            i += 1
            taken = althaia_item(items, i)
        return 0

    cdef int encode_dict(self, object value, Py_ssize_t level) except -1:
        enter()
        try:
            if len(<dict>value) == 0:
                return althaia_put_bytes(&self.buffer, b"{}", 2)
            self.open(<void*>value)
            althaia_put_byte(&self.buffer, b"{")
            if self.format.in_python:
                self.encode_iterated(<dict>value, level + 1)
            elif type(value) is dict and not self.format.sort_keys:
                if ALTHAIA_WALKS_IN_PLACE:
                    self.encode_entries(<dict>value, level + 1)
                else:
                    self.encode_shared(<dict>value, level + 1)
            elif (
                type(value) is not dict
                or not ALTHAIA_WALKS_IN_PLACE
                or not self.encode_known(<dict>value, level + 1)
            ):
                self.encode_pairs(self.pairs_of(value), level + 1, value)
            if self.format.indent is not None:
                self.newline(level)
            althaia_put_byte(&self.buffer, b"}")
            return self.close()
        finally:
            Py_LeaveRecursiveCall()

    cdef int encode_entries(self, dict mapping, Py_ssize_t level) except -1:
        """The entries of a plain dictionary, as long as nobody changes it.

        Its keys are compared with those of a record one by one: an entry that was taken out
        meanwhile, or put in, ends that.
        """
        cdef Walk walk
        cdef PyObject* key
        cdef PyObject* value
        cdef Py_ssize_t at = 0
        cdef bint first = True
        cdef JSONRecord record = self.likely_record(mapping)
        walk.mapping = <PyObject*>mapping
        walk.position = 0
        walk.rest = NULL
        walk.outer = self.walk
        self.walk = &walk
        try:
            while walk.rest is NULL and PyDict_Next(mapping, &walk.position, &key, &value):
                # Held: user code may take them out of the dictionary.
                held_key, held_value = <object>key, <object>value
                if record is not None:
                    if at < len(record.keys) and key == PyTuple_GET_ITEM(record.keys, at):
                        self.put_key(record, at, first, level)
                        self.encode_item(held_value, level, mapping, held_key, -1)
                        at += 1
                        first = False
                        continue
                    record = None
                self.encode_pair(held_key, held_value, level, mapping, first)
                first = False
            if walk.rest is not NULL:
                for pair in <list>walk.rest:
                    self.encode_pair(pair[0], pair[1], level, mapping, first)
                    first = False
        finally:
            self.walk = walk.outer
            Py_XDECREF(walk.rest)
        return 0

    cdef int encode_shared(self, dict mapping, Py_ssize_t level) except -1:
        """The entries of a plain dictionary that other threads may change, each as it is when it
        is reached."""
        cdef PyObject* key
        cdef PyObject* value
        cdef Py_ssize_t position = 0
        cdef bint first = True, found = True
        cdef object held_key, held_value
        while True:
            with cython.critical_section(mapping):
                found = PyDict_Next(mapping, &position, &key, &value)
                if found:
                    held_key, held_value = <object>key, <object>value
            if not found:
                return 0
            self.encode_pair(held_key, held_value, level, mapping, first)
            first = False

    cdef bint encode_known(self, dict mapping, Py_ssize_t level) except -1:
        """A plain dictionary whose keys have been met before, sorted; False where they have not."""
        cdef JSONRecord record
        cdef list values
        cdef Py_ssize_t rank, at
        if len(mapping) > MOST_KEYS:
            return False
        # As they are now: user code may change the dictionary while it is encoded.
        values = list(mapping.values())
        record = self.recent_record(mapping)
        if record is None:
            record = self.new_record(mapping)
            if record is None:
                return False
            # The collector may have run meanwhile, and in it code that changed the dictionary.
            values = list(mapping.values())
            if not althaia_same_keys(mapping, record.keys):
                return False
        for rank in range(len(record.keys)):
            at = rank if record.order is NULL else record.order[rank]
            self.put_key(record, at, rank == 0, level)
            self.encode_item(values[at], level, mapping, record.keys[at], -1)
        return True

    cdef int put_key(
        self, JSONRecord record, Py_ssize_t at, bint first, Py_ssize_t level
    ) except -1:
        """The key of that number, with what stands around it."""
        cdef Py_ssize_t start = record.ends[at]
        self.buffer.beyond_ascii |= record.beyond_ascii
        if self.format.indent is not None:
            if not first:
                self.separate()
            self.newline(level)
        elif first:
            start += record.separator
        return althaia_put_bytes(
            &self.buffer, <const char*>record.text + start, record.ends[at + 1] - start
        )

    cdef JSONRecord likely_record(self, dict mapping):
        """A record that has the first key of a dictionary, which is not empty, and as many."""
        cdef JSONRecord record
        cdef Py_ssize_t i, position = 0, size = len(mapping)
        cdef PyObject* key
        PyDict_Next(mapping, &position, &key, NULL)
        for i in range(len(self.recent)):
            record = <JSONRecord>self.recent[i]
            if len(record.keys) == size and key == PyTuple_GET_ITEM(record.keys, 0):
                return record
        if size > MOST_KEYS or self.strangers == MOST_STRANGERS:
            return None
        self.strangers += 1
        return self.new_record(mapping)

    cdef JSONRecord recent_record(self, dict mapping):
        """The record for the keys of a dictionary if they are those of one just encoded, as most
        are; nothing is made, so no other code runs."""
        cdef JSONRecord record
        cdef Py_ssize_t i
        for i in range(len(self.recent)):
            record = <JSONRecord>self.recent[i]
            if althaia_same_keys(mapping, record.keys):
                return record
        return None

    cdef JSONRecord new_record(self, dict mapping):
        """The record for keys that were not among the last ones; None where there is none yet."""
        cdef JSONRecord record
        cdef tuple keys
        if not althaia_has_text_keys(mapping):
            return None
        # Not by iterating: the collector may run, and in it code that changes the dictionary.
        keys = tuple(PyDict_Keys(mapping))
        for key in keys:
            if type(key) is not str:
                return None
        record = self.format.record_of(keys)
        if record is not None:
            self.recent.insert(0, record)
            del self.recent[FEW_RECORDS:]
        return record

    cdef int keep_rest(self) except -1:
        """Before user code is called: keep what is left of the dictionaries being gone through."""
        cdef Walk* walk = self.walk
        cdef PyObject* key
        cdef PyObject* value
        if not ALTHAIA_COPIES_ENTRIES:
            return 0
        while walk is not NULL and walk.rest is NULL:
            rest = []
            while PyDict_Next(<dict>walk.mapping, &walk.position, &key, &value):
                # Held before anything is made: making it may run the collector, and user code.
                held_key, held_value = <object>key, <object>value
                rest.append((held_key, held_value))
            Py_INCREF(rest)
            walk.rest = <PyObject*>rest
            walk = walk.outer
        return 0

    cdef list pairs_of(self, object mapping):
        """The entries of a dictionary as they are now, sorted where they have to be."""
        cdef list pairs
        self.keep_rest()
        pairs = PyMapping_Items(mapping)
        if self.format.sort_keys:
            pairs.sort()
        return pairs

    cdef int encode_pairs(self, list pairs, Py_ssize_t level, object mapping) except -1:
        cdef bint first = True
        for pair in pairs:
            if not isinstance(pair, tuple) or len(<tuple>pair) != 2:
                raise ValueError("items must return 2-tuples")
            self.encode_pair((<tuple>pair)[0], (<tuple>pair)[1], level, mapping, first)
            first = False
        return 0

    cdef int encode_iterated(self, dict mapping, Py_ssize_t level) except -1:
        """The entries of a plain dictionary as the encoder in Python goes through them."""
        cdef bint first = True
        if self.format.sort_keys:
            return self.encode_pairs(self.pairs_of(mapping), level, mapping)
        self.keep_rest()
        # Without the interpreter's iterator: CPython 3.11 crashes where there is no memory for it.
        for key, value in mapping.items():
            self.encode_pair(key, value, level, mapping, first)
            first = False
        return 0

    cdef int encode_pair(
        self, object key, object value, Py_ssize_t level, object mapping, bint first
    ) except -1:
        if not first:
            self.separate()
        if self.format.indent is not None:
            self.newline(level)
        if type(key) is str:
            althaia_put_text(&self.buffer, key, self.format.ensure_ascii)
        else:
            self.encode_key(key)
        put_piece(&self.buffer, <PyObject*>self.format.key_separator)
        return self.encode_item(value, level, mapping, key, -1)

    cdef int encode_key(self, object key) except -1:
        """A key that is no plain str: as text."""
        if isinstance(key, str):
            return althaia_put_text(&self.buffer, key, self.format.ensure_ascii)
        if self.format.in_python and not is_plain_key(key):
            text = spell_key(key, self.format.allow_nan)
            if not isinstance(text, str):
                # It says that it is one; refused in the interpreter's words.
                text = standard.spell(self.format.ensure_ascii)(text)
            return althaia_put_text(&self.buffer, text, self.format.ensure_ascii)
        if not isinstance(key, (int, float)) and key is not None:
            return althaia_refuse_key(key)
        althaia_put_byte(&self.buffer, b'"')
        # A float's error is not about the value but about the key: it stands in no container.
        self.encode(key, 0)
        return althaia_put_byte(&self.buffer, b'"')

    # ---- Pieces ---------------------------------------------------------------------

    cdef int separate(self) except -1:
        return put_piece(&self.buffer, <PyObject*>self.format.item_separator)

    cdef int newline(self, Py_ssize_t level) except -1:
        althaia_put_byte(&self.buffer, b"\n")
        for _ in range(level):
            put_piece(&self.buffer, <PyObject*>self.format.indent)
        return 0

    cdef int put_ascii(self, object text) except -1:
        return althaia_put_bytes(
            &self.buffer, <const char*>PyUnicode_1BYTE_DATA(text), len(<str>text)
        )

    # ---- Circular references --------------------------------------------------------

    cdef int open(self, void* container) except -1:
        """Begin a container; each :meth:`close` ends the one begun last.

        :raises ValueError: it is being encoded already.
        """
        cdef Py_ssize_t i
        for i in range(min(self.open_count, <Py_ssize_t>FEW_OPEN)):
            if self.open_few[i] is container:
                raise ValueError("Circular reference detected")
        if self.open_count < FEW_OPEN:
            self.open_few[self.open_count] = container
        else:
            self.open_deeper(<size_t>container)
        self.open_count += 1
        return 0

    cdef int open_deeper(self, object ident) except -1:
        if self.open_more is None:
            self.open_more = []
            self.open_set = set()
        if ident in self.open_set:
            raise ValueError("Circular reference detected")
        self.open_set.add(ident)
        self.open_more.append(ident)
        return 0

    cdef int close(self) except -1:
        self.open_count -= 1
        if self.open_count >= FEW_OPEN:
            self.open_set.discard(self.open_more.pop())
        return 0
