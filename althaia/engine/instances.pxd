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
cdef bint has_prototypes_fields(InstanceDict state)
cdef bint materialise_if_touched(schema, InstanceDict state)
cdef made_with(cls, dict attributes)
cdef own_copy(nested, field)
cdef int record_copy(nested, field, copied)
# How often the fields of a schema were bound again. Upstream's code copies a nested schema
# instance. The copies share the fields inside fields, so that binding one copy changes the others.
cdef int64_t rebound

cdef hooked_prototype(schema, InstanceDict state, int direction)
