"""Declarations of :file:`options.pyx`."""

from althaia.sinks.encoder cimport Format


cdef Format format_of(dict options)
