cdef class Recipe:
    # The prototype's fields, their numbers by id, and the changes of each.
    cdef list fields
    cdef dict index
    cdef list changes
    cdef list sets
    cdef tuple attributes
    cdef dict build(self, Twins twins, object parent, object schema)


cdef class Twins:
    cdef Recipe recipe
    cdef list made
    cdef list sets
    # Fields that the instance has and that are not complete, by their numbers.
    cdef dict halves
    cdef object find(self, object field)
    cdef int start_from(self, dict halves) except -1
    cdef object twin(self, Py_ssize_t number, object parent, object schema)
    cdef int change(self, list changes, dict state, object parent, object schema) except -1


cdef Recipe recipe_of(object prototype)
cdef Twins twins_of(Recipe recipe, Twins before)
