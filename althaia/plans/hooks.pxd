"""A schema class's hooks: found and called as upstream does."""


cdef object invoke(
    object hooks, object schema, bint pass_collection, object data, object original, dict options
)
cdef tuple no_hooks(object table, tuple tags)
