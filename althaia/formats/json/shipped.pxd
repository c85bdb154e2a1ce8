cdef bint json_is_as_shipped() except -1
# The function that returns the values of ``NaN``, ``Infinity`` and ``-Infinity``.
cdef object find_constant
