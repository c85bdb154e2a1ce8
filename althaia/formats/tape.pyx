# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
# cython: cdivision=True
"""Parsed text: a slot for each value, in the order of the text, from which objects are made.

A parser fills the tape to its end before anybody reads it. Scalars are kept as numbers or as a
place in the text; nothing is a Python object before it is asked for.
"""

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.dict cimport PyDict_SetItem
from cpython.list cimport PyList_Append
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF
from libc.string cimport memcmp, memcpy

cdef extern from "Python.h":
    object PyUnicode_New(Py_ssize_t size, Py_UCS4 biggest)
    object PyUnicode_FromKindAndData(int kind, const void* data, Py_ssize_t size)
    void PyUnicode_WRITE(int kind, void* data, Py_ssize_t at, Py_UCS4 code) noexcept
    int PyUnicode_KIND(object text) noexcept
    void* PyUnicode_DATA(object text) noexcept
    Py_ssize_t PyUnicode_GET_LENGTH(object text) noexcept
    object PyLong_FromString(const char* digits, char** end, int base)
    double PyOS_string_to_double(const char* digits, char** end, object overflow) except? -1.0

cdef extern from "althaia/cpython/stack.h":
    int althaia_check_stack() except -1

# Keys are remembered by a hash of their first and last characters; longer ones are not.
cdef enum:
    MEMO_SIZE = 128
    LONGEST_KEPT_KEY = 48
    FIRST_ROOM = 32
    # Enough for the number with the most digits that a tape takes, see json.pyx.
    DIGITS_AT_HAND = 656
    CHARACTERS_AT_HAND = 512


@cython.final
@cython.no_gc
cdef class Tape:
    """The slots of one text.

    ``owner`` keeps the text alive, ``width`` is the size of its characters in bytes, ``ascii``
    says that all are below 128. ``made`` holds the containers that somebody has been given, by
    slot: whoever asks for one of them again, or for something around it, gets the same object.
    ``constants(name)`` is the value of ``NaN``, ``Infinity``, ``-Infinity``.
    """

    def __dealloc__(self):
        cdef Py_ssize_t i
        if self.slots is not NULL:
            for i in range(self.count):
                if self.slots[i].kind == OBJECT:
                    Py_DECREF(<object>self.slots[i].content.object)
            PyMem_Free(self.slots)
        if self.memo is not NULL:
            for i in range(MEMO_SIZE):
                Py_XDECREF(self.memo[i])
            PyMem_Free(self.memo)

    cdef int grow(self) except -1:
        """Make room for twice as many slots."""
        cdef Py_ssize_t room = self.room * 2 if self.room else FIRST_ROOM
        cdef void* slots = PyMem_Realloc(self.slots, room * sizeof(Slot))
        if slots is NULL:
            raise MemoryError()
        self.slots = <Slot*>slots
        self.room = room
        return 0

    cdef object make(self, Py_ssize_t at):
        """The value at a slot, as the standard library makes it."""
        if self.slots[at].kind < ARRAY:
            return self.scalar(&self.slots[at])
        found = self.made_at(at)
        if found is not None:
            return found
        if self.slots[at].kind == ARRAY:
            return self.make_array(at)
        return self.make_record(at)

    cdef object keep(self, Py_ssize_t at):
        """The same, for somebody who may keep or change it."""
        cdef object value = self.make(at)
        if self.slots[at].kind >= ARRAY:
            if self.made is None:
                self.made = {}
            self.made[at] = value
            self.slots[at].made = True
        return value

    cdef object made_at(self, Py_ssize_t at):
        """The container that somebody has been given for a slot, or None."""
        return self.made[at] if self.slots[at].made else None

    cdef object make_array(self, Py_ssize_t at):
        cdef list items = []
        cdef Py_ssize_t end = self.slots[at].content.next
        cdef object value
        althaia_check_stack()
        at += 1
        while at < end:
            value = self.make(at)
            PyList_Append(items, value)
            at = after(self, at)
        return items

    cdef object make_record(self, Py_ssize_t at):
        cdef dict entries = {}
        cdef Py_ssize_t end = self.slots[at].content.next
        cdef object key, value
        althaia_check_stack()
        at += 1
        while at < end:
            key = self.key(&self.slots[at])
            value = self.make(at + 1)
            PyDict_SetItem(entries, key, value)
            at = after(self, at + 1)
        return entries

    cdef dict entries(self, Py_ssize_t at):
        """The slots of a record's values by key."""
        cdef dict entries = {}
        cdef Py_ssize_t end = self.slots[at].content.next
        at += 1
        while at < end:
            entries[self.key(&self.slots[at])] = at + 1
            at = after(self, at + 1)
        return entries

    cdef object scalar(self, const Slot* slot):
        """The value of a slot that is no container."""
        cdef int kind = slot.kind
        if kind == TEXT:
            return plain_text(self, slot)
        if kind == WHOLE:
            return slot.content.whole
        if kind == REAL:
            return slot.content.real
        if kind == NONE:
            return None
        if kind == TRUE:
            return True
        if kind == FALSE:
            return False
        if kind == ESCAPED:
            return escaped_text(self, slot)
        if kind == OBJECT:
            return <object>slot.content.object
        if kind == UNSIGNED:
            return slot.content.unsigned
        if kind == RAW:
            return PyBytes_FromStringAndSize(
                <const char*>self.text + slot.content.start, slot.size
            )
        if kind == CONSTANT:
            return self.constants(plain_text(self, slot))
        return number(self, slot)

    cdef object key(self, const Slot* slot):
        """The key at a slot; equal ones of a text are mostly the same object."""
        cdef PyObject** place
        if slot.kind != TEXT or not 0 < slot.size <= LONGEST_KEPT_KEY:
            return self.scalar(slot)
        if self.memo is NULL:
            self.memo = <PyObject**>PyMem_Calloc(MEMO_SIZE, sizeof(PyObject*))
            if self.memo is NULL:
                raise MemoryError()
        place = &self.memo[mixed_text(self, slot) % MEMO_SIZE]
        if place[0] is not NULL and is_text(self, slot, <object>place[0]):
            return <object>place[0]
        key = plain_text(self, slot)
        Py_XDECREF(place[0])
        Py_INCREF(key)
        place[0] = <PyObject*>key
        return key


cdef uint32_t mixed_text(Tape tape, const Slot* slot) noexcept:
    """:func:`mixed` for the text at a slot."""
    cdef Py_ssize_t start = slot.content.start
    if tape.width == 1:
        return mixed[uint8_t](<const uint8_t*>tape.text + start, slot.size)
    if tape.width == 2:
        return mixed[uint16_t](<const uint16_t*>tape.text + start, slot.size)
    return mixed[uint32_t](<const uint32_t*>tape.text + start, slot.size)


cdef bint is_text(Tape tape, const Slot* slot, object known) noexcept:
    """Whether an exact str is the text at a slot; False may be wrong for wide characters."""
    cdef Py_ssize_t i, start = slot.content.start
    cdef const uint8_t* narrow
    cdef int kind = PyUnicode_KIND(known)
    if PyUnicode_GET_LENGTH(known) != slot.size:
        return False
    if kind == tape.width:
        return memcmp(
            PyUnicode_DATA(known),
            <const char*>tape.text + start * tape.width,
            <size_t>slot.size * tape.width,
        ) == 0
    if kind != 1:
        return False
    narrow = <const uint8_t*>PyUnicode_DATA(known)
    for i in range(slot.size):
        if tape.width == 2:
            if (<const uint16_t*>tape.text)[start + i] != narrow[i]:
                return False
        elif (<const uint32_t*>tape.text)[start + i] != narrow[i]:
            return False
    return True


cdef object plain_text(Tape tape, const Slot* slot):
    """Text whose characters stand for themselves."""
    cdef Py_ssize_t size = slot.size
    cdef const char* at = <const char*>tape.text + slot.content.start * tape.width
    cdef object made
    # The interpreter has each text of one narrow character once.
    if not tape.ascii or size < 2:
        return PyUnicode_FromKindAndData(tape.width, at, size)
    made = PyUnicode_New(size, 127)
    memcpy(PyUnicode_DATA(made), at, size)
    return made


cdef object escaped_text(Tape tape, const Slot* slot):
    if tape.width == 1:
        return unescaped[uint8_t](<const uint8_t*>tape.text + slot.content.start, slot.size)
    if tape.width == 2:
        return unescaped[uint16_t](<const uint16_t*>tape.text + slot.content.start, slot.size)
    return unescaped[uint32_t](<const uint32_t*>tape.text + slot.content.start, slot.size)


cdef object unescaped(const unit* text, Py_ssize_t size):
    """Text with its backslashes resolved."""
    cdef uint32_t at_hand[CHARACTERS_AT_HAND]
    cdef Py_ssize_t at = 0, length = 0
    cdef uint32_t code, biggest = 0
    cdef object made
    if size <= CHARACTERS_AT_HAND:
        while at < size:
            at_hand[length] = next_character(text, &at, size)
            length += 1
        return PyUnicode_FromKindAndData(4, at_hand, length)
    # Resolved twice: a copy of long text in the widest characters may be too much to ask for.
    while at < size:
        code = next_character(text, &at, size)
        if code > biggest:
            biggest = code
        length += 1
    made = PyUnicode_New(length, biggest)
    at = length = 0
    while at < size:
        PyUnicode_WRITE(
            PyUnicode_KIND(made), PyUnicode_DATA(made), length, next_character(text, &at, size)
        )
        length += 1
    return made


cdef inline uint32_t next_character(const unit* text, Py_ssize_t* at, Py_ssize_t size) noexcept:
    """The character at ``at``, which moves behind it; the parser has seen that all is in order."""
    cdef uint32_t code = text[at[0]], low
    if code != c"\\":
        at[0] += 1
        return code
    code = text[at[0] + 1]
    at[0] += 2
    if code == c"n":
        return c"\n"
    if code == c"t":
        return c"\t"
    if code == c"r":
        return c"\r"
    if code == c"b":
        return c"\b"
    if code == c"f":
        return c"\f"
    if code != c"u":
        return code
    code = hexadecimal(text + at[0])
    at[0] += 4
    if (
        code & 0xFC00 == 0xD800
        and at[0] + 6 <= size
        and text[at[0]] == c"\\"
        and text[at[0] + 1] == c"u"
    ):
        low = hexadecimal(text + at[0] + 2)
        if low & 0xFC00 == 0xDC00:
            at[0] += 6
            return 0x10000 + (((code & 0x3FF) << 10) | (low & 0x3FF))
    return code


cdef inline uint32_t hexadecimal(const unit* text) noexcept:
    """The number that four hexadecimal digits are."""
    cdef uint32_t value = 0, digit
    cdef int i
    for i in range(4):
        digit = text[i]
        # Letters of both cases have the same last four bits: 1 for a.
        value = value << 4 | (digit & 15) + (9 if digit > c"9" else 0)
    return value


cdef object number(Tape tape, const Slot* slot):
    """The number whose characters are at a slot, by the interpreter's own functions."""
    cdef char at_hand[DIGITS_AT_HAND]
    cdef char* digits = at_hand
    cdef Py_ssize_t i, start = slot.content.start, size = slot.size
    if size >= DIGITS_AT_HAND:
        digits = <char*>PyMem_Malloc(size + 1)
        if digits is NULL:
            raise MemoryError()
    try:
        for i in range(size):
            if tape.width == 1:
                digits[i] = <char>(<const uint8_t*>tape.text)[start + i]
            elif tape.width == 2:
                digits[i] = <char>(<const uint16_t*>tape.text)[start + i]
            else:
                digits[i] = <char>(<const uint32_t*>tape.text)[start + i]
        digits[size] = 0
        if slot.kind == DIGITS:
            return PyLong_FromString(digits, NULL, 10)
        return PyOS_string_to_double(digits, NULL, <object>NULL)
    finally:
        if digits != at_hand:
            PyMem_Free(digits)
