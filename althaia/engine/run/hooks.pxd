"""Call a schema's hooks as upstream does."""


cdef object invoke(
    tuple hooks, object schema, bint pass_collection, object data, object original, dict options
)
