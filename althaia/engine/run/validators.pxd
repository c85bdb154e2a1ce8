"""Checks: upstream's own validators, and the calls of all others."""

# What a check returns when the value is valid.
cdef object PASSED


cdef class Check:
    cdef readonly object validator
    cdef object failure(self, object value)
