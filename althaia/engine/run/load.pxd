from althaia.engine.run.load_step cimport LoadFrame
from althaia.engine.plan.plan cimport Plan
from althaia.formats.keys cimport Keys


cdef class LoadPlan(Plan):
    cdef public bint silent_errors, has_validators, has_schema_validators, hooks_see_input
    # None until a caller asks `known_keys`.
    cdef set keys
    cdef readonly bint unique_keys
    cdef readonly Keys text_keys
    cdef set known_keys(self)
    cdef int find_text_keys(self) except -1


cdef LoadFrame open_load_frame(
    LoadPlan plan, object schema, object many, object partial, object unknown
)
cdef object load_items(LoadPlan plan, object data, bint many, LoadFrame frame)
cdef object handled_error(object data, LoadFrame frame)
cdef object load_whole_or_fail(
    LoadPlan plan, object data, LoadFrame frame, bint postprocess
)
