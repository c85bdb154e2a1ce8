from libc.stdint cimport int64_t

from althaia.engine.plan.plan cimport Plan
from althaia.cpython.primitives cimport althaia_inline_cache
from althaia.engine.objects.object_reader cimport Readings
from althaia.engine.plan.instance_dict cimport InstanceDict
from althaia.engine.timing cimport Stopwatch
from althaia.formats.sink cimport Record, Sink

cdef enum:
    # The most characters that FixedText.format_into may write.
    LONGEST_TEXT = 40


cdef class DumpFrame:
    """One schema in one call: the schema, its plan and the frames of its nested schemas."""
    cdef readonly object schema
    cdef DumpPlan plan
    # The schema's dictionary when the call began. A lazy instance has its own fields in it.
    cdef InstanceDict state
    cdef object many
    cdef bint large
    cdef list children
    # The result of times_rebound() when the frame of a nested schema was opened.
    cdef int64_t bound
    cdef Record record
    cdef Readings readings
    # Runs while an object is measured.
    cdef Stopwatch stopwatch


cdef class DumpStep:
    cdef readonly object field
    cdef public object attr, key, default
    cdef public int source
    cdef public str name, why
    cdef public tuple path
    # Where the step found the value in the last object, see cpython/inline_cache.h.
    cdef althaia_inline_cache cache
    # The index in `frame.children` of the schema's own field for this step; -1 if no user code
    # gets to see the field.
    cdef public int own_slot
    cdef object own_field(self, DumpFrame frame)
    cdef object convert(self, object value, object obj, DumpFrame frame)
    cdef bint write(self, object value, object obj, DumpFrame frame, Sink sink) except -1


cdef class FixedText(DumpStep):
    cdef Py_ssize_t format_into(self, object value, char* at) except -1


cdef class DumpPlan(Plan):
    # For each step the name that an object reader may read, see objects/object_reader.pyx.
    cdef tuple names
    cdef readonly bint straight
    # True if the keys differ and dict_class is dict or OrderedDict: a sink needs no dictionary.
    cdef bint has_record
    cdef Record record


cdef bint is_quiet(DumpPlan plan) except -1
cdef bint has_quiet_steps(object step) except -1
cdef bint holds_schema(object step) except -1
cdef object run(DumpPlan plan, object obj, bint many, DumpFrame frame)
cdef object run_with_hooks(DumpPlan plan, object obj, object many, DumpFrame frame)
cdef int write(DumpPlan plan, object obj, bint many, DumpFrame frame, Sink sink) except -1
cdef bint write_with_hooks(
    DumpPlan plan, object obj, object many, DumpFrame frame, Sink sink
) except -1
cdef DumpFrame open_frame(DumpPlan plan, object schema)
