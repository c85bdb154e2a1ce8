"""Sinks: what a dump writes into instead of dictionaries.

A sink receives records (the objects of a schema), lists and single values in the order of the text.
Its result must be the text of the dictionaries that a dump makes, which are encoded after all user
code has run. Hence a value that user code can still change, or whose encoding may fail, becomes a
*deferred value*: :meth:`Sink.finished` encodes it at the end, in the order of the text.
"""

# From Python 3.14 on json adds a note to an error for each container around the value that could
# not be encoded.
cdef bint ADDS_NOTES = sys.version_info >= (3, 14)


cdef int add_note(object error, object cls, str part) except -1:
    """Add the note about a part of a container. Like json's it has the module of the container's
    class, unless that is builtins or __main__."""
    name = type.__repr__(cls)[len("<class '"):-len("'>")].removeprefix("__main__.")
    BaseException.add_note(error, f"when serializing {name} {part}")
    return 0


cdef class Record:
    """The keys of a plan's dictionaries, encoded for one kind of sink.

    :param form: the sink's form; only sinks of an equal form can use the record.
    :param texts: the bytes of each key.
    :param separator: how many of them are left out where the key is the first of its dictionary.
    :param sorts: dictionaries are encoded in the order of their keys.

    ``dict_class`` is the class of the dictionaries, which errors mention.
    """

    def __cinit__(self, form, tuple keys, list texts, Py_ssize_t separator, bint sorts):
        cdef Py_ssize_t i, end = 0, size = len(keys)
        order = sorted(range(size), key=keys.__getitem__) if sorts else range(size)
        self.form = form
        self.keys = keys
        self.dict_class = dict
        self.text = b"".join([*texts, bytes(ALTHAIA_PADDING)])
        self.beyond_ascii = not self.text.isascii()
        self.encoded.order = <Py_ssize_t*>PyMem_Calloc(2 * size + 1, sizeof(Py_ssize_t))
        if self.encoded.order is NULL:
            raise MemoryError
        self.encoded.text = PyBytes_AS_STRING(self.text)
        self.encoded.ends = self.encoded.order + size + 1
        self.encoded.count = size
        self.encoded.separator = separator
        for i in range(size):
            end += len(<bytes>texts[i])
            self.encoded.ends[i] = end
            self.encoded.order[i] = order[i]

    def __dealloc__(self):
        PyMem_Free(self.encoded.order)


@cython.final
@cython.no_gc
cdef class DeferredValue:
    """A value that is encoded at the end, and its position in the buffer.

    ``path`` lists the containers around it, the innermost first, if errors mention them. Only the
    sink refers to this object, so that it is in no reference cycle and needs no GC.
    """


cdef class Sink:
    """A growing byte buffer, and the methods that write into it.

    ``form`` is equal for sinks that encode keys in the same way. If ``sorts`` is true, the sink is
    given dictionaries, whose keys it sorts at the end, and no records: steps call user code in the
    order of the plan.
    """

    def __dealloc__(self):
        althaia_buffer_free(&self.buffer)
        PyMem_Free(self.levels)

    # ---- Methods that each kind of sink implements ----------------------------------

    cdef Record make_record(self, tuple keys):
        """Return a record for these keys, which are distinct and in the order of the plan."""
        raise NotImplementedError

    cdef int none(self) except -1:
        raise NotImplementedError

    cdef int ascii(self, const char* text, Py_ssize_t length) except -1:
        """Write ASCII text in which no character needs an escape. ALTHAIA_PADDING bytes must follow
        it, which may be copied, too."""
        raise NotImplementedError

    cdef int any(self, object value) except -1:
        """Write a value at once if it cannot change and encoding it cannot fail; else defer it."""
        raise NotImplementedError

    cdef int open_record(self, Record record) except -1:
        raise NotImplementedError

    cdef int take_back(self, Py_ssize_t mark) except -1:
        """Remove the last key, because it has no value. Nothing was written after it."""
        self.buffer.size = mark
        self.levels[self.depth - 1].count -= 1
        return 0

    cdef int close_record(self) except -1:
        raise NotImplementedError

    cdef int open_list(self, object kind, Py_ssize_t expected) except -1:
        """Begin a ``list`` or ``tuple`` that probably has ``expected`` items; -1 if unknown."""
        raise NotImplementedError

    cdef int item(self) except -1:
        """Begin the next item of a list."""
        raise NotImplementedError

    cdef int close_list(self) except -1:
        raise NotImplementedError

    cdef int encode(self, object value, Py_ssize_t level) except -1:
        """Encode any value now, with everything in it; it is inside ``level`` containers."""
        raise NotImplementedError

    cdef object finished(self):
        """Return the result of the dump. The sink cannot be used afterwards."""
        raise NotImplementedError

    cdef object finished_bytes(self):
        """Return the result of the dump, always as bytes."""
        return self.finished()

    # ---- Methods that all sinks share -----------------------------------------------

    cdef Level* push(self, PyObject* record, object kind) except NULL:
        cdef Level* level
        cdef Py_ssize_t room
        if self.depth == self.room:
            room = 8 if self.room == 0 else self.room * 2
            level = <Level*>PyMem_Realloc(self.levels, room * sizeof(Level))
            if level is NULL:
                raise MemoryError
            self.levels = level
            self.room = room
        level = &self.levels[self.depth]
        level.record = record
        # A borrowed reference to `list` or `tuple`, which are never freed.
        level.kind = <PyObject*>kind
        level.index = level.count = 0
        level.start = self.buffer.size
        level.deferred = 0 if self.deferred is None else len(self.deferred)
        self.depth += 1
        return level

    cdef int defer_value(self, object value) except -1:
        cdef DeferredValue later = DeferredValue.__new__(DeferredValue)
        later.position = self.buffer.size
        later.level = self.depth
        later.value = value
        if ADDS_NOTES:
            later.path = self.path()
        if self.deferred is None:
            self.deferred = []
        self.deferred.append(later)
        return 0

    cdef tuple path(self):
        """Return the open containers, the innermost first: the class of each, and the key or index
        in it."""
        cdef Py_ssize_t i
        cdef Level* level
        cdef Record record
        cdef list path = []
        for i in range(self.depth - 1, -1, -1):
            level = &self.levels[i]
            if level.record is NULL:
                path.append((<object>level.kind, level.index))
            else:
                record = <Record>level.record
                path.append((record.dict_class, record.keys[level.index]))
        return tuple(path)

    cdef int encode_deferred(self) except -1:
        """Write the text once more, with each deferred value in its place."""
        cdef althaia_buffer text
        cdef DeferredValue later
        cdef Py_ssize_t done = 0
        cdef list deferred = self.deferred
        if deferred is None:
            return 0
        self.deferred = None
        text = self.buffer
        memset(&self.buffer, 0, sizeof(althaia_buffer))
        self.buffer.beyond_ascii = text.beyond_ascii
        try:
            for later in deferred:
                if later.position > done:
                    althaia_put_bytes(&self.buffer, text.data + done, later.position - done)
                    done = later.position
                self.fill(later)
            if text.size > done:
                althaia_put_bytes(&self.buffer, text.data + done, text.size - done)
        finally:
            althaia_buffer_free(&text)
        return 0

    cdef int fill(self, DeferredValue later) except -1:
        if not ADDS_NOTES:
            return self.encode(later.value, later.level)
        try:
            return self.encode(later.value, later.level)
        except BaseException as error:
            for container, place in later.path:
                add_note(error, container, f"item {place!r}")
            raise
