from althaia.engine.plan.instance_dict cimport InstanceDict


# Make the model at the first instance that may have one, and use its plan; for tests.
cdef bint models_at_once


cdef object model_of(object schema, InstanceDict state, int direction, bint first)
cdef bint is_due_for_model(object schema) except -1
