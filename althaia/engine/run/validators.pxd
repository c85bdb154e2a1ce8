"""Checks: compiled forms of upstream's own validators, and calls of all others."""

# What a check returns if the value is valid.
cdef object PASSED


cdef class Check:
    cdef readonly object validator
    cdef public object text, low_text
    cdef public dict words
    cdef object failure(self, object value)
    cdef object refusal(self, object text, object value)
    cdef object own_refusal(self, object value)
