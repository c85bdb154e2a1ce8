from althaia.formats.tape cimport Tape


cdef Tape read_packed(object data)
