from libc.stdint cimport int64_t

from althaia.cpython.primitives cimport althaia_count, althaia_counted


cdef class Sample:
    cdef public bint on
    cdef int64_t left, running
    cdef public object take
    cdef public object turn


cdef Sample sample
cdef object GO_ON


cdef inline bint is_due(Sample sample) noexcept:
    """Whether :func:`decide` must say how this call is answered."""
    if not sample.on:
        return False
    althaia_count(&sample.left, -1)
    return althaia_counted(&sample.left) < 0 or althaia_counted(&sample.running) > 0


cdef object decide(Sample sample, str call, object schema, tuple args)
cdef bint is_upstreams_turn(Sample sample) except -1
