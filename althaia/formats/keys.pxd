from libc.stdint cimport int32_t, uint32_t

from althaia.formats.tape cimport Tape


cdef class Keys:
    cdef readonly tuple names
    cdef dict numbers
    cdef int32_t* table
    cdef uint32_t mask
    cdef Py_ssize_t find(self, Tape tape, Py_ssize_t at, Py_ssize_t expected) except -2
    cdef bint place(self, Tape tape, Py_ssize_t record, Py_ssize_t* places) except -1
