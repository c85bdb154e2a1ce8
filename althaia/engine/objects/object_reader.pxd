from althaia.cpython.primitives cimport althaia_inline_cache


cdef class Watch:
    """Types and dictionary entries on which a reader depends."""
    cdef readonly tuple types
    cdef readonly tuple entries
    cdef unsigned int tags[16]
    cdef bint holds(self) except -1


cdef class Reader:
    """Reads objects of some types with the results of upstream's ``get_value``."""
    cdef readonly Watch watch
    cdef bint reads(self, cls)
    cdef Reading open(self, cls, tuple names)
    cdef Py_ssize_t index_of(self, cls, str name) except -2
    cdef bint begin(self, Reading reading, obj)
    cdef void* get(
        self, Reading reading, obj, Py_ssize_t index, althaia_inline_cache* cache
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
    cdef value(self, obj, Py_ssize_t index, althaia_inline_cache* cache)


cdef class Readings:
    """The readings of a call by type of object, for the names of one plan."""
    cdef Reading last
    cdef dict known
    cdef Reading of(self, tuple names, obj)
    cdef Reading decided(self, tuple names, cls)


cdef object NOT_THERE

cdef bint has_no_reader(obj) noexcept
cdef read_once(obj, str name, missing)
