"""Finds on a tape the keys that a plan knows, without creating a str for each key."""


@cython.final
cdef class Keys:
    """The keys that a plan reads, numbered from 0: a hash table with open addressing.

    :param names: the keys, each once, all of them exact ``str``.
    """

    def __cinit__(self, tuple names):
        cdef uint32_t place, size = 8
        cdef int32_t number
        cdef object name
        self.names = names
        self.numbers = {name: number for number, name in enumerate(names)}
        while size < 2 * <uint32_t>len(names):
            size *= 2
        self.mask = size - 1
        self.table = <int32_t*>PyMem_Malloc(size * sizeof(int32_t))
        if self.table is NULL:
            raise MemoryError()
        for place in range(size):
            self.table[place] = -1
        for number in range(<int32_t>len(names)):
            name = names[number]
            if name and PyUnicode_KIND(name) == 1:
                place = mixed[uint8_t](
                    <const uint8_t*>PyUnicode_DATA(name), <uint32_t>PyUnicode_GET_LENGTH(name)
                )
                while self.table[place & self.mask] >= 0:
                    place += 1
                self.table[place & self.mask] = number

    def __dealloc__(self):
        PyMem_Free(self.table)

    cdef Py_ssize_t find(self, Tape tape, Py_ssize_t at, Py_ssize_t expected) except -2:
        """Return the number of the key at a slot, or -1 if it is not among the known keys.

        The key number ``expected`` is tried first: most texts have their keys in the same order.
        """
        cdef const Slot* slot = &tape.slots[at]
        cdef uint32_t place
        cdef int32_t number
        if slot.kind == TEXT and slot.size:
            if expected < len(self.names) and is_text(
                tape, slot, <object>PyTuple_GET_ITEM(self.names, expected)
            ):
                return expected
            place = mixed_text(tape, slot)
            while True:
                number = self.table[place & self.mask]
                if number < 0:
                    break
                if is_text(tape, slot, <object>PyTuple_GET_ITEM(self.names, number)):
                    return number
                place += 1
            if tape.width == 1:
                return -1
        # The hash table does not find keys that are escaped, empty, or of wide characters.
        return self.numbers.get(tape.scalar(slot), -1)

    cdef bint place(self, Tape tape, Py_ssize_t record, Py_ssize_t* places) except -1:
        """Set ``places[number]`` to the slot of the value of each known key; -1 if the record has
        no such key.

        If a key occurs more than once, the last value counts. Return whether there are other keys.
        """
        cdef Py_ssize_t at = record + 1, end = tape.slots[record].content.next
        cdef Py_ssize_t number, expected = 0
        cdef bint others = False
        for number in range(len(self.names)):
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
