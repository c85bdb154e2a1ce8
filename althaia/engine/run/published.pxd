from althaia.engine.plan.plan cimport Plan


cdef Plan valid_plan(object schema, int direction)
