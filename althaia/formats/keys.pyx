"""Finds on a tape the keys that a plan knows, without creating a str for each key."""


cdef inline bint has_text(const KnownText* known, Tape tape, const Slot* slot) noexcept:
    """Return whether a key is the text at a slot."""
    return known.size == slot.size and althaia_same_bytes(
        known.start, tape.text + slot.content.start, slot.size
    )


@cython.final
cdef class Keys:
    """The keys that a plan reads, numbered from 0.

    :param names: the keys, each once, all of them exact ``str``.
    """

    def __cinit__(self, tuple names):
        cdef Py_ssize_t number
        self.names = names
        self.numbers = {name: number for number, name in enumerate(names)}
        self.count = len(names)
        self.texts = <KnownText*>PyMem_Calloc(self.count + 1, sizeof(KnownText))
        if self.texts is NULL:
            raise MemoryError()
        for number in range(self.count):
            if PyUnicode_IS_ASCII(names[number]):
                self.texts[number].start = <const uint8_t*>PyUnicode_DATA(names[number])
                self.texts[number].size = <uint32_t>len(names[number])

    def __dealloc__(self):
        PyMem_Free(self.texts)

    cdef Py_ssize_t find(self, Tape tape, Py_ssize_t at, Py_ssize_t expected) except -2:
        """Return the number of the key at a slot, or -1 if it is not among the known keys.

        The search begins at the key number ``expected``: most texts have their keys in the same
        order.
        """
        cdef const Slot* slot = &tape.slots[at]
        cdef Py_ssize_t number
        if slot.type != TEXT or slot.size == 0:
            # Keys that are escaped, empty, or beyond ASCII.
            return self.numbers.get(tape.scalar(slot), -1)
        for number in range(expected, self.count):
            if has_text(&self.texts[number], tape, slot):
                return number
        for number in range(expected):
            if has_text(&self.texts[number], tape, slot):
                return number
        return -1

    cdef bint place(self, Tape tape, Py_ssize_t record, Py_ssize_t* places) except -1:
        """Set ``places[number]`` to the slot of the value of each known key; -1 if the record has
        no such key.

        If a key occurs more than once, the last value counts. Return whether there are other keys.
        """
        cdef Py_ssize_t at = record + 1, end = tape.slots[record].content.next
        cdef Py_ssize_t number, expected = 0
        cdef bint others = False
        for number in range(self.count):
            places[number] = -1
        while at < end:
            number = self.find(tape, at, expected)
            at += 1
            if number < 0:
                others = True
            else:
                places[number] = at
                expected = number + 1
            at = after(tape, at)
        return others
