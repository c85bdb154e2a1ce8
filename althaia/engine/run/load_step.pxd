from libc.stdint cimport int64_t

from althaia.engine.plan.plan cimport Plan
from althaia.engine.run.validators cimport Check
from althaia.cpython.primitives cimport althaia_inline_cache
from althaia.engine.plan.instance_dict cimport InstanceDict
from althaia.engine.timing cimport Stopwatch
from althaia.formats.tape cimport Tape

# What a step returns if the value is not valid.
cdef object FAILED
# The key of errors that concern no field.
cdef str SCHEMA


cdef class LoadFrame:
    """One schema in one call: its plan, the options of the call, the errors so far."""
    cdef readonly object schema
    cdef Plan plan
    # As in a dump frame.
    cdef InstanceDict state
    cdef object many
    cdef bint large
    cdef object partial
    cdef object unknown
    cdef object index
    cdef object store
    cdef object kwargs
    # The last failure.
    cdef object messages
    cdef object valid_data
    cdef list sub_partials
    cdef list children
    # As in a dump frame.
    cdef int64_t bound
    cdef bint index_errors
    # Where the input is parsed text: its tape, the slot of what the call was given, that of the
    # object at hand, those of its values by step, and its dictionary if somebody was given it.
    cdef Tape tape
    cdef Py_ssize_t root
    cdef Py_ssize_t record
    cdef Py_ssize_t* places
    cdef object input_dict
    # Whether the keys of an input were compared one by one, and the keys of the last such input.
    cdef bint compared
    cdef tuple input_keys
    # As in a dump frame.
    cdef Stopwatch watch
    cdef int store_error(self, object messages, object field_name) except -1
    cdef object failed(self, object error)
    cdef object field_input(self, object key, object data)
    cdef bint may_be_missing(self, str name) except -1


cdef class LoadStep:
    cdef readonly object field
    cdef readonly object attr
    cdef readonly object key
    cdef readonly object target
    cdef readonly bint dotted
    cdef readonly bint own_deserialize
    cdef readonly bint required
    cdef readonly bint allow_none
    cdef readonly bint own_validate
    cdef readonly object default
    cdef readonly list pre_load
    cdef readonly list post_load
    cdef readonly tuple checks
    cdef readonly str why
    # Where the step found the value in the last input, see cpython/inline_cache.h.
    cdef althaia_inline_cache cache
    cdef bint walks
    # As in a dump step.
    cdef readonly int own_slot
    cdef object own_field(self, LoadFrame frame)
    cdef object convert(self, object value, object data, LoadFrame frame)
    cdef object by_field(self, object value, object data, LoadFrame frame)
    cdef object load(self, object value, object data, LoadFrame frame)
    cdef object read(self, Tape tape, Py_ssize_t at, LoadFrame frame)
    cdef object walk(self, Tape tape, Py_ssize_t at, LoadFrame frame)
    cdef object finish(self, object value, LoadFrame frame)
    cdef object ask_field(self, object value, object data, LoadFrame frame)
    cdef object validate(self, object value, LoadFrame frame)
    cdef object timed_failure(self, Check check, object value, LoadFrame frame)


cdef object field_deserialize(object field, object value, object key, object data, LoadFrame frame)
cdef object fail(LoadFrame frame, object messages, object valid_data)
