from althaia.engine.plan.guard cimport Guard


# Build every plan and prototype at its schema's first use; for tests.
cdef bint at_once
# The key of instances without options.
cdef tuple DEFAULTS
# The number of instances before a class's first model is made.
cdef enum:
    FIRST_MODEL = 10


cdef class Prototype:
    cdef readonly object schema
    cdef readonly Blueprint blueprint
    cdef tuple options
    # Whether it is a copy of a nested instance: such copies share the fields of that instance.
    cdef bint shares_fields
    # Made when the first instance is materialised; see instances/recipe.
    cdef object recipe


cdef class Blueprint:
    cdef readonly object schema_class
    # What the examination found. `reason` says why there are no lazy instances, and `refusal` is
    # the guard of that reason; None if no change of it can be seen. `wait` is the number of
    # instances before the class is examined again.
    cdef readonly Guard guard
    cdef readonly str reason
    cdef Guard refusal
    cdef int wait
    # The type version at which instances/construct found that the class overrides none of what it
    # does; 0 if it did not.
    cdef unsigned int plain_version
    # Whether an instance was built in full although the class may have lazy ones.
    cdef bint refused
    # Copies of the class's fields and options, from which prototypes are made.
    cdef readonly dict declared
    cdef readonly object opts
    # Of the options, for instances that are given none.
    cdef object many, unknown
    # Whether upstream copies fields inside fields inside fields once more when it copies an
    # instance.
    cdef bint copies_bind_anew
    # By options: the prototypes, and the number of instances so far for which there is none.
    cdef readonly dict prototypes
    cdef dict uses
    # The model's guard and the model, see instances/model; None until there is one. `model_uses` is
    # the number of instances that asked for one.
    cdef tuple model
    cdef int model_uses
    cdef bint holds(self, object schema) except -1
    cdef bint still_holds(self, object schema) except -1
    cdef int _copy_class(self) except -1
    cdef Prototype find(self, object key)
    cdef int _forget_uses(self, object key) except -1
    cdef dict unbound(self, tuple options)


cdef Blueprint blueprint_of(object cls)
cdef object options_key(object only, object exclude, object load_only, object dump_only)
