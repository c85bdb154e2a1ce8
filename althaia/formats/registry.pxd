"""The formats that compiled plans read and write without upstream's code."""

from althaia.formats.sink cimport Sink
from althaia.formats.tape cimport Tape


cdef Sink open_sink(object module, dict options)
cdef Tape read(object module, object text)
