# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Find, build, publish and drop plans.

A plan is built when a schema has been used a few times, or at once where a collection makes it
worth while: building costs as much as some twenty objects dumped by upstream, and a class that is
made inside a call is never used again.
A plan that is dropped again and again is built less and less often.
"""

from althaia.engine.analysis import steps as analyse
from althaia.engine.analysis import schema_class as analyse_class
from althaia.engine.instances import lazy as _lazy
from althaia.engine.instances import model as _models
from althaia.engine.instances import prototype as _prototypes
from althaia.engine import outside as _outside
from althaia.engine import strict as _strict

from libc.stdint cimport int64_t

from althaia.engine.instances.lazy cimport prototype_to_plan
from althaia.engine.instances.model cimport model_of
from althaia.engine.plan.plan cimport Plan
from althaia.engine.run.published cimport find_plans_with, valid_plan
from althaia.cpython.primitives cimport (
    althaia_count,
    althaia_counted,
    althaia_read_int,
    althaia_write_int,
)
from althaia.engine.plan.instance_dict cimport DUMP, LOAD, InstanceDict, instance_dict
from althaia.engine.statistics cimport Counters, Statistics, statistics_of
from althaia.engine.upstream cimport marshmallow

cdef int LONGEST_WAIT = 1024
# One call asks twice where it declines: Schema.dump and the Schema._serialize it goes on to.
cdef int FIRST_WAIT = 9
# Instances of a class whose plans are built so early, whatever became of the plans.
cdef int FIRST_INSTANCES = 4
at_once = False
cdef bint share_at_once = False
cdef bint strict = False


def build_at_once(bint on):
    """Build every plan at its schema's first use, whether that pays or not; for tests."""
    global at_once
    at_once = on
    _lazy.build_at_once(on)
    _prototypes.build_at_once(on)


def build_models_at_once(bint on):
    """Go by a model from a class's first instance on, not by plans of its own; for tests."""
    global share_at_once
    share_at_once = on
    _models.build_at_once(on)


def be_strict(bint on):
    """Make a declined plan or field of upstream's own an error, as ``ALTHAIA_STRICT`` does.

    Plans are then built, and instances lazy, from the first use on: a schema used once would never
    be looked at, and a short test would not run what a long-running service does.
    """
    global strict
    strict = on
    build_at_once(on)


def connect():
    """Have the layers below ask here for plans, and for what a schema class rests on.

    Called once upstream's names are known.
    """
    find_plans_with(usable_plan)
    _lazy.examine_with(examine)
    _models.examine_with(examine_model)


def examine(cls, schema):
    """Whether the instances of a schema class may be lazy: a guard, or None, why, and a guard of
    that."""
    return analyse_class.examine(marshmallow, cls, schema)


def examine_model(schema):
    """What a model of an instance that was built in full rests on: a guard, or None and why."""
    return analyse_class.examine_model(marshmallow, schema)


cdef Plan usable_plan(object schema, int direction, bint large):
    """The plan of a schema that a parent's plan has reached, or None."""
    cdef Plan plan = find(schema, direction, large)
    return None if plan is None or plan.declined else plan


cdef Counters counters_of(object schema, int direction):
    cdef Statistics statistics = statistics_of(type(schema))
    return statistics.load if direction == LOAD else statistics.dump


def build(schema):
    """Analyse a schema whatever has been published for it: a :class:`DumpPlan`."""
    return build_plan(schema, DUMP)


def build_load(schema):
    """Analyse a schema whatever has been published for it: a :class:`LoadPlan`."""
    return build_plan(schema, LOAD)


cdef Plan build_plan(object schema, int direction):
    _lazy.build_in_full(schema)
    return analyse.analyse(marshmallow, schema, direction, counters_of(schema, direction))


cdef object plain_many(object schema):
    """``schema.many`` where it is an ordinary attribute, else None; runs no user code."""
    cdef InstanceDict state = instance_dict(schema)
    return None if state is None else state.get("many")


cdef Plan find(object schema, int direction, bint large):
    """The plan for this call, built where that pays, or None."""
    cdef Plan plan = valid_plan(schema, direction)
    return find_anew(schema, direction, large) if plan is None else plan


cdef int drop(object schema, InstanceDict state, int direction) except -1:
    """Drop a plan that does not hold any more."""
    cdef Counters counters = counters_of(schema, direction)
    cdef int drops = althaia_read_int(&state.drops[direction]) + 1
    althaia_count(&counters.invalidated, 1)
    state.publish(direction, None)
    althaia_write_int(&state.drops[direction], drops)
    althaia_write_int(&state.waits[direction], min(1 << min(drops, 10), LONGEST_WAIT))
    return 0


cdef int drop_stale(object schema, InstanceDict state, int direction) except -1:
    """Drop a plan of the direction that is not asked for if it does not hold: what has been
    replaced since would live on in its guard until it is."""
    cdef Plan plan = <Plan>state.published(direction)
    if plan is not None and not plan.guard.holds(schema, state):
        drop(schema, state, direction)
    return 0


cdef int first_wait(object schema, int direction):
    """How many uses a schema waits for its first plan.

    A class that makes instance after instance, each used a few times, would pay for plans that
    nobody goes by: the more have been built, the longer the next instance waits.
    """
    cdef Counters counters = counters_of(schema, direction)
    cdef int64_t built = althaia_counted(&counters.built)
    return FIRST_WAIT + <int>max(0, min(built - FIRST_INSTANCES, 2 * LARGE))


cdef bint is_due(object schema, InstanceDict state, int direction):
    """Whether the uses so far are reason enough for a plan.

    A schema waits for its first uses, and the longer the more plans it has invalidated.
    """
    # Read once: threads that count down together may lose a use, but never pass by 0.
    cdef int wait = althaia_read_int(&state.waits[direction])
    if wait == 0 and althaia_read_int(&state.drops[direction]) == 0:
        wait = first_wait(schema, direction)
    if wait > 0:
        wait -= 1
    althaia_write_int(&state.waits[direction], wait)
    return wait == 0


cdef bint is_first_use(InstanceDict state, int direction) noexcept:
    """Whether nobody has asked for a plan of this direction before."""
    return (
        althaia_read_int(&state.waits[direction]) == 0
        and althaia_read_int(&state.drops[direction]) == 0
    )


cdef InstanceDict plan_holder(object schema):
    """The dictionary that holds a schema's plans; None where it can hold none now."""
    cdef InstanceDict state = instance_dict(schema)
    return None if state is None or state.building else state


cdef Plan find_anew(object schema, int direction, bint large):
    """Drop the plan that does not hold any more; build another where that pays.

    While it does not, a lazy instance or one like others goes by a plan that they share.
    """
    cdef InstanceDict state = plan_holder(schema)
    cdef object model
    cdef bint first
    if state is None:
        return None
    if state.prototype is not None:
        prototype = prototype_to_plan(schema, state)
        if prototype is not None:
            return find_own(prototype, direction, large)
    drop_published(schema, state, direction)
    first = is_first_use(state, DUMP) and is_first_use(state, LOAD)
    if not is_due(schema, state, direction):
        model = None
        if share_at_once or not at_once:
            model = model_of(schema, state, direction, first)
        if model is not None:
            return find_own(model, direction, large)
        if not large and not at_once:
            return None
    return build_and_publish(schema, state, direction)


cdef Plan find_own(object schema, int direction, bint large):
    """The plan of a schema that stands for others: its own or none, whose steps know its fields."""
    cdef Plan plan = valid_plan(schema, direction)
    cdef InstanceDict state
    if plan is not None:
        return plan
    state = plan_holder(schema)
    if state is None:
        return None
    drop_published(schema, state, direction)
    # Others have been used before there was one that stands for them: its first plan is due.
    if (
        not is_first_use(state, direction)
        and not is_due(schema, state, direction)
        and not large
        and not at_once
    ):
        return None
    return build_and_publish(schema, state, direction)


cdef int drop_published(object schema, InstanceDict state, int direction) except -1:
    """Drop a plan that was found not to hold."""
    if state.published(direction) is not None:
        drop(schema, state, direction)
        drop_stale(schema, state, LOAD if direction == DUMP else DUMP)
    return 0


cdef Plan build_and_publish(object schema, InstanceDict state, int direction):
    cdef Plan plan
    cdef Counters counters
    drop_stale(schema, state, LOAD if direction == DUMP else DUMP)
    plan = build_plan(schema, direction)
    if strict:
        _strict.check(marshmallow, schema, plan)
    counters = <Counters>plan.statistics
    althaia_count(&counters.built, 1)
    if plan.declined:
        althaia_count(&counters.declined, 1)
    counters.why = plan.declined
    _outside.tell(plan, "load" if direction == LOAD else "dump")
    state.publish(direction, plan)
    return plan
