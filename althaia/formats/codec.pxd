"""What other floors may use of this one."""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t


cdef extern from "althaia/formats/buffer.h":
    ctypedef struct althaia_buffer:
        char* data
        Py_ssize_t size
        bint beyond_ascii

    void althaia_buffer_open(althaia_buffer* buffer)
    void althaia_buffer_free(althaia_buffer* buffer)
    void althaia_buffer_hold(althaia_buffer* buffer, PyObject* text, Py_ssize_t size)
    int althaia_put_bytes(althaia_buffer* buffer, const char* data, Py_ssize_t count) except -1
    int ALTHAIA_PADDING

    ctypedef struct althaia_key_texts:
        const char* text
        Py_ssize_t* ends
        Py_ssize_t* order
        Py_ssize_t count
        Py_ssize_t separator

    int althaia_put_key(
        althaia_buffer* buffer, const althaia_key_texts* keys, Py_ssize_t index, bint first
    ) except -1
    int althaia_put_byte(althaia_buffer* buffer, char byte) except -1
    str althaia_buffer_text(althaia_buffer* buffer)


# A container that is being encoded, and the one around it. The function that encodes it owns this.
cdef struct Level:
    PyObject* container
    Level* outer


cdef class Format:
    cdef readonly bint ensure_ascii, allow_nan, sort_keys
    cdef readonly bytes item_separator, key_separator
    cdef readonly dict options
    cdef dict known


cdef class Record:
    cdef readonly Format format
    cdef readonly tuple keys
    cdef bytes text
    cdef althaia_key_texts encoded
    cdef bint beyond_ascii


cdef class Sink:
    cdef readonly Format format
    cdef object default
    cdef althaia_buffer buffer
    # The deferred values, and the position in the buffer of each.
    cdef list deferred, positions
    # Long text. Encoding it as UTF-8 and decoding it again would take longer than all else. In the
    # buffer APART, and the number of the text, are in its place.
    cdef list apart
    cdef list recent
    cdef Py_ssize_t strangers
    cdef Level* innermost

    cdef int put_none(self) except -1
    cdef int put_ascii(self, const char* text, Py_ssize_t length) except -1
    cdef int put_value(self, value) except -1
    cdef int open_record(self, Record record) except -1
    cdef int put_byte(self, char byte) except -1
    cdef int begin_item(self, Py_ssize_t index) except -1
    cdef str finished(self)
    cdef bytes finished_bytes(self)


cdef inline Py_ssize_t open_key(
    Sink sink, PyObject* record, Py_ssize_t index, bint first
):
    """Write a record's key of that index; its value follows. Return the size of the buffer before
    it: a key that has no value is removed again.

    The reference to the record is borrowed. All threads use the same record, and changing its
    reference count for each key would make them wait for each other.
    """
    cdef Py_ssize_t mark = sink.buffer.size
    althaia_put_key(&sink.buffer, &(<Record>record).encoded, index, first)
    return mark


# The type of value in a slot. Containers come last, so that `type >= ARRAY` finds them.
cdef enum ValueType:
    NONE
    FALSE
    TRUE
    WHOLE           # `whole`
    UNSIGNED        # `unsigned`: beyond the signed numbers
    REAL            # `real`
    TEXT            # ASCII characters that stand for themselves
    RAW             # bytes
    OBJECT          # `object`, an owned reference
    ARRAY           # `size` values follow, up to slot `next`
    RECORD          # `size` times a key and a value follow, up to slot `next`


# For types with characters: `start` is the index of the first one, `size` their number. The quotes
# are not included.
cdef union Content:
    int64_t whole
    uint64_t unsigned
    double real
    Py_ssize_t start
    Py_ssize_t next
    PyObject* object


# `size` has 32 bits: a parser must refuse a larger value, as the JSON parser does by `MOST_TEXT`.
# `shared` is true if the dictionary `Tape.shared` has an entry for the slot.
cdef struct Slot:
    uint8_t type
    uint8_t shared
    uint32_t size
    Content content


cdef class Tape:
    # The exception for invalid text. If there is one, the slots mean nothing.
    cdef object failure
    # Where the innermost container begins in the text that the parser reads.
    cdef Py_ssize_t reached
    cdef object owner
    cdef bytes marks
    cdef const uint8_t* text
    cdef bint has_objects
    cdef Slot* slots
    cdef Py_ssize_t count
    cdef Py_ssize_t room
    cdef dict shared, known_keys

    cdef int grow(self) except -1
    cdef make(self, Py_ssize_t at)
    cdef share(self, Py_ssize_t at)
    cdef scalar(self, const Slot* slot)
    cdef make_array(self, Py_ssize_t at)
    cdef make_record(self, Py_ssize_t at)
    cdef dict entries(self, Py_ssize_t at)
    cdef key(self, const Slot* slot)


cdef inline Py_ssize_t after(Tape tape, Py_ssize_t at) noexcept:
    """Return the index of the slot after a value and everything in it."""
    return tape.slots[at].content.next if tape.slots[at].type >= ARRAY else at + 1


# A key of ASCII characters; `size` is 0 for any other.
cdef struct KnownText:
    const uint8_t* start
    uint32_t size


cdef class Keys:
    cdef readonly tuple names
    # The number of each key.
    cdef dict numbers
    cdef KnownText* texts
    cdef Py_ssize_t count
    cdef Py_ssize_t find(self, Tape tape, Py_ssize_t at, Py_ssize_t expected) except -2
    cdef bint place(self, Tape tape, Py_ssize_t record, Py_ssize_t* places) except -1


cdef Sink open_sink(module, dict options)
cdef Tape parse(module, text)
