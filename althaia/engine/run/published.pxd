from althaia.engine.plan.plan cimport Plan


cdef Plan valid_plan(object schema, int direction)

# The engine's way to a plan that a parent's plan has reached: found or built, or None.
ctypedef Plan (*Finder)(object schema, int direction, bint large)
cdef void find_plans_with(Finder finder)
cdef Plan plan_of(object schema, int direction, bint large)
