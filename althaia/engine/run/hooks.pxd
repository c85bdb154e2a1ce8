"""A schema class's hooks: found and called as upstream does."""

from althaia.formats.tape cimport Tape


cdef class Unread:
    cdef Tape tape
    cdef Py_ssize_t at


cdef object unread(Tape tape, Py_ssize_t at)
cdef object input_of(object original)
cdef object invoke(
    object hooks, object schema, bint pass_collection, object data, object original, dict options
)
