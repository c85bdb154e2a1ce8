cdef class Recipe:
    # The prototype's fields by number, the number of each by id(field), and the changes by number.
    cdef list fields
    cdef dict index
    cdef list changes
    # The sets of names in the fields' attributes, each once.
    cdef list sets
    # All attributes of the prototype, and how those are made that each instance has of its own.
    cdef dict template
    cdef list attributes
    # The names in `fields` with the numbers of their fields.
    cdef tuple names
    cdef dict build(self, OwnFields own_fields, object parent, object schema)
    cdef object fields_of(self, OwnFields own_fields, object schema)


cdef class OwnFields:
    cdef Recipe recipe
    # The instance's fields and sets by number; None for those that were not made yet.
    cdef list by_number
    cdef list sets
    # Nested fields that the instance has, with only some of their changes, by number.
    cdef dict incomplete
    cdef object find(self, object field)
    cdef int start_from(self, dict incomplete) except -1
    cdef object make(self, object number, object parent, object schema)
    cdef dict by_name(self, tuple numbers, object parent, object schema)
    cdef int change(self, list changes, dict state, object parent, object schema) except -1


cdef Recipe recipe_of(object prototype)
cdef OwnFields own_fields_of(Recipe recipe, OwnFields before)
