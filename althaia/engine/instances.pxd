"""What other floors may use of this one."""

from cpython.list cimport PyList_GET_ITEM
from libc.stdint cimport int64_t

from althaia.engine.plan cimport InstanceDict


# Build every plan and prototype at its schema's first use; for tests.
cdef bint everything_at_once

cdef prototype_of(schema, InstanceDict state)
cdef prototype_to_plan(schema, InstanceDict state)
cdef real_field(field, parent, InstanceDict state)


cdef inline field_of_call(
    list children, Py_ssize_t slot, field, parent, InstanceDict state
):
    """Return the field of the call's schema, looked up once per call. If ``slot`` is below 0,
    return the plan's field."""
    if slot < 0:
        return field
    if <object>PyList_GET_ITEM(children, slot) is None:
        children[slot] = real_field(field, parent, state)
    return <object>PyList_GET_ITEM(children, slot)


cdef nested_field(field, InstanceDict state)
cdef nested_schema(field, parent, InstanceDict state)
cdef plucked_key(field, schema)
cdef int64_t times_rebound() noexcept

cdef hooked_prototype(schema, InstanceDict state, int direction)
