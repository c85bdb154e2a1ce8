from althaia.engine.plan.plan cimport Plan
from althaia.engine.run.load_step cimport LoadFrame
from althaia.engine.timing cimport Nesting


cdef bint starts(Plan plan, LoadFrame frame, bint text) except -1
cdef Nesting nesting_of(LoadFrame frame)
