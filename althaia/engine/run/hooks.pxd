"""Call a schema's hooks as upstream does."""

from libc.stdint cimport int64_t


cdef object invoke(
    tuple hooks, object schema, int direction, bint pass_collection, object data,
    object original, dict options
)

cdef int book_hook(object schema, int direction, object name, int64_t began) except -1
