from althaia.formats.tape cimport Tape


cdef bint is_msgpack(const unsigned char* data, Py_ssize_t size) noexcept
cdef Tape read_msgpack(bytes data)
