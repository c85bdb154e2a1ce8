# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""The functions behind the seam: each replaces one of upstream's methods or returns DECLINED."""

from althaia import seam
from althaia.engine.planner import by_function, by_name
from althaia.engine.instances import binding, connect_lazy, construct, copied_fields, created
from althaia.engine.kinds import KINDS, PACKAGES
from althaia.engine.plan import by_class, connect_upstream, load_upstream

from althaia.engine.run cimport (
    FAILED,
    DumpFrame,
    DumpPlan,
    LoadFrame,
    LoadPlan,
    dump_items,
    dump_one,
    dump_with_hooks,
    handled_error,
    is_plain_flag,
    is_plain_partial,
    is_unseen,
    load_items,
    load_unplanned,
    load_whole_or_fail,
    many_of,
    open_dump_frame,
    open_load_frame,
    own_serialized,
    partial_of,
    unknown_of,
    valid_plan,
)
from althaia.engine.plan cimport (
    DUMP,
    EXTRAORDINARY,
    LOAD,
    Counters,
    Plan,
    Upstream,
    althaia_give_back,
    counters_of,
    option,
    upstream,
)
from althaia.engine.instances cimport everything_at_once
from althaia.engine.planner cimport (
    LARGE,
    is_large,
    is_plainly_true,
    note_first_call,
    plain_many,
    plan_anew,
)
from althaia.cpython.primitives cimport (
    althaia_count,
    althaia_enter,
    althaia_leave,
)
from althaia.formats.codec cimport ARRAY, Sink, Tape, open_sink, parse

cdef object DECLINED = seam.DECLINED


def stats(bint reset=False):
    """See :func:`althaia.stats`."""
    return by_class(reset)


def connect():
    """Load what upstream defined and take the seam's hooks.

    Called once, by the seam, when a user's first schema class is made.
    """
    cdef Upstream loaded = load_upstream()
    loaded.makers_by_function = by_function(loaded, KINDS)
    loaded.makers_by_name = by_name(PACKAGES)
    connect_upstream(loaded)
    # Set before the existing classes are read: another thread may be making one.
    seam.created = created
    connect_lazy()
    for hook in (
        construct, copied_fields, binding, dump, dumps, serialize, load, loads, deserialize
    ):
        setattr(seam, hook.__name__, hook)
    if upstream.is_known("schema.Schema.validate"):
        seam.validate = validate


# ---- Plans of a call -------------------------------------------------------------------


cdef inline Plan whole_plan(schema, int direction, obj, many):
    """Return the plan that replaces all of ``Schema.dump`` or ``Schema._do_load``.

    Return None if upstream's code must run. The call counts as unplanned then, unless the plan is
    one of ``Schema._serialize`` or ``_deserialize`` alone: these ask for it themselves.
    """
    cdef Plan plan = valid_plan(schema, direction)
    cdef Counters counters
    if plan is None:
        if many is None and type(obj) is not dict:
            many = plain_many(schema)
        if is_plainly_true(many) or not note_first_call(schema, direction, False):
            plan = plan_anew(schema, direction, is_large(obj, many))
        if plan is None:
            counters = counters_of(schema, direction)
            althaia_count(&counters.unplanned, 1)
            return None
    if plan.around:
        return plan
    if plan.declined:
        counters = <Counters>plan.statistics
        althaia_count(&counters.unplanned, 1)
    return None


cdef inline Plan inner_plan(schema, int direction, obj, many):
    """Return the plan that replaces ``Schema._serialize`` or ``Schema._deserialize``; a declined
    one if there can be none, or None if there is none yet."""
    cdef Plan plan = valid_plan(schema, direction, True)
    if plan is None and (is_plainly_true(many) or not note_first_call(schema, direction, True)):
        plan = plan_anew(schema, direction, is_large(obj, many))
    return plan


# ---- Dump ------------------------------------------------------------------------------
#
# Each call finds its plan, opens a frame and runs it. If there is no plan or no frame, upstream's
# code runs.

cdef enum Result:
    # What Schema._serialize returns, Schema.dump, Schema.dumps, and the last as bytes.
    FIELDS
    WHOLE
    TEXT
    BYTES


cdef DumpFrame opened_dump(DumpPlan plan, schema, obj, given_many):
    """Return the frame of a call, or None if there is no plan or a setting runs user code."""
    cdef DumpFrame frame
    if plan is None:
        return None
    many = many_of(schema, given_many)
    if many is EXTRAORDINARY:
        return None
    frame = open_dump_frame(plan, schema)
    frame.many = many
    frame.large = is_large(obj, many)
    return frame


cdef run_dump(DumpFrame frame, obj, Sink sink, Result wanted):
    """Run a call by its frame, count it, and return its result (for text, the sink's)."""
    cdef DumpPlan plan = frame.plan
    cdef Counters counters = <Counters>plan.statistics
    # The schema's own ``_serialize`` is no plan's work, but may come back for it.
    cdef bint counted = wanted == FIELDS or plan.whole
    althaia_count(&counters.calls, counted)
    althaia_enter()
    try:
        if wanted == FIELDS:
            result = dump_items(plan, obj, frame.many, frame, None)
        else:
            result = dump_with_hooks(plan, obj, frame.many, frame, sink)
        if sink is not None:
            althaia_count(&counters.straight, 1)
            if not result:
                # There is nothing to write; the sink raises the render module's own error.
                sink.put_value(upstream.missing)
            result = sink.finished_bytes() if wanted == BYTES else sink.finished()
    finally:
        althaia_give_back(frame.growth)
        althaia_leave()
    if counted:
        althaia_count(&counters.objects, count(obj, frame.many, result) or frame.written)
    return result


cdef Py_ssize_t count(obj, many, result):
    """Return how many objects a call was given, without iterating over ``obj``."""
    if obj is None or not is_plainly_true(many):
        return 1
    if type(obj) is list:
        return len(<list>obj)
    if type(obj) is tuple:
        return len(<tuple>obj)
    return len(<list>result) if type(result) is list else 0


def dump(schema, obj, many):
    """``Schema.dump``: the dumped object(s), hooks included, or DECLINED."""
    cdef DumpPlan plan = <DumpPlan>whole_plan(schema, DUMP, obj, many)
    cdef DumpFrame frame
    if plan is not None and not plan.whole and not plan.has_hooks:
        many = many_of(schema, many)
        return DECLINED if many is EXTRAORDINARY else own_serialized(plan, obj, many, schema)
    frame = opened_dump(plan, schema, obj, many)
    return DECLINED if frame is None else run_dump(frame, obj, None, WHOLE)


def dumps(schema, obj, args, many, dict options, bint as_bytes=False):
    """``Schema.dumps``: the text, hooks included, or DECLINED."""
    cdef DumpPlan plan = None if args else straight_plan(schema, obj, many)
    cdef Sink sink = None if plan is None else open_sink(option(plan, "render_module"), options)
    cdef DumpFrame frame = None if sink is None else opened_dump(plan, schema, obj, many)
    return DECLINED if frame is None else run_dump(frame, obj, sink, BYTES if as_bytes else TEXT)


cdef DumpPlan straight_plan(schema, obj, many):
    """Return the plan that replaces all of ``Schema.dumps``, or None."""
    cdef Plan plan = valid_plan(schema, DUMP, True)
    if plan is None and is_large(obj, plain_many(schema) if many is None else many):
        # For a small one Schema.dump, which upstream calls next, counts the use.
        plan = plan_anew(schema, DUMP, True)
    return <DumpPlan>plan if plan is not None and (<DumpPlan>plan).straight else None


def serialize(schema, obj, many):
    """``Schema._serialize``: the serialized object(s), or DECLINED."""
    cdef DumpPlan plan = <DumpPlan>inner_plan(schema, DUMP, obj, many)
    cdef DumpFrame frame
    if plan is None or plan.declined:
        return dump_one(schema, obj) if many is False else DECLINED
    if (
        # In this method None is a value of its own; it does not mean the schema's setting.
        many is None
        or not is_plain_flag(many)
        or (many and obj is not None and not plan.many_allowed)
    ):
        return DECLINED
    frame = opened_dump(plan, schema, obj, many)
    return DECLINED if frame is None else run_dump(frame, obj, None, FIELDS)


# ---- Load ------------------------------------------------------------------------------


cdef LoadFrame opened_load(
    LoadPlan plan, schema, many, partial, unknown
):
    """Return the frame of a call, or None if there is no plan or a setting runs user code."""
    if plan is None:
        return None
    many = many_of(schema, many)
    partial = partial_of(schema, partial)
    unknown = unknown_of(schema, unknown)
    if many is EXTRAORDINARY or partial is EXTRAORDINARY or unknown is EXTRAORDINARY:
        return None
    return open_load_frame(plan, schema, many, partial, unknown)


cdef run_load(LoadFrame frame, data, bint postprocess):
    """Run an opened call of all of ``Schema._do_load``, count it, and return its result or FAILED.

    ``data`` is None where the frame has a tape.
    """
    cdef LoadPlan plan = <LoadPlan>frame.plan
    cdef Counters counters = <Counters>plan.statistics
    cdef Py_ssize_t objects
    if frame.tape is not None:
        objects = length_of(frame.tape, frame.many)
        frame.large = objects >= LARGE
    else:
        objects = count(data, frame.many, None)
        frame.large = is_large(data, frame.many)
    althaia_count(&counters.calls, 1)
    althaia_count(&counters.objects, objects)
    althaia_enter()
    try:
        return load_whole_or_fail(plan, data, frame, postprocess)
    finally:
        althaia_give_back(frame.growth)
        althaia_leave()


def load(schema, data, many, partial, unknown, bint postprocess):
    """``Schema._do_load``: the loaded object(s), hooks and validation included, or DECLINED."""
    cdef LoadPlan plan = <LoadPlan>whole_plan(schema, LOAD, data, many)
    cdef LoadFrame frame = opened_load(plan, schema, many, partial, unknown)
    if frame is None:
        return DECLINED
    result = run_load(frame, data, postprocess)
    if result is FAILED:
        # Here, because each function that an exception leaves takes as long as a valid field.
        raise handled_error(data, frame)
    return result


def validate(schema, data, many, partial):
    """``Schema.validate``: the messages of a load, or DECLINED.

    No exception is made for them, unless ``handle_error`` or a hook may see it.
    """
    cdef LoadPlan plan
    cdef LoadFrame frame
    plan = <LoadPlan>valid_plan(schema, LOAD, True)
    if plan is None or not plan.whole or not plan.nestable:
        return DECLINED
    frame = opened_load(plan, schema, many, partial, None)
    if frame is None:
        return DECLINED
    try:
        if run_load(frame, data, False) is not FAILED:
            return {}
        if is_unseen(plan):
            return frame.messages
        return handled_error(data, frame).messages
    except upstream.ValidationError as error:
        return error.messages


def loads(schema, text, many, partial, unknown, dict options):
    """In ``Schema.loads``: the loaded object(s), read straight from parsed text, or DECLINED.

    Where there is no plan for that, ``Schema.load`` is called as upstream does.
    """
    cdef LoadFrame frame
    cdef Tape tape
    cdef Counters counters
    tape = None if options else parse(schema.opts.render_module, text)
    if tape is None:
        return DECLINED
    if tape.failure is not None:
        raise tape.failure
    frame = opened_load(text_plan(schema, tape, many), schema, many, partial, unknown)
    if frame is None:
        return schema.load(tape.make(0), many=many, partial=partial, unknown=unknown)
    frame.tape = tape
    counters = <Counters>frame.plan.statistics
    althaia_count(&counters.straight, 1)
    result = run_load(frame, None, True)
    if result is FAILED:
        raise handled_error(None, frame)
    return result


cdef LoadPlan text_plan(schema, Tape tape, many):
    """Return the plan that replaces all of ``Schema.load``, or None."""
    cdef Plan plan = valid_plan(schema, LOAD, True)
    if plan is None:
        if many is None:
            many = plain_many(schema)
        if everything_at_once or length_of(tape, many) >= LARGE:
            plan = plan_anew(schema, LOAD, True)
    return <LoadPlan>plan if plan is not None and plan.whole and plan.nestable else None


cdef Py_ssize_t length_of(Tape tape, many):
    """Return the number of objects in parsed text."""
    return tape.slots[0].size if tape.slots[0].type == ARRAY and is_plainly_true(many) else 1


def deserialize(schema, data, error_store, many, partial, unknown, index):
    """``Schema._deserialize``: the deserialized object(s), or DECLINED."""
    cdef LoadPlan plan = <LoadPlan>inner_plan(schema, LOAD, data, many)
    cdef Counters counters
    cdef LoadFrame frame
    if plan is None or plan.declined:
        if many is False and type(data) is dict:
            return load_unplanned(schema, <dict>data, error_store, partial, unknown, index)
        return DECLINED
    if (
        # In this method None is a value of its own; it does not mean the schema's setting.
        many is None
        or not is_plain_flag(many)
        or (many and not plan.many_allowed)
        or not is_plain_partial(partial)
        or type(error_store) is not upstream.ErrorStore
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
        althaia_give_back(frame.growth)
        althaia_leave()
