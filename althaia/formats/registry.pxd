"""The formats of text and bytes that plans read and write themselves."""

from althaia.formats.sink cimport Sink
from althaia.formats.tape cimport Tape


cdef Sink open_sink(object module, dict options)
cdef Tape read(object module, object text)
