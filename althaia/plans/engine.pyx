# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Find, build, publish and drop plans; the functions behind the seam.

A plan is built when a schema is used for the second time, or at once where a collection
makes it worth while: building costs as much as some twenty fields dumped by upstream.
A plan that is dropped again and again is built less and less often.
"""

from types import ModuleType

from althaia import seam
from althaia.config import settings
from althaia.plans import analyse, analyse_class
from althaia.plans import construction as _construction
from althaia.plans import lazy as _lazy
from althaia.plans import models as _models
from althaia.plans import prototypes as _prototypes
from althaia.plans import strict as _strict
from althaia.plans import upstream as _upstream
from althaia.plans.kinds import KINDS
from althaia.plans.statistics import by_class
from althaia.sinks import json as _json
from althaia.sinks import msgpack as _msgpack
from althaia.sinks import standard as _standard

from althaia.plans.dump cimport (
    DumpFrame,
    DumpPlan,
    open_frame,
    run,
    run_with_hooks,
    write_with_hooks,
)
from althaia.plans.lazy cimport prototype_to_plan
from althaia.plans.load cimport (
    LoadPlan,
    load_items,
    load_whole,
    open_load_frame,
    plannable_partial,
)
from althaia.plans.load_step cimport LoadFrame
from althaia.plans.models cimport model_of
from althaia.plans.plan cimport Plan, find_plans_with, valid_plan
from althaia.plans.primitives cimport (
    althaia_count,
    althaia_enter,
    althaia_leave,
    althaia_type_lookup,
)
from althaia.plans.state cimport DUMP, LOAD, InstanceDict, instance_dict
from althaia.plans.statistics cimport Counters, Statistics, statistics_of
from althaia.plans.upstream cimport Upstream, marshmallow
from althaia.sinks.json cimport open_json
from althaia.sinks.msgpack cimport open_msgpack
from althaia.sinks.sink cimport Sink
from althaia.sources.reader cimport read
from althaia.sources.tape cimport ARRAY, Tape

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        void* tp_descr_get

cdef object DECLINED = seam.DECLINED
cdef object JSON_DUMPS = _standard.DUMPS
cdef object OWN_JSON_DUMPS = _json.dumps
cdef object OWN_MSGPACK_DUMPS = _msgpack.dumps
# What building costs, in objects that upstream's compiled code dumps.
cdef int LARGE = 24
cdef int LONGEST_WAIT = 1024
# One call asks twice where it declines: Schema.dump and the Schema._serialize it goes on to.
cdef int FIRST_WAIT = 3
# Instances of a class whose plans are built at the second use, whatever became of the plans.
cdef int FIRST_INSTANCES = 4
cdef bint at_once = False
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


def stats():
    """See :func:`althaia.stats`."""
    return by_class()


def connect():
    """Load what upstream defined and take the seam's hooks.

    Called once, by the seam, when a hook is reached for the first time.
    """
    cdef Upstream upstream = _upstream.load()
    upstream.kinds = analyse.by_function(upstream, KINDS)
    _upstream.connect(upstream)
    find_plans_with(usable_plan)
    _lazy.examine_with(examine)
    _models.examine_with(examine_model)
    if settings().strict:
        be_strict(True)
    seam.created = _lazy.created
    seam.construct = _construction.construct
    seam.dump = dump
    seam.dumps = dumps
    seam.dump_bytes = dump_bytes
    seam.serialize = serialize
    seam.load = load
    if upstream.is_known("schema.Schema.loads"):
        seam.loads = loads
    seam.deserialize = deserialize


def examine(cls, schema):
    """Whether the instances of a schema class may be lazy: a guard, or None and why."""
    return analyse_class.examine(marshmallow, cls, schema)


def examine_model(schema):
    """What a model of an instance that was built in full rests on: a guard, or None and why."""
    return analyse_class.examine_model(marshmallow, schema)


# ---- Finding and building -----------------------------------------------------------


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


cdef bint is_plainly_true(object flag):
    """Whether a flag is true without asking an object of the user's."""
    return (type(flag) is bool or type(flag) is int) and flag


cdef bint is_large(object obj, object many):
    """Whether one call is likely to repay the building of a plan."""
    if obj is None or not is_plainly_true(many):
        return False
    if type(obj) is list:
        return len(<list>obj) >= LARGE
    if type(obj) is tuple:
        return len(<tuple>obj) >= LARGE
    return True


cdef Plan find(object schema, int direction, bint large):
    """The plan for this call, built where that pays, or None."""
    cdef Plan plan = valid_plan(schema, direction)
    return find_anew(schema, direction, large) if plan is None else plan


cdef int drop(object schema, InstanceDict state, int direction) except -1:
    """Drop a plan that does not hold any more."""
    cdef Counters counters = counters_of(schema, direction)
    althaia_count(&counters.invalidated, 1)
    state.publish(direction, None)
    state.drops[direction] += 1
    state.waits[direction] = min(1 << min(state.drops[direction], 10), LONGEST_WAIT)
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
    return FIRST_WAIT + max(0, min(counters.built - FIRST_INSTANCES, 2 * LARGE))


cdef bint is_due(object schema, InstanceDict state, int direction):
    """Whether the uses so far are reason enough for a plan.

    A schema waits for its second use, and the longer the more plans it has invalidated.
    """
    # Read once: threads that count down together may lose a use, but never pass by 0.
    cdef int wait = state.waits[direction]
    if wait == 0 and state.drops[direction] == 0:
        wait = first_wait(schema, direction)
    if wait > 0:
        wait -= 1
    state.waits[direction] = wait
    return wait == 0


cdef bint may_publish(object schema, plan, Counters counters) except -1:
    """Count a new plan; False where it cannot be watched."""
    if plan.guard.unwatchable() is not None:
        return False
    if strict:
        _strict.check(marshmallow, schema, plan)
    althaia_count(&counters.built, 1)
    if plan.declined:
        althaia_count(&counters.declined, 1)
    return True


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
    first = state.waits[direction] == 0 and state.drops[direction] == 0
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
    if not is_due(schema, state, direction) and not large and not at_once:
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
    drop_stale(schema, state, LOAD if direction == DUMP else DUMP)
    plan = build_plan(schema, direction)
    if not may_publish(schema, plan, <Counters>plan.statistics):
        return None
    state.publish(direction, plan)
    return plan


cdef Py_ssize_t count(object obj, object many, object result):
    """How many objects a call was given, as far as that can be known without asking them."""
    if obj is None or not is_plainly_true(many):
        return 1
    if type(obj) is list:
        return len(<list>obj)
    if type(obj) is tuple:
        return len(<tuple>obj)
    return len(<list>result) if type(result) is list else 0


# ---- Behind the seam ----------------------------------------------------------------


cdef inline Plan whole_plan(object schema, int direction, object obj, object many):
    """The plan that stands for all of ``Schema.dump`` or ``Schema._do_load``.

    None where upstream's code runs, which is counted.
    """
    cdef Plan plan = valid_plan(schema, direction)
    cdef Counters counters
    if plan is None:
        plan = find_anew(
            schema, direction, is_large(obj, plain_many(schema) if many is None else many)
        )
        if plan is None:
            counters = counters_of(schema, direction)
            althaia_count(&counters.unplanned, 1)
            return None
    if plan.whole:
        return plan
    if plan.declined:
        counters = <Counters>plan.statistics
        althaia_count(&counters.unplanned, 1)
    return None


cdef inline Plan inner_plan(object schema, int direction, object obj, object many):
    """The plan that stands for ``Schema._serialize`` or ``Schema._deserialize``, or None."""
    cdef Plan plan = valid_plan(schema, direction)
    if plan is None:
        plan = find_anew(schema, direction, is_large(obj, many))
        if plan is None and is_plainly_true(many):
            count_once(schema, direction, obj)
    return None if plan is None or plan.declined else plan


cdef int count_once(object schema, int direction, object obj) except -1:
    """Make one use of a collection that upstream goes through: it asks again for each item."""
    cdef InstanceDict state = plan_holder(schema)
    if state is not None and state.waits[direction] > 0:
        if type(obj) is list or type(obj) is tuple:
            state.waits[direction] += <int>min(len(obj), LARGE)
    return 0


def dump(schema, obj, many):
    """``Schema.dump``: the dumped object(s), hooks included, or DECLINED."""
    cdef DumpPlan plan = <DumpPlan>whole_plan(schema, DUMP, obj, many)
    cdef Counters counters
    cdef DumpFrame frame
    if plan is None:
        return DECLINED
    many = schema.many if many is None else bool(many)
    counters = <Counters>plan.statistics
    althaia_count(&counters.calls, 1)
    althaia_enter()
    try:
        frame = open_frame(plan, schema)
        frame.large = is_large(obj, many)
        result = run_with_hooks(plan, obj, many, frame)
    finally:
        althaia_leave()
    althaia_count(&counters.objects, count(obj, many, result))
    return result


cdef Sink sink_for(DumpPlan plan, dict options):
    """What the schema's render module writes with, where it is ``json`` or ours; else None."""
    cdef object form = (<object>plan.opts).__dict__.get("render_module")
    if type(form) is not ModuleType:
        return None
    write = (<dict>form.__dict__).get("dumps")
    if write is JSON_DUMPS or write is OWN_JSON_DUMPS:
        return open_json(options)
    return open_msgpack(options) if write is OWN_MSGPACK_DUMPS else None


cdef object written(object schema, object obj, object many, dict options, bint as_bytes):
    """The text or bytes of an object or a collection, hooks included, or DECLINED."""
    cdef DumpFrame frame
    cdef Sink sink
    cdef Counters counters
    cdef DumpPlan plan = <DumpPlan>valid_plan(schema, DUMP)
    if plan is None and is_large(obj, plain_many(schema) if many is None else many):
        # A small one is left to Schema.dump, which counts it.
        plan = <DumpPlan>find_anew(schema, DUMP, True)
    if plan is None or not plan.straight:
        return DECLINED
    sink = sink_for(plan, options)
    if sink is None:
        return DECLINED
    many = schema.many if many is None else bool(many)
    counters = <Counters>plan.statistics
    althaia_count(&counters.calls, 1)
    althaia_count(&counters.straight, 1)
    althaia_enter()
    try:
        frame = open_frame(plan, schema)
        frame.large = is_large(obj, many)
        write_with_hooks(plan, obj, many, frame, sink)
        althaia_count(&counters.objects, count(obj, many, None))
        return sink.finished_bytes() if as_bytes else sink.finished()
    finally:
        althaia_leave()


def dumps(schema, obj, args, many, options):
    """``Schema.dumps``: what the render module would return, hooks included, or DECLINED."""
    return DECLINED if args else written(schema, obj, many, options, False)


def dump_bytes(schema, obj, many, options):
    """:func:`althaia.json.dump_bytes`: the same as bytes, or DECLINED."""
    return written(schema, obj, many, options, True)


def serialize(schema, obj, many):
    """``Schema._serialize``: the serialized object(s), or DECLINED."""
    cdef DumpPlan plan = <DumpPlan>inner_plan(schema, DUMP, obj, many)
    cdef Counters counters
    cdef DumpFrame frame
    if plan is None or not isinstance(many, bool):
        return DECLINED
    if many and obj is not None and not plan.many_allowed:
        return DECLINED
    counters = <Counters>plan.statistics
    althaia_count(&counters.calls, 1)
    althaia_enter()
    try:
        frame = open_frame(plan, schema)
        frame.large = is_large(obj, many)
        result = run(plan, obj, many, frame)
    finally:
        althaia_leave()
    althaia_count(&counters.objects, count(obj, many, result))
    return result


def load(schema, data, many, partial, unknown, bint postprocess):
    """``Schema._do_load``: the loaded object(s), hooks and validation included, or DECLINED."""
    cdef LoadPlan plan = <LoadPlan>whole_plan(schema, LOAD, data, many)
    cdef Counters counters
    cdef LoadFrame frame
    if plan is None:
        return DECLINED
    many = schema.many if many is None else bool(many)
    if unknown is None:
        unknown = schema.unknown
    if partial is None:
        partial = schema.partial
    if not plannable_partial(partial):
        return DECLINED
    counters = <Counters>plan.statistics
    althaia_count(&counters.calls, 1)
    althaia_count(
        &counters.objects,
        len(<list>data) if type(data) is list and is_plainly_true(many) else 1,
    )
    althaia_enter()
    try:
        frame = open_load_frame(plan, schema, many, partial, unknown)
        frame.large = is_large(data, many)
        return load_whole(plan, data, frame, postprocess)
    finally:
        althaia_leave()


def loads(schema, text, many, partial, unknown, dict options):
    """In ``Schema.loads``: the loaded object(s), read straight from parsed text, or DECLINED.

    Where there is no plan for that, ``Schema.load`` is called as upstream does.
    """
    cdef LoadPlan plan
    cdef Tape tape
    if options or has_getter(althaia_type_lookup(type(schema), "opts")):
        return DECLINED
    tape = read(render_module(schema.opts), text)
    if tape is None:
        return DECLINED
    plan = <LoadPlan>valid_plan(schema, LOAD)
    if plan is None and (at_once or is_long(tape, schema, many)):
        plan = <LoadPlan>find_anew(schema, LOAD, True)
    if (
        plan is None
        or not plan.whole
        or not plan.nestable
        or (partial is None and has_getter(althaia_type_lookup(type(schema), "partial")))
        or not plannable_partial(schema.partial if partial is None else partial)
    ):
        return schema.load(tape.make(0), many=many, partial=partial, unknown=unknown)
    return load_text(plan, schema, tape, many, partial, unknown)


cdef object load_text(
    LoadPlan plan, object schema, Tape tape, object many, object partial, object unknown
):
    """What :func:`load` returns for parsed text."""
    cdef Counters counters = <Counters>plan.statistics
    cdef LoadFrame frame
    many = schema.many if many is None else bool(many)
    if unknown is None:
        unknown = schema.unknown
    if partial is None:
        partial = schema.partial
    althaia_count(&counters.calls, 1)
    althaia_count(&counters.straight, 1)
    althaia_count(&counters.objects, length_of(tape) if is_plainly_true(many) else 1)
    althaia_enter()
    try:
        frame = open_load_frame(plan, schema, many, partial, unknown)
        frame.large = is_plainly_true(many) and length_of(tape) >= LARGE
        frame.tape = tape
        return load_whole(plan, None, frame, True)
    finally:
        althaia_leave()


cdef bint has_getter(object attribute):
    """Whether reading an attribute of a class from an instance runs somebody's code."""
    cdef object cls = type(attribute)
    return (<PyTypeObject*>cls).tp_descr_get is not NULL


cdef object render_module(object options):
    """``options.render_module`` where it is an ordinary attribute, else None."""
    if (
        type(options).__getattribute__ is not object.__getattribute__
        or althaia_type_lookup(type(options), "render_module") is not None
    ):
        return None
    return options.render_module


cdef Py_ssize_t length_of(Tape tape):
    """How many objects a text holds that is a collection of some."""
    return tape.slots[0].size if tape.slots[0].kind == ARRAY else 1


cdef bint is_long(Tape tape, object schema, object many):
    """:func:`is_large` for parsed text."""
    return length_of(tape) >= LARGE and is_plainly_true(
        plain_many(schema) if many is None else many
    )


def deserialize(schema, data, error_store, bint many, partial, unknown, index):
    """``Schema._deserialize``: the deserialized object(s), or DECLINED."""
    cdef LoadPlan plan = <LoadPlan>inner_plan(schema, LOAD, data, many)
    cdef Counters counters
    cdef LoadFrame frame
    if (
        plan is None
        or (many and not plan.many_allowed)
        or not plannable_partial(partial)
        or type(error_store) is not marshmallow.schema["ErrorStore"]
    ):
        return DECLINED
    counters = <Counters>plan.statistics
    althaia_count(&counters.calls, 1)
    frame = open_load_frame(plan, schema, many, partial, unknown)
    frame.large = is_large(data, many)
    frame.store = error_store
    frame.index = index
    althaia_enter()
    try:
        return load_items(plan, data, -1, many, frame)
    finally:
        althaia_leave()
