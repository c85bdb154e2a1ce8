from althaia.formats.tape cimport Tape


cdef Tape read_json(object text)
