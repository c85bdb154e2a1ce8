from libc.stdint cimport int64_t

from althaia.plans.plan cimport Plan
from althaia.plans.readers cimport Readings


cdef class Frame:
    """One schema in one call: the schema, its plan and what its nested sites opened."""
    cdef readonly object schema
    cdef DumpPlan plan
    cdef object many
    cdef bint large
    cdef list children
    cdef Readings readings


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


cdef class DumpPlan(Plan):
    # What a reader may read for each step, see plans/readers.pyx.
    cdef tuple names


cdef object run(DumpPlan plan, object obj, bint many, Frame frame)
cdef object run_with_hooks(DumpPlan plan, object obj, object many, Frame frame)
cdef Frame open_frame(DumpPlan plan, object schema)
