"""Checks: compiled forms of upstream's own validators, and calls of all others."""

# What a check returns if the value is valid.
cdef object PASSED


cdef class Check:
    cdef readonly object validator
    cdef object failure(self, object value)
