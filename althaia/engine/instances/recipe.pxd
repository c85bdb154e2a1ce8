cdef class Recipe:
    # The prototype's fields, their numbers by id, and the changes of each.
    cdef list fields
    cdef dict index
    cdef list changes
    cdef list sets
    # All attributes of the schema, and those that are made anew.
    cdef dict template
    cdef list attributes
    # The fields' names and numbers.
    cdef tuple names
    cdef dict build(self, OwnFields own_fields, object parent, object schema)
    cdef object fields_of(self, OwnFields own_fields, object schema)


cdef class OwnFields:
    cdef Recipe recipe
    cdef list by_number
    cdef list sets
    # Fields that the instance has and that are not complete, by their numbers.
    cdef dict incomplete
    cdef object find(self, object field)
    cdef int start_from(self, dict incomplete) except -1
    cdef object make(self, object number, object parent, object schema)
    cdef dict by_name(self, tuple numbers, object parent, object schema)
    cdef int change(self, list changes, dict state, object parent, object schema) except -1


cdef Recipe recipe_of(object prototype)
cdef OwnFields own_fields_of(Recipe recipe, OwnFields before)
