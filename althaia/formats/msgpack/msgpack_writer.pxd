"""Declarations of :file:`msgpack_writer.pyx`."""

from althaia.formats.sink cimport Record, Sink


cdef class PackedRecord(Record):
    cdef bytes packed
    cdef Py_ssize_t* ends


cdef class MessagePackSink(Sink):
    cdef readonly object default
    cdef int pack(self, object value, Py_ssize_t level, bint made) except -1
    cdef bint pack_number(self, object value, bint made) except -1
    cdef int pack_text(self, object value) except -1
    cdef int pack_stored(self, const char* data, Py_ssize_t size) except -1
    cdef int pack_exported(self, object value) except -1
    cdef int pack_other(self, object value, Py_ssize_t level, bint made) except -1
    cdef int pack_items(self, object value, Py_ssize_t level) except -1
    cdef int pack_mapping(self, object value, Py_ssize_t level) except -1
    cdef int pack_pairs(self, list pairs, Py_ssize_t level) except -1
    cdef int move_deferred(self, Py_ssize_t first, Py_ssize_t distance) except -1


cdef MessagePackSink open_msgpack(dict options)
