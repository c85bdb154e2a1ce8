"""Declarations of :file:`buffer.h`, :file:`json/quoting.h` and :file:`json/number_text.h`."""


cdef extern from "althaia/formats/buffer.h":
    ctypedef struct althaia_buffer:
        char* data
        Py_ssize_t size
        Py_ssize_t capacity
        bint beyond_ascii
        bint becomes_text

    void althaia_buffer_free(althaia_buffer* buffer)
    char* althaia_reserve(althaia_buffer* buffer, Py_ssize_t more) except NULL
    int althaia_put_bytes(althaia_buffer* buffer, const char* data, Py_ssize_t count) except -1
    int althaia_put_byte(althaia_buffer* buffer, char byte) except -1
    object althaia_buffer_text(althaia_buffer* buffer)


cdef extern from "althaia/formats/json/quoting.h":
    int althaia_put_text(althaia_buffer* buffer, object text, bint ensure_ascii) except -1


cdef extern from "althaia/formats/json/number_text.h":
    int ALTHAIA_LONGEST_NUMBER
    int althaia_put_small_integer(althaia_buffer* buffer, object number) except -1
    int althaia_put_double(althaia_buffer* buffer, double number) except -1
