cdef extern from "althaia/cpython/functions.h":
    ctypedef struct althaia_function:
        pass
    int althaia_note_function(althaia_function* noted, object function) except -1
    bint althaia_is_unchanged(const althaia_function* noted)
    bint althaia_has_entries(dict mapping, dict entries)
