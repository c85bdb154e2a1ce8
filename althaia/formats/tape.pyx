"""The tape: parsed text, with a slot for each value in the order of the text.

A parser fills the whole tape before anything is read from it. A slot stores a scalar as a number or
as a position in the text. Python objects are created only when they are read.
"""

# A character of a str, by its width in bytes.
ctypedef fused unit:
    uint8_t
    uint16_t
    uint32_t

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

# Keys of at most LONGEST_KEPT_KEY characters are cached in a table of MEMO_SIZE entries.
cdef enum:
    MEMO_SIZE = 128
    LONGEST_KEPT_KEY = 48
    FIRST_ROOM = 32
    # Enough for the longest number that the JSON parser accepts, see MOST_DIGITS there.
    DIGITS_AT_HAND = 656
    CHARACTERS_AT_HAND = 512


@cython.final
@cython.no_gc
cdef class Tape:
    """The slots of one text.

    ``owner`` is the object that contains the text and keeps it alive. ``width`` is the size of a
    character in bytes. ``ascii`` is true if all characters are below 128. ``shared`` maps a slot to
    the container that :meth:`share` has returned for it, so that reading that slot again, or a
    container around it, gives the same object. ``constants(name)`` returns the value of ``NaN``,
    ``Infinity`` and ``-Infinity``.
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
        """Double the capacity of the array of slots."""
        cdef Py_ssize_t room = self.room * 2 if self.room else FIRST_ROOM
        cdef void* slots = PyMem_Realloc(self.slots, room * sizeof(Slot))
        if slots is NULL:
            raise MemoryError()
        self.slots = <Slot*>slots
        self.room = room
        return 0

    cdef object make(self, Py_ssize_t at):
        """Return the value at a slot, equal to what the standard library creates."""
        if self.slots[at].kind < ARRAY:
            return self.scalar(&self.slots[at])
        found = self.shared_at(at)
        if found is not None:
            return found
        if self.slots[at].kind == ARRAY:
            return self.make_array(at)
        return self.make_record(at)

    cdef object share(self, Py_ssize_t at):
        """Return the value at a slot for a caller that may keep or change it: reading it again
        gives the same object."""
        cdef object value = self.make(at)
        if self.slots[at].kind >= ARRAY:
            if self.shared is None:
                self.shared = {}
            self.shared[at] = value
            self.slots[at].shared = True
        return value

    cdef object shared_at(self, Py_ssize_t at):
        """Return the container that :meth:`share` has returned for a slot, or None."""
        return self.shared[at] if self.slots[at].shared else None

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
        """Return a dictionary from the keys of a record to the slots of their values."""
        cdef dict entries = {}
        cdef Py_ssize_t end = self.slots[at].content.next
        at += 1
        while at < end:
            entries[self.key(&self.slots[at])] = at + 1
            at = after(self, at + 1)
        return entries

    cdef object scalar(self, const Slot* slot):
        """Return the value of a slot that is no container."""
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
        """Return the key at a slot. Short keys are cached, so that equal keys of a text are mostly
        the same object."""
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
    """Return :func:`mixed` of the text at a slot."""
    cdef Py_ssize_t start = slot.content.start
    if tape.width == 1:
        return mixed[uint8_t](<const uint8_t*>tape.text + start, slot.size)
    if tape.width == 2:
        return mixed[uint16_t](<const uint16_t*>tape.text + start, slot.size)
    return mixed[uint32_t](<const uint32_t*>tape.text + start, slot.size)


cdef bint is_text(Tape tape, const Slot* slot, object known) noexcept:
    """Return whether an exact str equals the text at a slot.

    For wide characters False may be wrong, because strs of different widths are compared only where
    ``known`` is the narrow one.
    """
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
    """Return the text at a slot without escapes."""
    cdef Py_ssize_t size = slot.size
    cdef const char* at = <const char*>tape.text + slot.content.start * tape.width
    cdef object made
    # For one narrow character PyUnicode_FromKindAndData() returns CPython's shared str object.
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
    """Return text with its escape sequences replaced."""
    cdef uint32_t at_hand[CHARACTERS_AT_HAND]
    cdef Py_ssize_t at = 0, length = 0
    cdef uint32_t code, biggest = 0
    cdef object made
    if size <= CHARACTERS_AT_HAND:
        while at < size:
            at_hand[length] = next_character(text, &at, size)
            length += 1
        return PyUnicode_FromKindAndData(4, at_hand, length)
    # Long text is read twice, first to find its length and its widest character: a temporary copy
    # with four bytes per character could need too much memory.
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
    """Return the character at ``at`` and advance ``at``. The parser has validated the escapes."""
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
    """Return the value of four hexadecimal digits."""
    cdef uint32_t value = 0, digit
    cdef int i
    for i in range(4):
        digit = text[i]
        # The last four bits of a letter, in either case, are 1 for "a", 2 for "b", and so on.
        value = value << 4 | (digit & 15) + (9 if digit > c"9" else 0)
    return value


cdef object number(Tape tape, const Slot* slot):
    """Return the number whose characters are at a slot, converted by CPython's own functions."""
    cdef char digits[DIGITS_AT_HAND]
    cdef Py_ssize_t i, start = slot.content.start, size = slot.size
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
