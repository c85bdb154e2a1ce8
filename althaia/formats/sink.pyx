# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""What a dump can be written into besides dictionaries.

A sink is given records (the objects of a schema), lists and single values, one after the other, and
must give what encoding the dumped dictionaries afterwards would have given. Hence a value that user
code can still change, or that may fail to be encoded, leaves a *deferred value*: it is encoded in
:meth:`Sink.finished`, when the last user code has run, in the order of the document.
"""

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.object cimport PyObject
from libc.string cimport memcpy, memmove, memset

from althaia.formats.buffer cimport althaia_buffer, althaia_buffer_free, althaia_reserve

cdef extern from "althaia/formats/walking.h":
    bint ALTHAIA_ADDS_NOTES


cdef class Record:
    """The keys of a plan's dictionaries, as one kind of sink writes them.

    :param form: the sink's form; a record is of use to sinks of the same form only.
    """

    def __cinit__(self, form, tuple keys):
        self.form = form
        self.keys = keys


@cython.final
@cython.no_gc
cdef class DeferredValue:
    """A value that is encoded at the end, and where; ``path`` names the containers around it, the
    innermost first, where errors say so. ``end`` is where its text ends among the deferred ones.

    Nobody but the sink is given one, so that no cycle goes through it."""


cdef class Sink:
    """Bytes that grow, and what is written into them.

    :param form: what decides how keys are written.
    """

    def __dealloc__(self):
        althaia_buffer_free(&self.buffer)
        PyMem_Free(self.levels)

    # ---- What each kind of sink does for itself -------------------------------------

    cdef Record make_record(self, tuple keys):
        """The record for these keys, each once, in order."""
        raise NotImplementedError

    cdef int none(self) except -1:
        raise NotImplementedError

    cdef int ascii(self, const char* text, Py_ssize_t length) except -1:
        """ASCII text in which nothing has to be escaped."""
        raise NotImplementedError

    cdef int any(self, object value) except -1:
        """A value: written at once where it cannot change or fail, else as a deferred value."""
        raise NotImplementedError

    cdef int open_record(self, Record record) except -1:
        raise NotImplementedError

    cdef Py_ssize_t key(self, Py_ssize_t index) except -1:
        """The record's key of that index, whose value follows; a mark for :meth:`take_back`."""
        raise NotImplementedError

    cdef int take_back(self, Py_ssize_t mark) except -1:
        """Forget the last key: it has no value. Nothing was written since."""
        self.buffer.size = mark
        self.levels[self.depth - 1].count -= 1
        return 0

    cdef int close_record(self) except -1:
        raise NotImplementedError

    cdef int open_list(self, object kind, Py_ssize_t expected) except -1:
        """Begin a ``list`` or ``tuple`` of probably so many items; -1: nobody knows."""
        raise NotImplementedError

    cdef int item(self) except -1:
        """Begin the next item of a list."""
        raise NotImplementedError

    cdef int close_list(self) except -1:
        raise NotImplementedError

    cdef int encode(self, object value, Py_ssize_t level) except -1:
        """Write any value in ``level`` containers now, with all that it holds."""
        raise NotImplementedError

    cdef int encode_root(self, object value) except -1:
        """Write any value that stands in no container."""
        return self.encode(value, 0)

    cdef object finished(self):
        """All that was written, as the sink's users get it; the sink is of no more use."""
        raise NotImplementedError

    cdef object finished_bytes(self):
        """The same, as bytes in any case."""
        return self.finished()

    # ---- What they share ------------------------------------------------------------

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
        # Borrowed: `list` or `tuple`.
        level.kind = <PyObject*>kind
        level.index = level.count = 0
        level.start = self.buffer.size
        level.deferred = 0 if self.deferred is None else len(self.deferred)
        level.fragments = 0
        self.depth += 1
        return level

    cdef int leave_hole(self, object value) except -1:
        cdef DeferredValue later = DeferredValue.__new__(DeferredValue)
        later.position = self.buffer.size
        later.level = self.depth
        later.value = value
        if ALTHAIA_ADDS_NOTES:
            later.path = self.path()
        if self.deferred is None:
            self.deferred = []
        self.deferred.append(later)
        return 0

    cdef tuple path(self):
        """The containers that are open, the innermost first: each one's class and the key or index
        in it."""
        cdef Py_ssize_t i
        cdef Level* level
        cdef list path = []
        for i in range(self.depth - 1, -1, -1):
            level = &self.levels[i]
            if level.record is NULL:
                path.append((<object>level.kind, level.index))
            else:
                path.append((dict, (<Record>level.record).keys[level.index]))
        return tuple(path)

    cdef int fill_holes(self) except -1:
        """Encode what was put off, each in its place."""
        cdef althaia_buffer text
        cdef DeferredValue later
        cdef list deferred = self.deferred
        if deferred is None:
            return 0
        self.deferred = None
        text = self.buffer
        memset(&self.buffer, 0, sizeof(althaia_buffer))
        self.buffer.beyond_ascii = text.beyond_ascii
        self.buffer.becomes_text = text.becomes_text and text.size == 0
        try:
            for later in deferred:
                self.fill(later)
                later.end = self.buffer.size
            if text.size:
                text.beyond_ascii = self.buffer.beyond_ascii
                self.buffer, text = text, self.buffer
                self.put_in_place(deferred, &text)
        finally:
            althaia_buffer_free(&text)
        return 0

    cdef int put_in_place(self, list deferred, althaia_buffer* fillings) except -1:
        """Move what was written apart, the last piece first, and each filling in between."""
        cdef DeferredValue later
        cdef Py_ssize_t i, before, rest = self.buffer.size
        cdef char* data
        althaia_reserve(&self.buffer, fillings.size)
        data = self.buffer.data
        self.buffer.size += fillings.size
        for i in range(len(deferred) - 1, -1, -1):
            later = <DeferredValue>deferred[i]
            memmove(data + later.position + later.end, data + later.position, rest - later.position)
            rest = later.position
            before = (<DeferredValue>deferred[i - 1]).end if i else 0
            memcpy(data + rest + before, fillings.data + before, later.end - before)
        return 0

    cdef int fill(self, DeferredValue later) except -1:
        if later.level == 0:
            return self.encode_root(later.value)
        if not ALTHAIA_ADDS_NOTES:
            return self.encode(later.value, later.level)
        try:
            return self.encode(later.value, later.level)
        except BaseException as error:
            for container, place in later.path:
                BaseException.add_note(
                    error, f"when serializing {container.__name__} item {place!r}"
                )
            raise
