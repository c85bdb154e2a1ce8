"""Runs a dump plan: the loop over its steps.

A *step* is one field of one schema. What upstream determines again for each object is fixed in the
step: where the value comes from (its source) and how it is converted (one class for each kind of
field, see :mod:`althaia.engine.kinds`). A conversion handles values of certain exact types; any
other value is passed to the field's own ``_serialize``.

What plans and steps do never changes. A plan keeps its template, what it has learned of the last
objects, and its keys as the last sink writes them; a step has an inline cache. A
:class:`DumpFrame` is one schema in one call; it keeps the nested schemas that this call has already
found and checked.
"""

cdef extern from "Python.h":
    object PyUnicode_New(Py_ssize_t size, Py_UCS4 most)
    void* PyUnicode_1BYTE_DATA(object text)


# ---- Frames -------------------------------------------------------------------------


@cython.final
@cython.freelist(16)
cdef class DumpFrame:
    pass


cdef DumpFrame open_dump_frame(DumpPlan plan, schema):
    """Return a frame for one call of one plan on one schema."""
    cdef DumpFrame frame = DumpFrame.__new__(DumpFrame)
    frame.schema = schema
    frame.plan = plan
    frame.growth = &frame.own_growth
    if plan is not None and plan.slots:
        frame.children = [None] * plan.slots
        frame.state = existing_dict(schema)
    return frame


# ---- Steps --------------------------------------------------------------------------


@cython.no_gc_clear
cdef class DumpStep(Step):
    """One field of a dump plan. This base class does not convert the value.

    :param attr: the argument that upstream calls ``attr``: the field's name, None inside a Dict.
    :param key: the key in the output; None inside another field.
    :param source: where the value comes from.
    :param name: the key or attribute read, for the sources that have one.
    :param path: the parts of a dotted name.
    :param default: the field's ``dump_default``.
    """

    @cython.final
    cdef own_field(self, DumpFrame frame):
        """Return the field of this call's schema, for user code that may inspect it; the plan's
        if there is no such code."""
        return field_of_call(
            frame.children, self.own_slot, self.field, frame.schema, frame.state
        )

    @cython.final
    cdef by_field(self, value, obj, DumpFrame frame):
        """Return what the field's own ``_serialize`` returns."""
        return self.own_field(frame)._serialize(value, self.attr, obj)

    @cython.final
    cdef look_up(self, Py_ssize_t i, obj, DumpFrame frame, Reading reading):
        """Return what :func:`value_of` returns if the value is not where it was last time."""
        if self.source == KEY:
            if reading is None:
                value = althaia_look_up(
                    obj, <void*>self.name, <void*>upstream.missing, &self.cache
                )
            else:
                value = reading.value(obj, i, &self.cache)
                if value is NOT_THERE:
                    value = althaia_get_value(obj, <void*>self.name, <void*>upstream.missing)
        elif self.source == NO_ATTRIBUTE:
            return None
        else:
            value = value_of_step(self, obj, frame)
        if value is upstream.missing:
            return self.default() if callable(self.default) else self.default
        return value

    cdef convert(self, value, obj, DumpFrame frame):
        return value

    cdef bint write(self, value, obj, DumpFrame frame, Sink sink) except -1:
        """Write the result of :meth:`convert`. If that is ``missing``, write nothing and return
        False."""
        value = self.convert(value, obj, frame)
        if value is upstream.missing:
            return False
        sink.put_value(value)
        return True


@cython.no_gc_clear
cdef class FixedText(DumpStep):
    """A value that is written as ASCII text of bounded length."""

    cdef Py_ssize_t format_into(self, value, char* at) except -1:
        """Write the text, of at most ``LONGEST_TEXT`` characters, and return its length.

        Return 0 to pass the value to the field's own ``_serialize``.
        """
        return 0

    cdef convert(self, value, obj, DumpFrame frame):
        cdef char text[LONGEST_TEXT]
        cdef Py_ssize_t size
        if value is None:
            return None
        size = self.format_into(value, text)
        if size == 0:
            return self.by_field(value, obj, frame)
        result = PyUnicode_New(size, 127)
        memcpy(PyUnicode_1BYTE_DATA(result), text, size)
        return result

    cdef bint write(self, value, obj, DumpFrame frame, Sink sink) except -1:
        # Sink.put_ascii() may read up to sixteen bytes more.
        cdef char text[LONGEST_TEXT + 16]
        cdef Py_ssize_t size
        if value is None:
            sink.put_none()
            return True
        size = self.format_into(value, text)
        if size == 0:
            return DumpStep.write(self, value, obj, frame, sink)
        sink.put_ascii(text, size)
        return True


@cython.final
@cython.no_gc_clear
cdef class CallDumpStep(DumpStep):
    """The field's own ``_serialize`` converts.

    :param method_slot: the index in ``frame.children`` of the bound method that the first value of
        a call found; -1 if it is read for each value, because reading it may run user code.
    """

    label = "field's own _serialize"
    narrow = False
    cdef public int method_slot

    def __cinit__(self):
        self.method_slot = -1

    cdef convert(self, value, obj, DumpFrame frame):
        if self.method_slot < 0:
            return self.by_field(value, obj, frame)
        method = frame.children[self.method_slot]
        if method is None:
            method = frame.children[self.method_slot] = self.own_field(frame)._serialize
        return method(value, self.attr, obj)


@cython.final
@cython.no_gc_clear
cdef class SerializeStep(DumpStep):
    """The field's own ``serialize`` does everything."""

    label = "field's own serialize"
    narrow = False


# ---- Plans --------------------------------------------------------------------------


@cython.final
@cython.no_gc_clear
cdef class DumpPlan(Plan):
    """How one schema dumps: a :class:`DumpStep` for each dumped field.

    :param straight: ``Schema.dumps`` and ``Schema.dump`` are upstream's, so that the plan may write
        into a sink instead.
    """

    key_of_result = "key"

    def __init__(self, tuple steps, Guard guard, *, bint straight=False, **what):
        Plan.__init__(self, steps, guard, **what)
        self.straight = straight and self.opts is not None
        if not ALTHAIA_HAS_GIL:
            # Another thread could be reading the attribute while it is set.
            self.find_names()
        if len({step.key for step in steps}) == len(steps):
            # Both are written as the same text.
            self.has_record = self.dict_class is dict or self.dict_class is OrderedDict
            if self.dict_class is dict:
                self.await_template(everything_at_once, sum([
                    step.source != KEY or step.default is not upstream.missing for step in steps
                ]))

    cdef int find_names(self):
        """Find the names for object readers. Most objects need none."""
        if self.names is None:
            self.names = tuple([step.name if step.source == KEY else None for step in self.steps])


# ---- Objects ------------------------------------------------------------------------

# The loops over steps use borrowed references: the frame holds the plan, and the plan its steps.
# All threads share these objects. Changing their reference counts for each value would make the
# threads wait for each other.


cdef inline value_of(
    Py_ssize_t i, DumpStep step, obj, DumpFrame frame, Reading reading
):
    """Return the value that a step converts: that of the object, or else the field's default.

    Return ``missing`` if the field is omitted. ``i`` is the step's number.
    """
    cdef void* found
    if step.source == KEY and reading is None:
        found = althaia_cached_value(&step.cache, obj)
        if found is not NULL and <object>found is not upstream.missing:
            step.cache.misses = 0
            return <object>found
    return step.look_up(i, obj, frame, reading)


cdef value_of_step(DumpStep step, obj, DumpFrame frame):
    """Return the value from one of the less common sources, or ``missing``."""
    if step.source == PATH:
        value = obj
        for part in step.path:
            value = read_once(value, <str>part, upstream.missing)
        return value
    if step.source == ACCESSOR:
        return frame.schema.get_attribute(obj, step.name, upstream.missing)
    field = step.own_field(frame)
    if step.source == FIELD_GET_VALUE:
        return field.get_value(obj, step.attr, accessor=frame.schema.get_attribute)
    return field.serialize(step.attr, obj, accessor=frame.schema.get_attribute)


cdef Reading reading_of(obj, DumpFrame frame):
    """Return how this call reads objects of this type if there is a reader for them, else None."""
    cdef PyObject* names
    if has_no_reader(obj):
        return None
    if frame.readings is None:
        frame.plan.find_names()
        frame.readings = Readings.__new__(Readings)
    names = <PyObject*>frame.plan.names
    return frame.readings.of(<tuple>names, obj)


cdef run_one(DumpPlan plan, obj, DumpFrame frame):
    """Return what ``Schema._serialize`` returns for one object."""
    cdef PyObject* steps = <PyObject*>plan.steps
    cdef PyObject* missing = <PyObject*>upstream.missing
    cdef Py_ssize_t i
    cdef bint full = is_filled(
        plan, PyDict_GET_SIZE(obj) if type(obj) is dict else 0 if plan.sparse else plan.enough
    )
    # Whether it has all keys of the template: most results do, and are finished by that.
    cdef bint complete = full
    result = new_result(plan, full)
    cdef Reading reading = reading_of(obj, frame)
    cdef PyObject* step = NULL
    cdef bint done = False
    try:
        for i in range(PyTuple_GET_SIZE(<object>steps)):
            step = PyTuple_GET_ITEM(<object>steps, i)
            value = value_of(i, <DumpStep>step, obj, frame, reading)
            if <PyObject*>value is not missing:
                value = (<DumpStep>step).convert(value, obj, frame)
            if <PyObject*>value is missing:
                if full:
                    complete = False
                    PyDict_DelItem(result, (<DumpStep>step).key)
            elif full:
                althaia_put(<dict>result, i, <void*>(<DumpStep>step).key, value)
            elif plan.dict_class is dict:
                PyDict_SetItem(result, (<DumpStep>step).key, value)
            else:
                # The dictionary may be of a class of the user's.
                result[(<DumpStep>step).key] = value
        done = True
    finally:
        if not done:
            add_to_trail(".{}", (<DumpStep>step).attr)
    if complete:
        althaia_completed(frame.growth, result)
        return result
    if plan.dict_class is dict and type(obj) is not dict:
        plan.sparse = PyDict_GET_SIZE(result) < plan.enough
    return finished(plan, result, full, frame.growth)


# ---- Sinks --------------------------------------------------------------------------


cdef Record record_of(DumpPlan plan, Sink sink):
    """Return the plan's keys as a sink writes them. The plan caches the last form."""
    cdef Record record, _before
    with cython.critical_section(plan):
        record = plan.record
    if record is None or record.format is not sink.format:
        record = Record(sink.format, tuple([step.key for step in plan.steps]))
        # `_before` releases the old record after the lock has been released.
        with cython.critical_section(plan):
            _before, plan.record = plan.record, record
    return record


cdef int write_one(DumpPlan plan, obj, DumpFrame frame, Sink sink):
    """Write one object to a sink, as :func:`run_one` dumps it to a dictionary."""
    cdef PyObject* steps = <PyObject*>plan.steps
    cdef PyObject* missing = <PyObject*>upstream.missing
    cdef Py_ssize_t i, mark
    cdef Reading reading
    cdef PyObject* step = NULL
    cdef PyObject* record
    cdef bint first = True, done = False
    if sink.format.sort_keys or not plan.has_record:
        return sink.put_value(run_one(plan, obj, frame))
    reading = reading_of(obj, frame)
    if frame.record is None:
        # The frame holds the record while the sink uses it: another call may replace the plan's.
        frame.record = record_of(plan, sink)
    record = <PyObject*>frame.record
    sink.open_record(<Record>record)
    try:
        for i in range(PyTuple_GET_SIZE(<object>steps)):
            step = PyTuple_GET_ITEM(<object>steps, i)
            value = value_of(i, <DumpStep>step, obj, frame, reading)
            if <PyObject*>value is missing:
                continue
            mark = open_key(sink, record, i, first)
            if (<DumpStep>step).write(value, obj, frame, sink):
                first = False
            else:
                sink.buffer.size = mark
        done = True
    finally:
        if not done:
            add_to_trail(".{}", (<DumpStep>step).attr)
    return sink.put_byte(c"}")


cdef dump_items(DumpPlan plan, obj, bint many, DumpFrame frame, Sink sink):
    """Return what ``Schema._serialize`` returns. With a sink, write it instead."""
    cdef list results
    cdef Py_ssize_t index = 0
    cdef bint done = False
    if not many or obj is None:
        return run_one(plan, obj, frame) if sink is None else write_one(plan, obj, frame, sink)
    results = []
    if sink is not None:
        sink.put_byte(c"[")
    try:
        for each in obj:
            althaia_tick()
            if sink is None:
                results.append(run_one(plan, each, frame))
            else:
                sink.begin_item(index)
                write_one(plan, each, frame, sink)
            index += 1
        done = True
    finally:
        frame.written = index
        if not done:
            add_to_trail("[{}]", index)
    if sink is not None:
        sink.put_byte(c"]")
    else:
        althaia_completed(frame.growth, results)
    return results


# ---- Hooks --------------------------------------------------------------------------


cdef dump_with_hooks(
    DumpPlan plan, obj, many, DumpFrame frame, Sink sink
):
    """Return what ``Schema.dump`` returns. With a sink, write it and return whether anything was
    written: ``missing`` is not."""
    data = obj
    cdef bint changed = False
    if plan.pre_hooks is not None:
        data = invoke_dump_hooks(plan.pre_hooks, data, obj, many, frame.schema)
        changed = dump_is_changed(plan, frame)
    if changed:
        data = run_changed(frame.schema, obj, data, many)
    elif sink is not None and plan.post_hooks is None:
        dump_items(plan, data, many, frame, sink)
        return True
    else:
        if plan.whole:
            data = dump_items(plan, data, many, frame, None)
        else:
            data = own_serialized(plan, data, many, frame.schema)
        if plan.post_hooks is not None:
            data = invoke_dump_hooks(plan.post_hooks, data, obj, many, frame.schema)
    if sink is None:
        return data
    if data is upstream.missing:
        return False
    sink.put_value(data)
    return True


cdef own_serialized(DumpPlan plan, data, many, schema):
    """Return what the schema's own ``_serialize`` returns."""
    cdef PyObject* arguments[3]
    arguments[:] = [<PyObject*>schema, <PyObject*>data, <PyObject*>many]
    althaia_enter()
    try:
        return call_own(plan, "_serialize", arguments, ("many",))
    finally:
        althaia_leave()


cdef invoke_dump_hooks(
    tuple hooks, data, obj, many, schema
):
    """Return what ``Schema._invoke_dump_processors`` returns."""
    cdef dict options = {"many": many}
    data = invoke(hooks, schema, False, data, obj, options)
    return invoke(hooks, schema, True, data, obj, options)


cdef bint dump_is_changed(DumpPlan plan, DumpFrame frame):
    """Return whether a ``pre_dump`` hook has changed something that the plan depends on."""
    if not still_runs(frame.schema, plan, DUMP):
        return True
    # The hook may have given the schema another dictionary with the same content.
    frame.state = existing_dict(frame.schema)
    return False


cdef run_changed(schema, obj, data, many):
    """Run upstream's code for the rest of ``Schema.dump`` after a ``pre_dump`` hook changed the
    schema."""
    result = schema._serialize(data, many=many)
    if has_hooks(schema, "post_dump"):
        return schema._invoke_dump_processors("post_dump", result, many=many, original_data=obj)
    return result
