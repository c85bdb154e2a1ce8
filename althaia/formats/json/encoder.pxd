"""Encodes any Python value as JSON text."""

from althaia.formats.json.style cimport Format, JSONRecord
from althaia.formats.sink cimport Sink

cdef enum:
    # The number of open containers that are searched one by one. Deeper ones are in a set.
    FEW_OPEN = 32


cdef class Encoder(Sink):
    cdef readonly Format format
    cdef readonly object default
    cdef void* open_few[FEW_OPEN]
    cdef list open_more
    cdef set open_set
    cdef Py_ssize_t open_count
    cdef list recent
    cdef Py_ssize_t strangers
    cdef int encode(self, object value, Py_ssize_t level) except -1
    cdef int encode_integer(self, object value) except -1
    cdef int encode_float(self, double number, object value, Py_ssize_t level) except -1
    cdef int encode_other(self, object value, Py_ssize_t level) except -1
    cdef int encode_by_default(self, object value, Py_ssize_t level) except -1
    cdef int encode_by_standard(self, object value, Py_ssize_t level) except -1
    cdef int put_json(self, str text) except -1
    cdef int encode_item(
        self, object value, Py_ssize_t level, object container, object key, Py_ssize_t index
    ) except -1
    cdef int encode_list(self, object value, Py_ssize_t level) except -1
    cdef int encode_items(self, object items, Py_ssize_t level, object container) except -1
    cdef int encode_dict(self, object value, Py_ssize_t level) except -1
    cdef int encode_entries(self, dict mapping, Py_ssize_t level) except -1
    cdef bint encode_known(self, dict mapping, Py_ssize_t level) except -1
    cdef JSONRecord recent_record(self, dict mapping)
    cdef int put_key(
        self, JSONRecord record, Py_ssize_t at, bint first, Py_ssize_t level
    ) except -1
    cdef JSONRecord likely_record(self, dict mapping)
    cdef JSONRecord new_record(self, dict mapping)
    cdef list pairs_of(self, object mapping)
    cdef int encode_pairs(self, list pairs, Py_ssize_t level, object mapping) except -1
    cdef int encode_pair(
        self, object key, object value, Py_ssize_t level, object mapping, bint first
    ) except -1
    cdef int encode_key(self, object key) except -1
    cdef int separate(self) except -1
    cdef int newline(self, Py_ssize_t level) except -1
    cdef int put_ascii(self, object text) except -1
    cdef int open(self, void* container) except -1
    cdef int open_deeper(self, object ident) except -1
    cdef int close(self) except -1
