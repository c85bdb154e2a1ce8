"""What other floors may use of this one."""

from cpython.list cimport PyList_GET_ITEM
from libc.stdint cimport int64_t

from althaia.engine.plan cimport InstanceDict


# Build every plan and prototype at its schema's first use; for tests.
cdef bint at_once

cdef object prototype_of(object schema, InstanceDict state)
cdef object prototype_to_plan(object schema, InstanceDict state)
cdef object real_field(object field, object parent, InstanceDict state)


cdef inline object field_of_call(
    list children, Py_ssize_t slot, object field, object parent, InstanceDict state
):
    """Return the field of the call's schema, looked up once per call. If ``slot`` is below 0,
    return the plan's field."""
    if slot < 0:
        return field
    if <object>PyList_GET_ITEM(children, slot) is None:
        children[slot] = real_field(field, parent, state)
    return <object>PyList_GET_ITEM(children, slot)


cdef object nested_field(object field, InstanceDict state)
cdef object nested_schema(object field, object parent, InstanceDict state)
cdef object plucked_key(object field, object schema)
cdef int64_t times_rebound() noexcept

cdef object hooked_prototype(object schema, InstanceDict state, int direction)
