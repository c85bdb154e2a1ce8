from libc.stdint cimport int64_t

from althaia.plans.guards cimport Guard
from althaia.plans.templates cimport Template


cdef class Frame:
    """One schema in one call: the schema, its plan and what its nested sites opened."""
    cdef readonly object schema
    cdef DumpPlan plan
    cdef object many
    cdef bint large
    cdef list children


cdef class Step:
    cdef readonly object field
    cdef readonly object attr
    cdef readonly object key
    cdef readonly int source
    cdef readonly str name
    cdef readonly tuple path
    cdef readonly object default
    cdef readonly str why
    cdef object convert(self, object value, object obj, Frame frame)


cdef class DumpPlan:
    cdef readonly tuple steps
    cdef readonly Guard guard
    cdef readonly bint whole
    cdef readonly bint nestable
    cdef readonly bint many_allowed
    cdef readonly str declined
    cdef readonly int sites
    cdef readonly object schema_class
    cdef readonly object dict_class
    cdef Template template
    cdef readonly object hooks
    cdef readonly object statistics


cdef object run(DumpPlan plan, object obj, bint many, Frame frame)
cdef object run_with_hooks(DumpPlan plan, object obj, object many, Frame frame)
cdef Frame open_frame(DumpPlan plan, object schema)
cdef DumpPlan valid_plan(object schema)
