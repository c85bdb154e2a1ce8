"""A schema class's hooks: found and called as upstream does."""

from cpython.object cimport PyObject


cdef object hooks_of(PyObject* table, str tag)
cdef object invoke(
    object hooks, object schema, bint pass_collection, object data, object original, dict options
)
cdef tuple no_hooks(object table, tuple tags)
