"""Finds the valid plan of a schema: its own, or that of its prototype."""


cdef Plan valid_plan(schema, int direction, bint again=False):
    """Return the plan published for this schema and direction if its guard holds, else None.

    :param again: the call has asked before, or asks later: a plan which declines is not compared.
    """
    cdef InstanceDict state = existing_dict(schema)
    cdef Plan plan
    if state is None:
        return None
    if lacks_attributes(state):
        prototype = prototype_of(schema, state)
        return None if prototype is None else valid_plan(prototype, direction, again)
    plan = <Plan>state.published(direction)
    if plan is None or (again and plan.declined):
        return plan
    # Around the schema's own method no field is used; what that method calls asks again.
    holds = plan.guard.holds(schema, state, again or plan.whole or not plan.around)
    return plan if holds else None


cdef bint still_runs(schema, Plan plan, int direction):
    """Return whether a schema has the plan of this call, its own or a prototype's, after a hook."""
    cdef Plan found = valid_plan(schema, direction)
    cdef InstanceDict state = existing_dict(schema)
    if found is None and state is not None:
        prototype = hooked_prototype(schema, state, direction)
        found = None if prototype is None else valid_plan(prototype, direction)
    return found is plan
