"""Finds the valid plan of a schema: its own, or that of its prototype."""


cdef Plan valid_plan(object schema, int direction):
    """Return the plan published for this schema and direction if its guard holds, else None."""
    cdef InstanceDict state = existing_dict(schema)
    cdef Plan plan
    if state is None:
        return None
    if is_lazy(state):
        schema = prototype_of(schema, state)
        return None if schema is None else valid_plan(schema, direction)
    plan = <Plan>state.published(direction)
    return plan if plan is not None and plan.guard.holds(schema, state) else None
