cdef class Recipe:
    # The prototype's fields, their numbers by id, and the changes of each.
    cdef list fields
    cdef dict index
    cdef list changes
    cdef list sets
    cdef tuple attributes
    cdef dict build(self, OwnFields own_fields, object parent, object schema)


cdef class OwnFields:
    cdef Recipe recipe
    cdef list by_number
    cdef list sets
    # Fields that the instance has and that are not complete, by their numbers.
    cdef dict incomplete
    cdef object find(self, object field)
    cdef int start_from(self, dict incomplete) except -1
    cdef object make(self, object number, object parent, object schema)
    cdef int change(self, list changes, dict state, object parent, object schema) except -1


cdef Recipe recipe_of(object prototype)
cdef OwnFields own_fields_of(Recipe recipe, OwnFields before)
