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
    # The schema's dictionary when the call began. A lazy instance has its own fields in it.
    cdef InstanceDict state
    cdef object many
    cdef bint large
    cdef object partial
    cdef object unknown
    cdef object index
    # The ErrorStore, if the caller gave one or upstream's code needs one; until then its errors.
    cdef object store
    cdef dict errors
    cdef object kwargs
    # The last failure.
    cdef object messages
    cdef object valid_data
    cdef list sub_partials
    cdef list children
    # The result of times_rebound() when the frame of a nested schema was opened.
    cdef int64_t bound
    cdef bint index_errors
    # If the input is parsed text: its tape, the slot of the whole input, the slot of the object
    # being loaded, the slots of that object's values by step, and the object's dictionary once user
    # code has got it.
    cdef Tape tape
    cdef Py_ssize_t root
    cdef Py_ssize_t record
    cdef Py_ssize_t* places
    cdef object input_dict
    # Runs while an object is measured.
    cdef Stopwatch stopwatch
    cdef int store_error(self, object messages, object field_name) except -1
    cdef object stored(self)
    cdef object error_store(self)
    cdef object failed(self, object error)
    cdef object field_input(self, object key, object data)


cdef class LoadStep:
    cdef readonly object field
    cdef public object attr, key, target, default
    cdef public bint dotted, own_deserialize, required, allow_none, own_validate, walks
    cdef public list pre_load, post_load
    cdef public tuple checks
    cdef public dict error_messages
    cdef public str why
    # Where the step found the value in the last input, see cpython/inline_cache.h.
    cdef althaia_inline_cache cache
    # The index in `frame.children` of the schema's own field for this step; -1 if no user code
    # gets to see the field.
    cdef public int own_slot
    cdef object refuse(self, str key, dict words, object value, object data, LoadFrame frame)
    cdef object refuse_type(self, object value, object data, LoadFrame frame)
    cdef object refuse_empty(self, str key, LoadFrame frame)
    cdef object message(self, str key, dict words, object value)
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
