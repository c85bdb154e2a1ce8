from althaia.engine.plan.guard cimport Guard


# Build every plan and prototype at its schema's first use; for tests.
cdef bint at_once
# The key of instances without options.
cdef tuple DEFAULTS


cdef class Prototype:
    cdef readonly object schema
    cdef readonly PrototypeCache cache
    cdef tuple options
    # It is a copy of a nested instance and shares the fields of that, as all such copies do.
    cdef bint shares_fields
    # Made when the first instance is materialised; see instances/recipe.
    cdef object recipe


cdef class PrototypeCache:
    cdef readonly object schema_class
    cdef readonly Guard guard
    cdef readonly str reason
    cdef readonly dict declared
    cdef readonly object opts
    # Of the options, for instances that are given none.
    cdef object many, unknown
    cdef readonly dict prototypes
    cdef dict uses
    # Upstream copies the innermost fields once more where it copies an instance.
    cdef bint copies_bind_anew
    # An instance could not be lazy although its class's instances may: there may be a model.
    cdef bint refused
    # The guard of the reason why instances are built in full; None if no change of it can be seen.
    # `wait` is the number of instances before the class is examined again.
    cdef Guard refusal
    cdef int wait
    # A class of a kind that instances/construct cannot copy or build, and its type version then.
    cdef object odd
    cdef unsigned int odd_tag
    # Of what it rests on that instances/construct may build instances; and how often that was
    # examined.
    cdef Guard construction
    cdef int constructions
    cdef bint holds(self, object schema) except -1
    cdef bint still_holds(self, object schema) except -1
    cdef int _copy_class(self) except -1
    cdef Prototype find(self, object key)
    cdef dict unbound(self, tuple options)


cdef object clone(object field)
cdef dict copied_fields(object declared)
cdef object made_with(object cls, dict attributes)
cdef object names(object given)
cdef object copied_names(object names)
cdef dict plain_copy(dict state)
cdef dict vars_of(object obj)
cdef object options_key(object only, object exclude, object load_only, object dump_only)
