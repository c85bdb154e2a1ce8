# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Run a dump plan: the straight loop over steps.

A *step* is one field of one schema, with everything upstream works out again for each
object already decided: where the value comes from (its source) and what is made of it
(its conversion, one class a kind: see :mod:`althaia.engine.kinds`). A conversion knows the
exact types that it can do itself; any other value it hands to the field's own ``_serialize``.

Plans and steps do not change once they are built, but for a cache of the keys as a sink writes
them, which is replaced as a whole, and for the place where a step found its last value. A
:class:`DumpFrame` is one schema in one call; it remembers which nested schemas this call has
already looked up and checked.
"""

cimport cython
from cpython.dict cimport PyDict_DelItem
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from libc.string cimport memcpy

from althaia.engine.plan.guard cimport Guard
from althaia.engine.run.hooks cimport invoke
from althaia.engine.instances.lazy cimport field_of_call
from althaia.engine.plan.plan cimport Plan
from althaia.engine.run.published cimport valid_plan
from althaia.engine.run.trail cimport left_item, left_step
from althaia.cpython.primitives cimport (
    althaia_clear_cache,
    althaia_get_cached,
    althaia_get_value,
    althaia_init_cache,
    althaia_tick,
    althaia_try_features,
)
from althaia.engine.objects.object_reader cimport NOT_THERE_, Reading, Readings, is_plain, read_once
from althaia.engine.plan.instance_dict cimport DUMP, existing_dict
from althaia.engine.plan.template cimport Template, althaia_put
from althaia.engine.upstream cimport marshmallow
from althaia.formats.sink cimport Record, Sink, expected_items

cdef extern from "Python.h":
    object PyUnicode_New(Py_ssize_t size, Py_UCS4 most)
    void* PyUnicode_1BYTE_DATA(object text)

althaia_try_features()


cpdef enum Source:
    # The field asks no attribute (``_CHECK_ATTRIBUTE`` is False).
    NO_ATTRIBUTE = 0
    # ``marshmallow.utils.get_value`` of one key.
    KEY = 1
    # ``get_value`` of a dotted path.
    PATH = 2
    # The schema's own ``get_attribute``.
    ACCESSOR = 3
    # The field's own ``get_value``.
    GET_VALUE = 4
    # The field's own ``serialize``: nothing about the field is known.
    SERIALIZE = 5


# ---- Frames -------------------------------------------------------------------------


@cython.final
@cython.freelist(16)
cdef class DumpFrame:
    pass


cdef DumpFrame open_frame(DumpPlan plan, object schema):
    """A frame for one call of one plan on one schema."""
    cdef DumpFrame frame = DumpFrame.__new__(DumpFrame)
    frame.schema = schema
    frame.plan = plan
    if plan is not None and plan.slots:
        frame.children = [None] * plan.slots
        frame.state = existing_dict(schema)
    return frame


# ---- Steps --------------------------------------------------------------------------


@cython.no_gc_clear
cdef class DumpStep:
    """One field of a plan, and how its value is converted: as it is.

    :param field: the bound field.
    :param attr: what upstream passes as ``attr``: the field's name, None inside a Dict.
    :param key: the key in the output, or None to ask ``field.data_key`` each time.
    :param source: where the value comes from.
    :param name: the key or attribute read, for the sources that have one.
    :param path: the parts of a dotted name.
    :param default: the field's ``dump_default``.
    :param own_slot: index into ``frame.children`` of the call's own copy of the field, which the
        user's code is given instead of the plan's; -1 where no such code runs.
    :param why: the reason where this step is wider than upstream's own kind of field
        would need, else "".
    """

    kind = "as it is"
    # Whether the plan knows itself what to do with a value of the usual type.
    narrow = True

    def __init__(
        self, field, attr=None, key=None, int source=NO_ATTRIBUTE, str name=None, tuple path=None,
        default=None, str why="", int own_slot=-1,
    ):
        self.own_slot = own_slot
        self.field = field
        self.attr = attr
        self.key = key
        self.source = source
        self.name = name
        self.path = path
        self.default = default
        self.why = why

    def __cinit__(self):
        althaia_init_cache(&self.cache)

    def __dealloc__(self):
        althaia_clear_cache(&self.cache)

    cdef object own_field(self, DumpFrame frame):
        """The field as the schema of this call has it, for code that may look at it."""
        return field_of_call(
            frame.children, self.own_slot, self.field, frame.schema, frame.state
        )

    cdef object convert(self, object value, object obj, DumpFrame frame):
        return value

    cdef bint write(self, object value, object obj, DumpFrame frame, Sink sink) except -1:
        """Write what :meth:`convert` gives; nothing, and False, where that is ``missing``."""
        value = self.convert(value, obj, frame)
        if value is marshmallow.missing:
            return False
        sink.any(value)
        return True

    def inner(self):
        """The steps inside this one, by label."""
        return {}

    def __repr__(self):
        return f"<{self.kind}: {self.name or self.attr} -> {self.key!r}>"


@cython.no_gc_clear
cdef class FixedText(DumpStep):
    """A value that is written as ASCII text of bounded length."""

    cdef Py_ssize_t format_into(self, object value, char* at) except -1:
        """Write the text, of at most ``LONGEST_TEXT`` characters, and return its length.

        0 leaves the value to the field's own ``_serialize``.
        """
        return 0

    cdef object convert(self, object value, object obj, DumpFrame frame):
        cdef char text[LONGEST_TEXT]
        cdef Py_ssize_t size
        cdef object result
        if value is None:
            return None
        size = self.format_into(value, text)
        if size == 0:
            return self.field._serialize(value, self.attr, obj)
        result = PyUnicode_New(size, 127)
        memcpy(PyUnicode_1BYTE_DATA(result), text, size)
        return result

    cdef bint write(self, object value, object obj, DumpFrame frame, Sink sink) except -1:
        cdef char text[LONGEST_TEXT]
        cdef Py_ssize_t size
        if value is None:
            sink.none()
            return True
        size = self.format_into(value, text)
        if size == 0:
            return DumpStep.write(self, value, obj, frame, sink)
        sink.ascii(text, size)
        return True


@cython.final
@cython.no_gc_clear
cdef class OwnDumpStep(DumpStep):
    """The field's own ``_serialize`` converts.

    :param method_slot: index into ``frame.children`` of that method as the first value of a call
        found it; -1 where it is asked for with each value, because asking may run user code.
    """

    kind = "field's own _serialize"
    narrow = False
    cdef int method_slot

    def __init__(self, field, *, int method_slot=-1, **place):
        DumpStep.__init__(self, field, **place)
        self.method_slot = method_slot

    cdef object convert(self, object value, object obj, DumpFrame frame):
        cdef object method
        if self.method_slot < 0:
            return self.own_field(frame)._serialize(value, self.attr, obj)
        method = frame.children[self.method_slot]
        if method is None:
            method = frame.children[self.method_slot] = self.own_field(frame)._serialize
        return method(value, self.attr, obj)


@cython.final
@cython.no_gc_clear
cdef class OpaqueDumpStep(DumpStep):
    """The field's own ``serialize`` does everything."""

    kind = "field's own serialize"
    narrow = False


# ---- Plans --------------------------------------------------------------------------


@cython.final
@cython.no_gc_clear
cdef class DumpPlan(Plan):
    """How one schema dumps: a :class:`DumpStep` for each dumped field.

    :param straight: ``Schema.dumps`` and ``Schema.dump`` are upstream's, so that the plan may write
        into a sink instead.
    """

    def __init__(self, tuple steps, Guard guard, *, bint straight=False, **what):
        Plan.__init__(self, steps, guard, **what)
        self.straight = straight and self.opts is not None
        keys = [step.key for step in steps]
        self.names = tuple([step.name if step.source == KEY else None for step in steps])
        if self.dict_class is dict and None not in keys and len(set(keys)) == len(keys):
            self.template = Template(tuple(keys))


# ---- Objects ------------------------------------------------------------------------

# In the loops over steps these are borrowed: the frame holds the plan, and the plan its steps. What
# all threads share would make them wait for each other if each of them counted it for each value.


cdef inline object value_of(
    Py_ssize_t i, DumpStep step, object obj, DumpFrame frame, Reading reading
):
    """The value that a step converts: the object's, or else the field's default.

    ``missing`` says that the field is left out; ``i`` is the step's number.
    """
    cdef object value
    if step.source == KEY:
        if reading is None:
            value = althaia_get_cached(
                obj, <void*>step.name, <void*>marshmallow.missing, &step.cache
            )
        else:
            value = reading.value(obj, i, &step.cache)
            if value is NOT_THERE_:
                value = althaia_get_value(obj, <void*>step.name, <void*>marshmallow.missing)
    elif step.source == NO_ATTRIBUTE:
        return None
    else:
        value = read(step, obj, frame)
    if value is marshmallow.missing:
        return step.default() if callable(step.default) else step.default
    return value


cdef object read(DumpStep step, object obj, DumpFrame frame):
    """The value by one of the rarer sources, or ``missing``."""
    if step.source == PATH:
        value = obj
        for part in step.path:
            value = read_once(value, <str>part, marshmallow.missing)
        return value
    if step.source == ACCESSOR:
        accessor = frame.schema.get_attribute
        if accessor:
            return accessor(obj, step.name, marshmallow.missing)
        # Upstream goes on to its own get_value.
        return step.field.get_value(obj, step.attr)
    field = step.own_field(frame)
    if step.source == GET_VALUE:
        return field.get_value(obj, step.attr, accessor=frame.schema.get_attribute)
    return field.serialize(step.attr, obj, accessor=frame.schema.get_attribute)


cdef Reading reading_of(object obj, DumpFrame frame):
    """How objects of this type are read in this call where they have a reader, else None."""
    cdef PyObject* names = <PyObject*>frame.plan.names
    if is_plain(obj):
        return None
    if frame.readings is None:
        frame.readings = Readings.__new__(Readings)
    return frame.readings.of(<tuple>names, obj)


cdef inline object serialized(
    Py_ssize_t i, DumpStep step, object obj, DumpFrame frame, Reading reading
):
    """What ``field.serialize`` gives for one object, or ``missing``; ``i`` is the step's number."""
    cdef object value = value_of(i, step, obj, frame, reading)
    return value if value is marshmallow.missing else step.convert(value, obj, frame)


cdef dict run_template(DumpPlan plan, object obj, DumpFrame frame):
    """One object into a dictionary with the keys of the plan's template."""
    cdef PyObject* steps = <PyObject*>plan.steps
    cdef Py_ssize_t i, size = PyTuple_GET_SIZE(<object>steps)
    cdef dict result = plan.template.start()
    cdef Reading reading = reading_of(obj, frame)
    cdef PyObject* step = NULL
    cdef bint done = False
    cdef object value
    try:
        for i in range(size):
            step = PyTuple_GET_ITEM(<object>steps, i)
            value = serialized(i, <DumpStep>step, obj, frame, reading)
            if value is not marshmallow.missing:
                althaia_put(result, i, <void*>(<DumpStep>step).key, value)
            elif plan.template.full:
                PyDict_DelItem(result, (<DumpStep>step).key)
        done = True
    finally:
        if not done:
            left_step((<DumpStep>step).attr)
    return result


cdef object run_general(DumpPlan plan, object obj, DumpFrame frame):
    """One object into a new ``dict_class()``, keys asked where they are not fixed."""
    cdef object result = plan.dict_class()
    cdef Reading reading = reading_of(obj, frame)
    cdef Py_ssize_t i
    cdef DumpStep step = None
    cdef bint done = False
    try:
        for i in range(len(plan.steps)):
            step = <DumpStep>PyTuple_GET_ITEM(plan.steps, i)
            value = serialized(i, step, obj, frame, reading)
            if value is marshmallow.missing:
                continue
            key = step.key
            if key is None:
                # Asked twice where there is one, as upstream does: asking may run user code.
                key = step.attr if step.field.data_key is None else step.field.data_key
            result[key] = value
        done = True
    finally:
        if not done:
            left_step(step.attr)
    return result


cdef object run_one(DumpPlan plan, object obj, DumpFrame frame):
    if plan.template is not None:
        return run_template(plan, obj, frame)
    return run_general(plan, obj, frame)


cdef object run(DumpPlan plan, object obj, bint many, DumpFrame frame):
    """What ``Schema._serialize`` returns."""
    cdef list results
    cdef bint done = False
    if not many or obj is None:
        return run_one(plan, obj, frame)
    results = []
    try:
        for each in obj:
            althaia_tick()
            results.append(run_one(plan, each, frame))
        done = True
    finally:
        if not done:
            left_item(len(results))
    return results


# ---- Sinks --------------------------------------------------------------------------


cdef Record record_of(DumpPlan plan, Sink sink):
    """The plan's keys as a sink writes them; the last form asked for is kept."""
    cdef Record record, _before
    with cython.critical_section(plan):
        record = plan.record
    if record is None or record.form is not sink.form:
        record = sink.make_record(tuple([step.key for step in plan.steps]))
        # Let go of behind the lock, as other threads may be using it.
        with cython.critical_section(plan):
            _before, plan.record = plan.record, record
    return record


cdef int write_one(DumpPlan plan, object obj, DumpFrame frame, Sink sink) except -1:
    """One object into a sink, as :func:`run_one` makes a dictionary of it."""
    cdef PyObject* steps = <PyObject*>plan.steps
    cdef Py_ssize_t i, mark
    cdef Reading reading
    cdef PyObject* step = NULL
    cdef PyObject* record
    cdef bint done = False
    cdef object value
    if plan.template is None:
        return sink.any(run_general(plan, obj, frame))
    reading = reading_of(obj, frame)
    if frame.record is None:
        # The frame holds it while the sink uses it: another call may replace the plan's.
        frame.record = record_of(plan, sink)
    record = <PyObject*>frame.record
    sink.open_record(<Record>record)
    try:
        for i in range(PyTuple_GET_SIZE(<object>steps)):
            step = PyTuple_GET_ITEM(<object>steps, i)
            value = value_of(i, <DumpStep>step, obj, frame, reading)
            if value is marshmallow.missing:
                continue
            mark = sink.key(i)
            if not (<DumpStep>step).write(value, obj, frame, sink):
                sink.take_back(mark)
        done = True
    finally:
        if not done:
            left_step((<DumpStep>step).attr)
    return sink.close_record()


cdef int write(DumpPlan plan, object obj, bint many, DumpFrame frame, Sink sink) except -1:
    """What ``Schema._serialize`` returns, into a sink."""
    cdef Py_ssize_t index = 0
    cdef bint done = False
    if not many or obj is None:
        return write_one(plan, obj, frame, sink)
    sink.open_list(list, expected_items(obj))
    try:
        for each in obj:
            althaia_tick()
            sink.item()
            write_one(plan, each, frame, sink)
            index += 1
        done = True
    finally:
        if not done:
            left_item(index)
    return sink.close_list()


# ---- Hooks --------------------------------------------------------------------------


cdef object run_with_hooks(DumpPlan plan, object obj, object many, DumpFrame frame):
    """Return what ``Schema.dump`` returns."""
    cdef object data = obj
    if plan.before is not None:
        data = invoke_both(plan.before, data, obj, many, frame.schema)
        if is_changed(plan, frame):
            return run_changed(frame.schema, obj, data, many)
    data = run(plan, data, many, frame)
    if plan.behind is not None:
        data = invoke_both(plan.behind, data, obj, many, frame.schema)
    return data


cdef bint write_with_hooks(
    DumpPlan plan, object obj, object many, DumpFrame frame, Sink sink
) except -1:
    """Write what ``Schema.dump`` returns into a sink; nothing, and False, where that is
    ``missing``."""
    cdef object data = obj
    if plan.behind is None:
        if plan.before is not None:
            data = invoke_both(plan.before, data, obj, many, frame.schema)
        if plan.before is None or not is_changed(plan, frame):
            write(plan, data, many, frame, sink)
            return True
        data = run_changed(frame.schema, obj, data, many)
    else:
        # A hook behind the fields is given a dictionary.
        data = run_with_hooks(plan, obj, many, frame)
    if data is marshmallow.missing:
        return False
    sink.any(data)
    return True


cdef object invoke_both(
    tuple hooks, object data, object obj, object many, object schema
):
    """Return what ``Schema._invoke_dump_processors`` returns."""
    cdef dict options = {"many": many}
    data = invoke(hooks, schema, False, data, obj, options)
    return invoke(hooks, schema, True, data, obj, options)


cdef bint is_changed(DumpPlan plan, DumpFrame frame):
    """Return whether a ``pre_dump`` hook has changed what the plan rests on."""
    if valid_plan(frame.schema, DUMP) is not plan:
        return True
    # The hook may have given the schema another dictionary with the same content.
    frame.state = existing_dict(frame.schema)
    return False


cdef object run_changed(object schema, object obj, object data, object many):
    """Run upstream's code for the rest of ``Schema.dump`` after a ``pre_dump`` hook changed the
    schema."""
    result = schema._serialize(data, many=many)
    if schema._hooks["post_dump"]:
        return schema._invoke_dump_processors("post_dump", result, many=many, original_data=obj)
    return result
