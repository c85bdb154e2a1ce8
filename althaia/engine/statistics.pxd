from libc.stdint cimport int64_t


cdef class Counters:
    cdef public int64_t calls, nested, straight, objects, unplanned, built, declined, invalidated
    cdef public str why
    cdef public bint told
    cdef dict before


cdef class Statistics:
    cdef readonly Counters dump
    cdef readonly Counters load
    cdef object schema_class


cpdef Statistics statistics_of(object schema_class)
