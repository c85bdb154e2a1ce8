# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""The functions behind the seam: what stands for one of upstream's methods, where a plan does."""

from types import ModuleType

from althaia import seam
from althaia.switch.config import settings
from althaia.engine.analysis import steps as analyse
from althaia.engine.instances import construct as _construction
from althaia.engine.instances import lazy as _lazy
from althaia.engine.instances import nested_schema as _nested
from althaia.engine import planner
from althaia.engine import upstream as _upstream
from althaia.engine.kinds import KINDS
from althaia.engine.statistics import by_class
from althaia.formats.json import json_writer as _json
from althaia.formats.msgpack import msgpack_writer as _msgpack
from althaia.formats.json import shipped_encoder as _standard

from althaia.engine.run.dump cimport (
    DumpFrame,
    DumpPlan,
    open_frame,
    run,
    run_with_hooks,
    write_with_hooks,
)
from althaia.engine.run.load cimport (
    LoadPlan,
    load_items,
    load_whole,
    open_load_frame,
    plannable_partial,
)
from althaia.engine.run.load_step cimport LoadFrame
from althaia.engine.plan.plan cimport NOT_KEPT, Plan, kept_setting, option
from althaia.engine.run.published cimport valid_plan
from althaia.engine.planner cimport (
    LARGE,
    at_once,
    counters_of,
    find_anew,
    has_plain_truth,
    is_large,
    is_plainly_true,
    plain_many,
    plan_holder,
)
from althaia.cpython.primitives cimport (
    althaia_count,
    althaia_enter,
    althaia_leave,
    althaia_read_int,
    althaia_type_lookup,
    althaia_write_int,
)
from althaia.engine.plan.instance_dict cimport DUMP, LOAD, InstanceDict
from althaia.engine.statistics cimport Counters
from althaia.engine.upstream cimport Upstream, marshmallow
from althaia.formats.json.json_writer cimport open_json
from althaia.formats.msgpack.msgpack_writer cimport open_msgpack
from althaia.formats.sink cimport Sink
from althaia.formats.text_reader cimport read
from althaia.formats.tape cimport ARRAY, Tape

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        void* tp_descr_get

cdef object DECLINED = seam.DECLINED
cdef object JSON_DUMPS = _standard.DUMPS
cdef object OWN_JSON_DUMPS = _json.dumps
cdef object OWN_MSGPACK_DUMPS = _msgpack.dumps


def stats():
    """See :func:`althaia.stats`."""
    return by_class()


def connect():
    """Load what upstream defined and take the seam's hooks.

    Called once, by the seam, when a user's first schema class is made.
    """
    cdef Upstream upstream = _upstream.load()
    upstream.kinds = analyse.by_function(upstream, KINDS)
    _upstream.connect(upstream)
    # Before the classes that there are, are gone through: another thread may be making one.
    seam.created = _lazy.created
    planner.connect()
    if settings().strict:
        planner.be_strict(True)
    seam.construct = _construction.construct
    seam.binding = _nested.binding
    seam.dump = dump
    seam.dumps = dumps
    seam.dump_bytes = dump_bytes
    seam.serialize = serialize
    seam.load = load
    if upstream.is_known("schema.Schema.loads"):
        seam.loads = loads
    seam.deserialize = deserialize


cdef Py_ssize_t count(object obj, object many, object result):
    """How many objects a call was given, as far as that can be known without asking them."""
    if obj is None or not is_plainly_true(many):
        return 1
    if type(obj) is list:
        return len(<list>obj)
    if type(obj) is tuple:
        return len(<tuple>obj)
    return len(<list>result) if type(result) is list else 0

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


cdef inline object wanted_many(Plan plan, object schema, object many):
    """The ``many`` of a call as upstream first reads it, or the schema's where it gives none.

    ``NOT_KEPT``: user code has it, or its truth. Upstream's own code asks that, before it reads the
    other settings, and the schema's once for each hook.
    """
    if many is not None:
        return bool(many) if has_plain_truth(many) else NOT_KEPT
    many = kept_setting(plan, schema, "many")
    return many if many is None or has_plain_truth(many) else NOT_KEPT


cdef int count_once(object schema, int direction, object obj) except -1:
    """Make one use of a collection that upstream goes through: it asks again for each item."""
    cdef InstanceDict state = plan_holder(schema)
    cdef int wait
    if state is not None and (type(obj) is list or type(obj) is tuple):
        wait = althaia_read_int(&state.waits[direction])
        if wait > 0:
            althaia_write_int(&state.waits[direction], wait + <int>min(len(obj), LARGE))
    return 0


def dump(schema, obj, many):
    """``Schema.dump``: the dumped object(s), hooks included, or DECLINED."""
    cdef DumpPlan plan = <DumpPlan>whole_plan(schema, DUMP, obj, many)
    cdef Counters counters
    cdef DumpFrame frame
    if plan is None:
        return DECLINED
    many = wanted_many(plan, schema, many)
    if many is NOT_KEPT:
        return DECLINED
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


cdef object writer_of(DumpPlan plan):
    """The ``dumps`` of the schema's render module, where that is a module; else None."""
    cdef object form = option(plan, "render_module")
    return (<dict>form.__dict__).get("dumps") if type(form) is ModuleType else None


cdef Sink sink_for(object writer, dict options):
    """What a render module writes with, where it is ``json`` or ours; else None."""
    if writer is JSON_DUMPS or writer is OWN_JSON_DUMPS:
        return open_json(options)
    return open_msgpack(options) if writer is OWN_MSGPACK_DUMPS else None


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
    sink = sink_for(writer_of(plan), options)
    if sink is None:
        return DECLINED
    many = wanted_many(plan, schema, many)
    if many is NOT_KEPT:
        return DECLINED
    counters = <Counters>plan.statistics
    althaia_count(&counters.calls, 1)
    althaia_count(&counters.straight, 1)
    althaia_enter()
    try:
        frame = open_frame(plan, schema)
        frame.large = is_large(obj, many)
        if not write_with_hooks(plan, obj, many, frame, sink):
            # The render module says that it cannot write this.
            sink.any(marshmallow.missing)
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


cdef bint may_be_given(object unknown):
    """Whether no release refuses this as the ``unknown`` of a call."""
    return (
        not marshmallow.checks_unknown
        or unknown is None
        or (type(unknown) is str and unknown in ("exclude", "include", "raise"))
    )


def load(schema, data, many, partial, unknown, bint postprocess):
    """``Schema._do_load``: the loaded object(s), hooks and validation included, or DECLINED."""
    cdef LoadPlan plan = <LoadPlan>whole_plan(schema, LOAD, data, many)
    cdef Counters counters
    cdef LoadFrame frame
    if plan is None:
        return DECLINED
    if not may_be_given(unknown):
        return DECLINED
    if unknown is None:
        unknown = kept_setting(plan, schema, "unknown")
    if partial is None:
        partial = kept_setting(plan, schema, "partial")
    if unknown is NOT_KEPT or not plannable_partial(partial):
        return DECLINED
    many = wanted_many(plan, schema, many)
    if many is NOT_KEPT:
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
        or wanted_many(plan, schema, many) is NOT_KEPT
        or not may_be_given(unknown)
        or (unknown is None and kept_setting(plan, schema, "unknown") is NOT_KEPT)
        or not plannable_partial(
            kept_setting(plan, schema, "partial") if partial is None else partial
        )
    ):
        return schema.load(tape.make(0), many=many, partial=partial, unknown=unknown)
    return load_text(plan, schema, tape, many, partial, unknown)


cdef object load_text(
    LoadPlan plan, object schema, Tape tape, object many, object partial, object unknown
):
    """What :func:`load` returns for parsed text."""
    cdef Counters counters = <Counters>plan.statistics
    cdef LoadFrame frame
    many = wanted_many(plan, schema, many)
    if unknown is None:
        unknown = kept_setting(plan, schema, "unknown")
    if partial is None:
        partial = kept_setting(plan, schema, "partial")
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


def deserialize(schema, data, error_store, many, partial, unknown, index):
    """``Schema._deserialize``: the deserialized object(s), or DECLINED."""
    cdef LoadPlan plan = <LoadPlan>inner_plan(schema, LOAD, data, many)
    cdef Counters counters
    cdef LoadFrame frame
    if (
        plan is None
        or not has_plain_truth(many)
        or (many and not plan.many_allowed)
        or not plannable_partial(partial)
        or type(error_store) is not marshmallow.ErrorStore
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
