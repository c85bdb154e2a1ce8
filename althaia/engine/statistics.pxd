from libc.stdint cimport int64_t

from althaia.engine.plan.plan cimport Plan
from althaia.engine.timing cimport Stopwatch, Timing


cdef class Counters:
    cdef public int64_t calls, nested, straight, objects, unplanned, built, declined, invalidated
    cdef public str why
    cdef public bint logged
    cdef dict before
    # The timings of calls from or to objects, and of calls from or to text; None until one was
    # measured.
    cdef Timing of_objects, of_text
    cdef Timing timing(self, bint text)


cdef class Statistics:
    cdef readonly Counters dump
    cdef readonly Counters load
    cdef object schema_class


cpdef Statistics statistics_of(object schema_class)
cdef Counters counters_of(object schema, int direction)
cdef bint starts(Plan plan, Stopwatch* watch, bint text, object timed_step) except -1
