from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t


# The kind of value in a slot. Containers come last, so that `kind >= ARRAY` finds them.
cdef enum Kind:
    NONE
    FALSE
    TRUE
    WHOLE           # `whole`
    UNSIGNED        # `unsigned`: beyond the signed numbers
    REAL            # `real`
    DIGITS          # a whole number, as its characters
    REAL_DIGITS     # a real number, as its characters
    CONSTANT        # NaN, Infinity or -Infinity, as its characters
    TEXT            # characters that stand for themselves
    ESCAPED         # characters with backslashes among them
    RAW             # bytes
    OBJECT          # `object`, an owned reference
    ARRAY           # `size` values follow, up to slot `next`
    RECORD          # `size` times a key and a value follow, up to slot `next`


# For kinds with characters: `start` is the index of the first one, `size` their number. The quotes
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
    uint8_t kind
    uint8_t shared
    uint32_t size
    Content content


# A character of a str, by its width in bytes.
ctypedef fused unit:
    uint8_t
    uint16_t
    uint32_t


cdef class Tape:
    cdef object owner
    cdef object constants
    cdef const void* text
    cdef int width
    cdef bint ascii
    cdef Slot* slots
    cdef Py_ssize_t count
    cdef Py_ssize_t room
    cdef dict shared
    cdef PyObject** memo

    cdef int grow(self) except -1
    cdef object make(self, Py_ssize_t at)
    cdef object share(self, Py_ssize_t at)
    cdef object shared_at(self, Py_ssize_t at)
    cdef object scalar(self, const Slot* slot)
    cdef object make_array(self, Py_ssize_t at)
    cdef object make_record(self, Py_ssize_t at)
    cdef dict entries(self, Py_ssize_t at)
    cdef object key(self, const Slot* slot)


cdef bint is_text(Tape tape, const Slot* slot, object known) noexcept
cdef uint32_t mixed_text(Tape tape, const Slot* slot) noexcept


cdef inline uint32_t mixed(const unit* text, uint32_t size) noexcept:
    """Return a cheap hash of text, from its length and four characters; ``size`` is not 0."""
    cdef uint32_t number = size * 31 + text[0]
    number = number * 31 + text[size - 1]
    number = number * 31 + text[size >> 1]
    number = number * 31 + text[size >> 2]
    return number ^ (number >> 7)


cdef inline Slot* new_slot(Tape tape, uint8_t kind) except NULL:
    """Append a slot and return it. Pointers to other slots are invalid afterwards, because the
    array may have been reallocated."""
    cdef Slot* slot
    if tape.count == tape.room:
        tape.grow()
    slot = &tape.slots[tape.count]
    slot.kind = kind
    slot.shared = False
    slot.size = 0
    tape.count += 1
    return slot


cdef inline Py_ssize_t after(Tape tape, Py_ssize_t at) noexcept:
    """Return the index of the slot after a value and everything in it."""
    return tape.slots[at].content.next if tape.slots[at].kind >= ARRAY else at + 1
