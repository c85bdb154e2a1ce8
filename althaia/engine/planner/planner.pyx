"""Find, build, publish and drop plans.

Making a plan takes about as long as the plan saves in fifteen calls. Hence a schema gets its first
plan in its sixteenth call, or at once if it dumps or loads a large collection. A prototype gets it
in its first call, because it stands for many instances. A class that is created inside a call is
seldom called so often. Each time that a plan is dropped, the schema waits longer for the next one.
"""

cdef extern from "althaia/cpython/layout.h":
    void* althaia_dict_there(object obj)

cdef extern from "Python.h":
    object PyObject_GenericGetAttr(object obj, object name)

# The call of a schema that makes its first plan; pages name it.
cdef int FIRST_PLAN = 16
# The wait for a plan is counted in look-ups. A call without a plan makes two of them: Schema.dump,
# and Schema._serialize, which it calls.
cdef int LOOK_UPS = 2
cdef int FIRST_WAIT = LOOK_UPS * (FIRST_PLAN - 1) + 1
cdef int LONGEST_WAIT = 1024
# The number of instances of a class that get a plan after FIRST_WAIT look-ups. Later ones wait
# longer.
cdef int FIRST_INSTANCES = 4


cdef Plan usable_plan(schema, int direction, bint large):
    """Return the plan of a nested schema, or None if upstream's code must run."""
    cdef Plan plan = valid_plan(schema, direction)
    if plan is None:
        plan = plan_anew(schema, direction, large)
    return None if plan is None or plan.declined else plan


def build(schema, str direction="dump"):
    """Return a new plan of a schema for ``"dump"`` or ``"load"``, without publishing it."""
    return build_plan(schema, LOAD if direction == "load" else DUMP)


cdef Plan build_plan(schema, int direction):
    materialise_if_lazy(schema)
    return analyse(upstream, schema, direction, counters_of(schema, direction))


cdef plain_many(schema):
    """Return ``schema.many``, or None if reading it would run user code."""
    cdef InstanceDict state
    if althaia_type_lookup(type(schema), "many") is None:
        # instance_dict() would create the dictionary; see note_first_call().
        try:
            return PyObject_GenericGetAttr(schema, "many")
        except AttributeError:
            return None
    state = instance_dict(schema)
    return None if state is None else state.get("many")


cdef bint note_first_call(schema, int direction, bint inside) except -1:
    """Return whether nothing is prepared for a call: it is the first one of an instance that was
    built in full. Make its dictionary, which shows from then on that there was one.

    Most instances that are built in full are used once, so that a place for plans would be wasted.
    CPython stores the attributes of an instance in the object as long as nobody asks for its
    dictionary. The second look-up of the first call makes that; the first does so where a class's
    calls make no second one.

    :param inside: whether ``Schema._serialize`` or ``Schema._deserialize`` asks; ``Schema.dump`` or
        ``Schema._do_load``, which call them, have asked before.
    """
    if everything_at_once or not ALTHAIA_HAS_GIL or althaia_dict_there(schema) is not NULL:
        return False
    cdef Counters counters = counters_of(schema, direction)
    counters.unanswered = 0 if inside else counters.unanswered + 1
    if inside or counters.unanswered > FIRST_PLAN:
        made_dict(schema)
    return True


cdef int drop(schema, InstanceDict state, int direction):
    """Drop a plan whose guard no longer holds, and lengthen the wait for the next."""
    cdef Counters counters = counters_of(schema, direction)
    cdef int drops = althaia_read_int(&state.drops[direction]) + 1
    althaia_count(&counters.invalidated, 1)
    state.publish(direction, None)
    althaia_write_int(&state.drops[direction], drops)
    althaia_write_int(&state.waits[direction], min(1 << min(drops, 10), LONGEST_WAIT))


cdef int drop_stale(schema, InstanceDict state, int direction):
    """Drop the plan of the other direction if its guard no longer holds.

    The guard owns references to the replaced objects and would keep them alive.
    """
    cdef Plan plan = <Plan>state.published(direction)
    if plan is not None and not plan.guard.holds(schema, state):
        drop(schema, state, direction)


cdef int first_wait(schema, int direction):
    """Return how many look-ups a schema waits for its first plan.

    If a program creates many instances of a class and uses each a few times, their plans do not pay
    off. Hence the wait grows with the number of plans that were built for the class.
    """
    cdef Counters counters = counters_of(schema, direction)
    cdef int64_t built = althaia_counted(&counters.built)
    return FIRST_WAIT + <int>max(0, min(built - FIRST_INSTANCES, 2 * LARGE))


cdef bint is_due(schema, InstanceDict state, int direction):
    """Count one look-up, and return whether a plan is due."""
    # Read the counter once: two threads that count together may lose a look-up, but cannot skip 0.
    cdef int wait = althaia_read_int(&state.waits[direction])
    if wait == 0 and althaia_read_int(&state.drops[direction]) == 0:
        wait = first_wait(schema, direction)
    if wait > 0:
        wait -= 1
    althaia_write_int(&state.waits[direction], wait)
    return wait == 0


cdef InstanceDict plan_holder(schema, int direction):
    """Return the instance dictionary that holds a schema's plans, None if it can hold none."""
    cdef InstanceDict state = existing_dict(schema)
    cdef bint was_called = state is None and althaia_dict_there(schema) is not NULL
    if state is None:
        state = instance_dict(schema)
    if was_called and state is not None:
        # The look-ups of its first call were not counted.
        althaia_write_int(&state.waits[direction], first_wait(schema, direction) - LOOK_UPS)
    return state


cdef Plan plan_anew(schema, int direction, bint large):
    """Return the plan that a schema runs from now on, a prototype's or its own, if that pays. Drop
    its own one that no longer holds."""
    cdef InstanceDict state = plan_holder(schema, direction)
    prototype = None
    if state is None:
        return None
    if lacks_attributes(state):
        prototype = prototype_to_plan(schema, state)
    if prototype is None:
        drop_published(schema, state, direction)
        if is_due(schema, state, direction):
            return build_and_publish(schema, state, direction)
        prototype = hooked_prototype(schema, state, direction)
    if prototype is not None:
        return plan_of_prototype(prototype, direction, large)
    return build_and_publish(schema, state, direction) if large or everything_at_once else None


cdef Plan plan_of_prototype(schema, int direction, bint large):
    """Return the plan of a prototype. Its first one is due at once (``hidden_dict`` in
    ``instances/blueprint.pyx``), later ones wait."""
    # Whether a hooked prototype has one was not asked yet.
    cdef Plan plan = valid_plan(schema, direction)
    cdef InstanceDict state = existing_dict(schema)
    if plan is not None:
        return plan
    drop_published(schema, state, direction)
    if is_due(schema, state, direction) or large or everything_at_once:
        return build_and_publish(schema, state, direction)
    return None


cdef int drop_published(schema, InstanceDict state, int direction):
    """Drop the published plan, if there is one, and that of the other direction if it is stale."""
    if state.published(direction) is not None:
        drop(schema, state, direction)
        drop_stale(schema, state, LOAD if direction == DUMP else DUMP)


cdef Plan build_and_publish(schema, InstanceDict state, int direction):
    cdef Plan plan
    cdef Counters counters
    drop_stale(schema, state, LOAD if direction == DUMP else DUMP)
    plan = build_plan(schema, direction)
    counters = <Counters>plan.statistics
    althaia_count(&counters.built, 1)
    if plan.declined:
        althaia_count(&counters.declined, 1)
    elif direction == LOAD:
        for load, prepare, _ in preparations(type(schema)):
            prepare(load)
    counters.why = plan.declined
    _outside.tell(plan, "load" if direction == LOAD else "dump")
    state.publish(direction, plan)
    return plan
