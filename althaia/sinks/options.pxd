"""Declarations of :file:`options.pyx`."""

from althaia.sinks.formats cimport Format


cdef Format format_of(dict options)
