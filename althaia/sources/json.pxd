from althaia.sources.tape cimport Tape


cdef Tape read_json(object text)
