"""Sinks: what a dump writes into instead of dictionaries."""

from cpython.object cimport PyObject

from althaia.formats.buffer cimport althaia_buffer

# An open record, list or tuple. `Sink.push` makes it.
cdef struct Level:
    # The Record of the open record; NULL in a list or tuple.
    PyObject* record
    # `list` or `tuple`; None in a record.
    PyObject* kind
    # The index of the last key or item, which `Sink.path` reads. MessagePack, which needs no paths,
    # keeps the expected number of items here.
    Py_ssize_t index
    # The number of keys or items so far. The format counts them; `Sink.take_back` takes one off.
    Py_ssize_t count
    # When it was opened: the size of the buffer, and the number of deferred values and, in JSON,
    # of fragments.
    Py_ssize_t start
    Py_ssize_t deferred
    Py_ssize_t fragments


cdef class Record:
    cdef readonly object form
    cdef readonly tuple keys


cdef class DeferredValue:
    cdef Py_ssize_t position
    cdef Py_ssize_t level
    cdef Py_ssize_t end
    cdef readonly object value
    cdef readonly tuple path


cdef class Sink:
    cdef althaia_buffer buffer
    cdef readonly object form
    cdef list deferred
    cdef Level* levels
    cdef Py_ssize_t depth, room

    cdef Record make_record(self, tuple keys)
    cdef int none(self) except -1
    cdef int ascii(self, const char* text, Py_ssize_t length) except -1
    cdef int any(self, object value) except -1
    cdef int open_record(self, Record record) except -1
    cdef Py_ssize_t key(self, Py_ssize_t index) except -1
    cdef int take_back(self, Py_ssize_t mark) except -1
    cdef int close_record(self) except -1
    cdef int open_list(self, object kind, Py_ssize_t expected) except -1
    cdef int item(self) except -1
    cdef int close_list(self) except -1
    cdef int encode(self, object value, Py_ssize_t level) except -1
    cdef object finished(self)
    cdef object finished_bytes(self)

    cdef Level* push(self, PyObject* record, object kind) except NULL
    cdef int defer_value(self, object value) except -1
    cdef int encode_deferred(self) except -1
    cdef int put_in_place(self, list deferred, althaia_buffer* fillings) except -1
    cdef int fill(self, DeferredValue later) except -1
    cdef tuple path(self)


cdef inline Py_ssize_t expected_items(object items):
    """Return the number of items of an exact list or tuple. Return -1 for other objects, whose
    ``len()`` may run user code."""
    if type(items) is list:
        return len(<list>items)
    return len(<tuple>items) if type(items) is tuple else -1
