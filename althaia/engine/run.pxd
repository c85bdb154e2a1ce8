"""What other floors may use of this one."""

from libc.stdint cimport int64_t

from althaia.cpython.primitives cimport althaia_inline_cache
from althaia.engine.objects.object_reader cimport Reading, Readings
from althaia.engine.plan cimport InstanceDict, Plan, althaia_growth, upstream
from althaia.formats.codec cimport Keys, Record, Sink, Tape


cdef int add_to_trail(str form, part)

# These return EXTRAORDINARY if reading or converting a setting would run user code.
cdef many_of(schema, given)
cdef unknown_of(schema, given)
cdef partial_of(schema, given)
cdef bint is_plain_partial(partial) except -1


cdef inline bint is_plain_flag(flag):
    """Return whether converting a setting to bool runs no user code."""
    return flag is None or type(flag) is bool or type(flag) is int


# What a message may name in braces: nothing, or the value. A value is never in this dictionary.
cdef dict NO_WORDS
cdef dict INPUT_WORD


cdef inline bint is_of_json(value) noexcept:
    """Return whether a value is of a type that a JSON parser makes, None excluded. What upstream's
    fields do with it runs no user code."""
    return (
        type(value) is str or type(value) is int or type(value) is float or type(value) is bool
        or type(value) is list or type(value) is dict
    )


cdef class Check:
    cdef readonly object validator
    cdef public object text, low_text
    cdef public dict words
    cdef failure(self, value)
    cdef refusal(self, text, value)


cdef Plan valid_plan(schema, int direction, bint again=*)

# What a step returns if the value is not valid.
cdef object FAILED


cdef class LoadFrame:
    """One schema in one call: its plan, the options of the call, the errors so far."""
    cdef readonly object schema
    cdef Plan plan
    # The schema's dictionary when the call began, by which a lazy instance's own fields are found;
    # None without slots.
    cdef InstanceDict state
    cdef object many
    cdef bint large
    # Of the whole call: the outermost frame's own.
    cdef althaia_growth* growth
    cdef althaia_growth own_growth
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
    cdef int store_error(self, messages, field_name) except -1
    cdef stored(self)
    cdef error_store(self)
    cdef failed(self, error)
    cdef field_input(self, key, data)


cdef class Step:
    cdef readonly object field
    cdef public object attr, key, default
    cdef public str why
    # Where the step found the value in the last input or object, see cpython/inline_cache.h.
    cdef althaia_inline_cache cache
    # The index in `frame.children` of the schema's own field for this step; -1 if no user code
    # gets to see the field.
    cdef public int own_slot


cdef class LoadStep(Step):
    cdef public object target
    cdef public bint dotted, required, allow_none, calls_validate, guarded
    cdef public list pre_load, post_load
    cdef public tuple checks
    cdef public dict error_messages
    cdef refuse(self, str key, dict words, value, data, LoadFrame frame)
    cdef refuse_json(self, str key, dict words, value, data, LoadFrame frame)
    cdef refuse_empty(self, str key, LoadFrame frame)
    cdef message(self, str key, dict words, value)
    cdef own_field(self, LoadFrame frame)
    cdef convert(self, value, data, LoadFrame frame)
    cdef by_field(self, value, data, LoadFrame frame)
    cdef load(self, value, data, LoadFrame frame)
    cdef read(self, Tape tape, Py_ssize_t at, LoadFrame frame)
    cdef walk(self, Tape tape, Py_ssize_t at, LoadFrame frame)
    cdef finish(self, value, LoadFrame frame)
    cdef validate(self, value, LoadFrame frame)


cdef inline load_value(LoadStep step, value, data, LoadFrame frame):
    """Return what ``step.load`` returns. Most steps raise nothing that must be caught: entering a
    ``try`` takes half of their time."""
    if step.guarded or value is None or value is upstream.missing:
        return step.load(value, data, frame)
    loaded = step.convert(value, data, frame)
    return loaded if loaded is FAILED or step.checks is None else step.validate(loaded, frame)


cdef constructed(messages)
cdef field_deserialize(field, value, key, data, LoadFrame frame)
cdef fail(LoadFrame frame, messages, valid_data)


cdef enum:
    # The most characters that FixedText.format_into may write.
    LONGEST_TEXT = 40


cdef enum Source:
    # The field reads no attribute (``_CHECK_ATTRIBUTE`` is False).
    NO_ATTRIBUTE = 0
    # ``marshmallow.utils.get_value`` of one key.
    KEY = 1
    # ``get_value`` of a dotted path.
    PATH = 2
    # The schema's own ``get_attribute``.
    ACCESSOR = 3
    # The field's own ``get_value``.
    FIELD_GET_VALUE = 4
    # The field's own ``serialize``, for a field about which nothing is known.
    SERIALIZE = 5


cdef class DumpFrame:
    """One schema in one call: the schema, its plan and the frames of its nested schemas."""
    cdef readonly object schema
    cdef DumpPlan plan
    # The schema's dictionary when the call began, by which a lazy instance's own fields are found;
    # None without slots.
    cdef InstanceDict state
    cdef object many
    cdef bint large
    # As in a load.
    cdef althaia_growth* growth
    cdef althaia_growth own_growth
    # How many objects of a collection were dumped.
    cdef Py_ssize_t written
    cdef list children
    # The result of times_rebound() when the frame of a nested schema was opened.
    cdef int64_t bound
    cdef Record record
    cdef Readings readings


cdef class DumpStep(Step):
    cdef public int source
    cdef public str name
    cdef public tuple path
    cdef own_field(self, DumpFrame frame)
    cdef by_field(self, value, obj, DumpFrame frame)
    cdef look_up(self, Py_ssize_t i, obj, DumpFrame frame, Reading reading)
    cdef convert(self, value, obj, DumpFrame frame)
    cdef bint write(self, value, obj, DumpFrame frame, Sink sink) except -1


cdef class FixedText(DumpStep):
    cdef Py_ssize_t format_into(self, value, char* at) except -1


cdef class DumpPlan(Plan):
    # For each step the name that an object reader may read, see objects/object_reader.pyx. None
    # until one reads.
    cdef tuple names
    cdef readonly bint straight
    # True if the keys differ and dict_class is dict or OrderedDict: a sink needs no dictionary.
    cdef bint has_record
    cdef Record record
    cdef int find_names(self)


cdef dump_items(DumpPlan plan, obj, bint many, DumpFrame frame, Sink sink)
cdef own_serialized(DumpPlan plan, data, many, schema)
cdef dump_with_hooks(
    DumpPlan plan, obj, many, DumpFrame frame, Sink sink
)
cdef DumpFrame open_dump_frame(DumpPlan plan, schema)


cdef class LoadPlan(Plan):
    cdef public bint silent_errors, has_validators, has_schema_validators, hooks_see_input
    cdef readonly bint unique_keys
    # None until a caller asks `known_keys`.
    cdef Keys keys
    cdef Keys known_keys(self)


cdef LoadFrame open_load_frame(
    LoadPlan plan, schema, many, partial, unknown
)
cdef load_items(
    LoadPlan plan, data, Py_ssize_t at, bint many, LoadFrame frame
)
cdef handled_error(data, LoadFrame frame)
cdef bint is_unseen(LoadPlan plan) noexcept
cdef load_whole_or_fail(
    LoadPlan plan, data, LoadFrame frame, bint postprocess
)

cdef dump_one(schema, obj)
cdef load_unplanned(
    schema, dict data, store, partial, unknown, index
)
