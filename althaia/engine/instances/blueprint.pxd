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
    # The result of the examination. `guard` is None if there are no lazy instances; `reason` then
    # says why, and `refusal` is the guard of that reason, or None if nothing would show a change.
    # `wait` is the number of instances before the class is examined again.
    cdef readonly Guard guard
    cdef readonly str reason
    cdef Guard refusal
    cdef int wait
    # The type version for which instances/construct has found that the class overrides nothing that
    # it does; 0 if there is none.
    cdef unsigned int plain_version
    # Whether an instance was built in full although the class may have lazy instances.
    cdef bint refused
    # Copies of the class's fields and options, from which prototypes are made.
    cdef readonly dict declared
    cdef readonly object opts
    # The settings in `Meta`, for instances that are given none.
    cdef object many, unknown
    # Whether a field has a field inside that has a field inside. When upstream copies an instance,
    # it copies such fields once more.
    cdef bint copies_bind_anew
    # By options: the prototypes, and the number of instances so far for which there is none.
    cdef readonly dict prototypes
    cdef dict uses
    # The guard of the model, and the model (see instances/model); or None. `model_uses` is the
    # number of instances that asked for a model.
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
cdef object plain_names(object given)
