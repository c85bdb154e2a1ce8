# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Find, build, publish and drop plans; the functions behind the seam.

A plan is built when a schema is used for the second time, or at once where a collection
makes it worth while: building costs as much as some twenty fields dumped by upstream.
A plan that is dropped again and again is built less and less often.
"""

import sys

from althaia import seam
from althaia.config import settings
from althaia.plans import analyse_dump, dump as _dump
from althaia.plans import strict as _strict
from althaia.plans import upstream as _upstream
from althaia.plans.statistics import by_class

from althaia.plans.dump cimport DumpPlan, Frame, open_frame, run, run_with_hooks, valid_plan
from althaia.plans.guards cimport InstanceDict, instance_dict
from althaia.plans.primitives cimport althaia_enter, althaia_leave
from althaia.plans.statistics cimport Counters, Statistics, statistics_of

cdef object DECLINED = seam.DECLINED
cdef object upstream = None
cdef int LARGE = 8
cdef int LONGEST_WAIT = 1024
cdef bint at_once = False
cdef bint strict = False


def build_at_once(bint on):
    """Build every plan at its schema's first use, whether that pays or not; for tests."""
    global at_once
    at_once = on


def be_strict(bint on):
    """Make a declined plan or field of upstream's own an error, as ``ALTHAIA_STRICT`` does.

    Plans are then built at first use, or a schema used once would never be looked at.
    """
    global strict, at_once
    strict = at_once = on


def stats():
    """See :func:`althaia.stats`."""
    return by_class()


def connect():
    """Load what upstream defined and take the seam's hooks.

    Called once, by the seam, when a hook is reached for the first time.
    """
    global upstream
    upstream = _upstream.load()
    _dump.connect(upstream.missing, plan_of)
    if settings().strict:
        be_strict(True)
    seam.dump = dump
    seam.serialize = serialize


def plan_of(schema):
    """The dump plan of a schema that a parent's plan has reached, or None."""
    cdef DumpPlan plan = find(schema, False)
    return None if plan is None or plan.declined else plan


cdef Counters dump_counters(object schema):
    cdef Statistics statistics = statistics_of(type(schema))
    return statistics.dump


def build(schema):
    """Analyse a schema whatever has been published for it: a :class:`DumpPlan`."""
    return analyse_dump.analyse(upstream, schema, dump_counters(schema))


cdef object plain_many(object schema):
    """``schema.many`` where it is an ordinary attribute, else None; runs no user code."""
    cdef InstanceDict state = instance_dict(schema)
    return None if state is None else state.get("many")


cdef bint is_large(object obj, object many):
    """Whether one call is likely to repay the building of a plan."""
    if not many or obj is None:
        return False
    if type(obj) is list:
        return len(<list>obj) >= LARGE
    if type(obj) is tuple:
        return len(<tuple>obj) >= LARGE
    return True


cdef DumpPlan find(object schema, bint large):
    """The plan for this call, built where that pays, or None."""
    cdef DumpPlan plan = valid_plan(schema)
    if plan is not None:
        return plan
    return find_anew(schema, large)


cdef DumpPlan find_anew(object schema, bint large):
    cdef InstanceDict state = instance_dict(schema)
    cdef DumpPlan plan
    cdef Counters counters
    if state is None:
        return None
    if state.dump_plan is not None:
        counters = dump_counters(schema)
        counters.invalidated += 1
        state.dump_plan = None
        state.dump_drops += 1
        state.dump_wait = min(1 << min(state.dump_drops, 10), LONGEST_WAIT)
    elif state.dump_drops == 0 and state.dump_wait == 0:
        state.dump_wait = 2
    if state.dump_wait > 0:
        state.dump_wait -= 1
    if state.dump_wait > 0 and not large and not at_once:
        return None
    plan = build(schema)
    if plan.guard.unwatchable() is not None:
        return None
    if strict:
        _strict.check(upstream, schema, plan)
    counters = <Counters>plan.statistics
    counters.built += 1
    if plan.declined:
        counters.declined += 1
    # The one store that publishes.
    state.dump_plan = plan
    return plan


cdef Py_ssize_t count(object obj, bint many, object result):
    """How many objects a call was given, as far as that can be known without asking them."""
    if not many or obj is None:
        return 1
    if type(obj) is list:
        return len(<list>obj)
    if type(obj) is tuple:
        return len(<tuple>obj)
    return len(<list>result) if type(result) is list else 0


def dump(schema, obj, many):
    """``Schema.dump``: the dumped object(s), hooks included, or DECLINED."""
    cdef DumpPlan plan = valid_plan(schema)
    cdef Counters counters
    if plan is None:
        plan = find_anew(schema, is_large(obj, plain_many(schema) if many is None else many))
        if plan is None:
            counters = dump_counters(schema)
            counters.unplanned += 1
            return DECLINED
    counters = <Counters>plan.statistics
    if not plan.whole:
        if plan.declined:
            counters.unplanned += 1
        return DECLINED
    many = schema.many if many is None else bool(many)
    counters.calls += 1
    althaia_enter()
    try:
        result = run_with_hooks(plan, obj, many, open_frame(plan, schema))
    finally:
        althaia_leave()
    counters.objects += count(obj, many, result)
    return result


def serialize(schema, obj, many):
    """``Schema._serialize``: the serialized object(s), or DECLINED."""
    cdef DumpPlan plan = valid_plan(schema)
    cdef Counters counters
    if plan is None:
        plan = find_anew(schema, is_large(obj, many))
        if plan is None:
            return DECLINED
    if plan.declined or (many and obj is not None and not plan.many_allowed):
        return DECLINED
    counters = <Counters>plan.statistics
    counters.calls += 1
    althaia_enter()
    try:
        result = run(plan, obj, bool(many), open_frame(plan, schema))
    finally:
        althaia_leave()
    counters.objects += count(obj, many, result)
    return result
