"""Declarations of :file:`options.pyx`."""

from althaia.formats.json.style cimport Format


cdef Format format_of(dict options)
