from althaia.sources.tape cimport Tape


cdef Tape read(object module, object text)
