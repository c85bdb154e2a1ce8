"""The tape: parsed text, with a slot for each value in the order of the text.

A parser fills the whole tape before anything is read from it. A slot stores a scalar as a number or
as a position in the text. Python objects are created only when they are read.
"""

cdef inline Slot* append_slot(Tape tape, uint8_t type_) except NULL:
    """Append a slot and return it. Pointers to other slots are invalid afterwards, because the
    array may have been reallocated."""
    cdef Slot* slot
    if tape.count == tape.room:
        tape.grow()
    slot = &tape.slots[tape.count]
    slot.type = type_
    slot.shared = False
    slot.size = 0
    tape.count += 1
    return slot

cdef inline int put_object(Tape tape, value):
    """Append a slot with a value that is made already."""
    cdef Slot* slot = append_slot(tape, OBJECT)
    Py_INCREF(value)
    slot.content.object = <PyObject*>value
    tape.has_objects = True
    return 0

cdef extern from "althaia/formats/spare.h":
    void* althaia_take_spare(void** place, Py_ssize_t* size)
    void althaia_keep_spare(void** place, void* memory, Py_ssize_t size)

cdef extern from "althaia/cpython/stack.h":
    int althaia_check_stack() except -1

cdef extern from "althaia/formats/words.h":
    bint althaia_same_bytes(const void* one, const void* other, size_t size)

cdef enum:
    FIRST_ROOM = 32


# Memory for the slots of the next tape.
cdef void* spare_slots = NULL


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class Tape:
    """The slots of one text.

    ``owner`` is the str or bytes that contains the text and keeps it alive. If that is a str beyond
    Latin-1, ``text`` is in ``marks``, where a byte stands for each character. ``has_objects`` is
    true if a slot is an OBJECT: text beyond ASCII or with escapes becomes a str at once.
    ``shared`` maps a slot to the container that :meth:`share` has returned for it, so that reading
    that slot again, or a container around it, gives the same object.
    """

    def __dealloc__(self):
        cdef Py_ssize_t i
        if self.has_objects:
            for i in range(self.count):
                if self.slots[i].type == OBJECT:
                    Py_DECREF(<object>self.slots[i].content.object)
        althaia_keep_spare(&spare_slots, self.slots, self.room * sizeof(Slot))

    cdef int grow(self) except -1:
        """Take spare memory for the array of slots, or double its capacity."""
        cdef Py_ssize_t room
        cdef void* slots
        if self.room == 0:
            self.slots = <Slot*>althaia_take_spare(&spare_slots, &room)
            self.room = room // sizeof(Slot)
            if self.room:
                return 0
        room = self.room * 2 if self.room else FIRST_ROOM
        slots = PyMem_Realloc(self.slots, room * sizeof(Slot))
        if slots is NULL:
            raise MemoryError()
        self.slots = <Slot*>slots
        self.room = room

    cdef make(self, Py_ssize_t at):
        """Return the value at a slot, equal to what the standard library creates."""
        if self.slots[at].type < ARRAY:
            return self.scalar(&self.slots[at])
        if self.slots[at].shared:
            return self.shared[at]
        return self.make_array(at) if self.slots[at].type == ARRAY else self.make_record(at)

    cdef share(self, Py_ssize_t at):
        """Return the value at a slot for a caller that may keep or change it: reading it again
        gives the same object."""
        value = self.make(at)
        if self.slots[at].type >= ARRAY:
            if self.shared is None:
                self.shared = {}
            self.shared[at] = value
            self.slots[at].shared = True
        return value

    cdef make_array(self, Py_ssize_t at):
        cdef list items = []
        cdef Py_ssize_t end = self.slots[at].content.next
        althaia_check_stack()
        at += 1
        while at < end:
            value = self.make(at)
            PyList_Append(items, value)
            at = after(self, at)
        return items

    cdef make_record(self, Py_ssize_t at):
        cdef dict entries = {}
        cdef Py_ssize_t end = self.slots[at].content.next
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

    cdef scalar(self, const Slot* slot):
        """Return the value of a slot that is no container."""
        cdef int type_ = slot.type
        if type_ == TEXT:
            return plain_text(self, slot)
        if type_ == WHOLE:
            return slot.content.whole
        if type_ == REAL:
            return slot.content.real
        if type_ == NONE:
            return None
        if type_ == TRUE:
            return True
        if type_ == FALSE:
            return False
        if type_ == OBJECT:
            return <object>slot.content.object
        if type_ == UNSIGNED:
            return slot.content.unsigned
        return PyBytes_FromStringAndSize(<const char*>self.text + slot.content.start, slot.size)

    cdef key(self, const Slot* slot):
        """Return the key at a slot. Equal keys of a text are the same object."""
        if self.known_keys is None:
            self.known_keys = {}
        key = self.scalar(slot)
        return self.known_keys.setdefault(key, key)


cdef plain_text(Tape tape, const Slot* slot):
    """Return the text at a slot without escapes."""
    cdef Py_ssize_t size = slot.size
    cdef const uint8_t* at = tape.text + slot.content.start
    if size < 2:
        # CPython's shared str objects.
        return PyUnicode_DecodeLatin1(<const char*>at, size, NULL)
    made = PyUnicode_New(size, 127)
    memcpy(PyUnicode_DATA(made), at, size)
    return made
