"""The options of JSON text, and the keys of objects encoded with them."""

from althaia.formats.sink cimport Record


cdef class JSONRecord(Record)


cdef class Format:
    cdef readonly bint ensure_ascii, allow_nan, sort_keys, beyond_ascii
    cdef readonly bytes item_separator, key_separator, indent
    cdef readonly dict options
    cdef dict known
    cdef JSONRecord record_of(self, tuple keys)


cdef class JSONRecord(Record):
    cdef bytes text
    cdef Py_ssize_t* ends
    # If keys are sorted: the indexes of the keys in the order of the text. NULL if that is the
    # order of `keys`.
    cdef Py_ssize_t* order
    cdef Py_ssize_t separator
    cdef bint beyond_ascii
