# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""What a dump can be written into besides dictionaries."""

from althaia.sinks.buffer cimport althaia_buffer_free


cdef class Sink:
    """Bytes that grow, and what is written into them."""

    def __dealloc__(self):
        althaia_buffer_free(&self.buffer)
