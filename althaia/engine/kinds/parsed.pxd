from althaia.engine.run.load_step cimport LoadFrame, LoadStep


cdef class LoadParsed(LoadStep):
    cdef public object parse
    cdef public dict words
    cdef object parsed(self, object value, object data, LoadFrame frame)
