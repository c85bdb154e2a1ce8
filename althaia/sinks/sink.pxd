"""What a dump can be written into besides dictionaries."""

from althaia.sinks.buffer cimport althaia_buffer


cdef class Sink:
    cdef althaia_buffer buffer
