from althaia.engine.run.load_step cimport LoadFrame
from althaia.engine.plan.plan cimport Plan
from althaia.formats.keys cimport Keys


cdef class LoadPlan(Plan):
    cdef readonly bint silent_errors
    cdef readonly bint has_validators
    cdef readonly bint has_schema_validators
    cdef readonly bint hooks_see_input
    # None until they are asked for.
    cdef set keys
    cdef readonly bint unique_keys
    cdef readonly Keys text_keys
    cdef set known_keys(self)
    cdef int find_text_keys(self) except -1


cdef LoadFrame open_load_frame(
    LoadPlan plan, object schema, object many, object partial, object unknown
)
cdef object load_items(LoadPlan plan, object data, bint many, LoadFrame frame)
cdef object load_whole(LoadPlan plan, object data, LoadFrame frame, bint postprocess)
cdef object handled_error(object data, LoadFrame frame)
cdef object load_whole_or_fail(
    LoadPlan plan, object data, LoadFrame frame, bint postprocess
)
