from althaia.formats.tape cimport Tape


cdef Tape read(object module, object text)
