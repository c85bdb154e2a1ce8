from althaia.cpython.primitives cimport althaia_inline_cache


cdef class Watch:
    """Types and dictionary entries on which a reader depends."""
    cdef readonly tuple types
    cdef readonly tuple entries
    cdef unsigned int tags[16]
    cdef bint holds(self)


cdef class Reader:
    """Reads objects of some types with the results of upstream's ``get_value``."""
    cdef readonly Watch watch
    cdef bint reads(self, object cls) except -1
    cdef Reading open(self, object cls, tuple names)
    cdef Py_ssize_t index_of(self, object cls, str name) except -2
    cdef bint begin(self, Reading reading, object obj) except -1
    cdef void* get(
        self, Reading reading, object obj, Py_ssize_t index, althaia_inline_cache* cache
    ) except? NULL


cdef class Reading:
    """How one call reads objects of one type: which names the reader reads, and where."""
    cdef Reader reader
    cdef object cls
    cdef unsigned int tag
    cdef tuple names
    cdef Py_ssize_t* indexes
    cdef object source, data
    cdef bint has_inline_caches
    cdef object value(self, object obj, Py_ssize_t index, althaia_inline_cache* cache)


cdef class Readings:
    """The readings of a call by type of object, for the names of one plan."""
    cdef Reading last
    cdef dict known
    cdef Reading of(self, tuple names, object obj)
    cdef Reading decided(self, tuple names, object cls)


cdef object NOT_THERE

cdef bint has_no_reader(object obj)
cdef object read_once(object obj, str name, object missing)
