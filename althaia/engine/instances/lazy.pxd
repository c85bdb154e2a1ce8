from cpython.list cimport PyList_GET_ITEM

from althaia.engine.plan.guard cimport Guard
from althaia.engine.plan.instance_dict cimport InstanceDict


# The attributes that ``Schema.__init__`` sets and a lazy instance lacks.
cdef frozenset lazy_names

cdef object prototype_of(object schema, InstanceDict state)
cdef object prototype_to_plan(object schema, InstanceDict state)
cdef object real_field(object field, object parent, InstanceDict state)
cdef int complete(object field, object parent, InstanceDict state) except -1
cdef int warn_of_context() except -1
cdef int materialise(object schema, InstanceDict state) except -1
cdef bint materialise_if_touched(object schema, InstanceDict state) except -1
cdef bint is_lazy(object schema)
cdef bint is_left_unbound(object schema, InstanceDict state) except -1
cdef bint shadows_class(dict attributes) except -1
cdef bint intercept_watched(object cls, Guard guard) except -1
cdef int set_messages(object schema) except -1


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
