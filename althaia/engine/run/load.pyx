"""Runs a load plan: the loop over its steps, the schema's hooks, and upstream's errors."""


# ---- Calls --------------------------------------------------------------------------


cdef list sub_partials(LoadPlan plan, partial):
    """Return for each step the part of ``partial`` that concerns the fields nested in it."""
    cdef list found = []
    cdef LoadStep step
    cdef str prefix
    for step in plan.steps:
        prefix = (step.key if upstream.partial_by_data_key else step.attr) + "."
        found.append([f[len(prefix):] for f in partial if f.startswith(prefix)])
    return found


cdef LoadFrame open_load_frame(
    LoadPlan plan, schema, many, partial, unknown
):
    """Return a frame for one call of one plan on one schema, with the options of the call."""
    cdef LoadFrame frame = LoadFrame.__new__(LoadFrame)
    frame.schema = schema
    frame.plan = plan
    frame.growth = &frame.own_growth
    frame.many = many
    frame.partial = partial
    frame.unknown = unknown
    if plan is not None:
        if plan.slots:
            frame.children = [None] * plan.slots
            frame.state = existing_dict(schema)
        if partial is True or partial is False or (partial is None and upstream.gives_partial):
            frame.kwargs = {"partial": partial}
        elif partial is not None:
            frame.sub_partials = sub_partials(plan, partial)
    return frame


# ---- Plans --------------------------------------------------------------------------


@cython.final
@cython.no_gc_clear
cdef class LoadPlan(Plan):
    """How one schema loads: a :class:`LoadStep` for each loaded field.

    :param silent_errors: ``handle_error`` is upstream's, which does nothing.
    :param has_validators: the schema has ``validates`` or ``validates_schema`` hooks.
    :param has_schema_validators: it has ``validates_schema`` hooks.
    :param hooks_see_input: at least one hook receives the original input.
    """

    key_of_result = "target"

    def __init__(self, tuple steps, Guard guard, **what):
        Plan.__init__(self, steps, guard, **what)
        self.unique_keys = len({step.key for step in steps}) == len(steps)
        if not ALTHAIA_HAS_GIL:
            # Another thread could be reading the attribute while it is set.
            self.known_keys()
        targets = [step.target for step in steps]
        if (
            self.dict_class is dict
            and len(set(targets)) == len(targets)
            and not any(step.dotted for step in steps)
        ):
            self.await_template(
                everything_at_once, sum([step.default is not upstream.missing for step in steps])
            )

    cdef Keys known_keys(self):
        """Return the keys of the steps. Most loads do not ask."""
        if self.keys is None:
            self.keys = Keys(tuple([step.key for step in self.steps]))
        return self.keys


# ---- Objects ------------------------------------------------------------------------


cdef load_one(LoadPlan plan, data, LoadFrame frame):
    """Return what ``Schema._deserialize`` returns for one object; the frame keeps the
    errors."""
    cdef bint plain = type(data) is dict
    cdef Py_ssize_t found, size = PyDict_GET_SIZE(data) if plain else 0
    cdef bint full = plain and is_filled(plan, size)
    result = new_result(plan, full)
    if not plain and not isinstance(data, Mapping):
        frame.store_error([frame.schema.error_messages["type"]], SCHEMA)
        return result
    found = load_fields(plan, 0, data, plain, result, full, frame)
    # If each key of a dictionary was found, none is unknown. User code may have added keys or
    # removed some meanwhile.
    if frame.unknown != "exclude" and (
        not plain or found != size or size != PyDict_GET_SIZE(data) or not plan.unique_keys
    ):
        load_unknown(plan.known_keys().numbers, data, None, result, frame)
    return finished(plan, result, full, frame.growth)


cdef read_one(LoadPlan plan, Py_ssize_t at, LoadFrame frame):
    """Return what ``Schema._deserialize`` returns for the object at a slot of the frame's tape.

    If a field's own method is given the input as a dictionary, it may change that. The fields after
    it are then read from the dictionary.
    """
    cdef bint others, full, done = False
    # Borrowed, as in a dump: the frame holds the plan, and the plan its steps.
    cdef PyObject* steps = <PyObject*>plan.steps
    cdef PyObject* step = NULL
    cdef Py_ssize_t i = 0, size = PyTuple_GET_SIZE(<object>steps)
    # User code may have changed a record for which a dictionary was created.
    if not plan.unique_keys or frame.tape.slots[at].type != RECORD or frame.tape.slots[at].shared:
        return load_one(plan, frame.tape.share(at), frame)
    others = open_record(plan, at, frame)
    full = is_filled(plan, frame.tape.slots[at].size)
    result = new_result(plan, full)
    try:
        while i < size and frame.input_dict is None:
            step = PyTuple_GET_ITEM(<object>steps, i)
            at = frame.places[i]
            value = upstream.missing if at < 0 else None
            if frame.partial is not None and is_left_out(<LoadStep>step, i, value, frame):
                pass
            elif at < 0:
                value = (<LoadStep>step).load(value, None, frame)
            elif frame.tape.slots[at].type < ARRAY:
                value = frame.tape.scalar(&frame.tape.slots[at])
                value = load_value(<LoadStep>step, value, None, frame)
            else:
                value = (<LoadStep>step).read(frame.tape, at, frame)
            put(step, i, value, result, full, frame)
            i += 1
        done = True
    finally:
        if not done:
            add_to_trail(".{}", (<LoadStep>step).attr)
    if frame.input_dict is not None:
        load_fields(plan, i, frame.input_dict, True, result, full, frame)
        if frame.unknown != "exclude":
            load_unknown(plan.known_keys().numbers, frame.input_dict, None, result, frame)
    elif others and frame.unknown != "exclude":
        load_unknown(
            plan.known_keys().numbers, frame.tape.entries(frame.record), frame.tape, result, frame
        )
    return finished(plan, result, full, frame.growth)


cdef Py_ssize_t load_fields(
    LoadPlan plan, Py_ssize_t i, data, bint plain, result, bint full, LoadFrame frame
):
    """Load the fields from step ``i`` on. Return how many were found if ``data`` is a dict
    (``plain``)."""
    cdef PyObject* steps = <PyObject*>plan.steps
    cdef PyObject* step = NULL
    cdef Py_ssize_t found = 0, size = PyTuple_GET_SIZE(<object>steps)
    cdef bint done = False
    cdef object value, missing = upstream.missing
    try:
        while i < size:
            step = PyTuple_GET_ITEM(<object>steps, i)
            if plain:
                value = althaia_cached_item(
                    <dict>data, <void*>(<LoadStep>step).key, <void*>missing, &(<LoadStep>step).cache
                )
                found += value is not missing
            else:
                value = data.get((<LoadStep>step).key, missing)
            if frame.partial is None or not is_left_out(<LoadStep>step, i, value, frame):
                value = load_value(<LoadStep>step, value, data, frame)
            put(step, i, value, result, full, frame)
            i += 1
        done = True
    finally:
        if not done:
            add_to_trail(".{}", (<LoadStep>step).attr)
    return found


cdef bint is_left_out(LoadStep step, Py_ssize_t i, value, LoadFrame frame):
    """Return whether a value is missing and may be, because of ``partial``. Else set the keyword
    arguments of the step."""
    if value is upstream.missing and (
        frame.partial is True
        or (frame.sub_partials is not None and step.attr in frame.partial)
    ):
        return True
    if frame.sub_partials is not None:
        # A list of its own for each, as upstream makes it: hooks are given it.
        frame.kwargs = {"partial": list(frame.sub_partials[i])}
    return False


cdef inline int put(
    PyObject* step, Py_ssize_t i, value, result, bint full, LoadFrame frame
):
    """Store what step ``i`` has returned, or the messages of its failure."""
    if full and value is not FAILED and value is not upstream.missing:
        return althaia_put(<dict>result, i, <void*>(<LoadStep>step).target, value)
    return put_unusual(<LoadStep>step, i, value, result, full, frame)


cdef int put_unusual(
    LoadStep step, Py_ssize_t i, value, result, bint full, LoadFrame frame
):
    """Store what step ``i`` has returned: a failure, a missing value, or any value in a result that
    has no keys yet."""
    if value is FAILED:
        frame.store_error(frame.messages, step.key)
        value = frame.valid_data or upstream.missing
    if value is upstream.missing:
        if full:
            PyDict_DelItem(result, step.target)
    elif full:
        althaia_put(<dict>result, i, <void*>step.target, value)
    elif step.dotted:
        upstream.set_value(result, step.target, value)
    elif frame.plan.dict_class is dict:
        PyDict_SetItem(result, step.target, value)
    else:
        result[step.target] = value


cdef bint open_record(LoadPlan plan, Py_ssize_t at, LoadFrame frame):
    """Find the values of a record on the tape. Return whether it has keys without a step."""
    if frame.places is NULL:
        # Allocate one extra element: PyMem_Malloc(0) is not portable.
        frame.places = <Py_ssize_t*>PyMem_Malloc((len(plan.steps) + 1) * sizeof(Py_ssize_t))
        if frame.places is NULL:
            raise MemoryError()
    frame.record = at
    frame.input_dict = None
    return plan.known_keys().place(frame.tape, at, frame.places)


cdef int load_unknown(
    known_keys, data, Tape tape, result, LoadFrame frame
):
    """Process the keys that belong to no field, as ``unknown`` says. With a tape, the values of
    ``data`` are indexes of slots."""
    for key in set(data).difference(known_keys):
        althaia_tick()
        value = data[key]
        if frame.unknown == "include":
            result[key] = value if tape is None else tape.share(value)
        elif frame.unknown == "raise":
            frame.store_error([frame.schema.error_messages["unknown"]], key)


cdef bint has_index_errors(LoadPlan plan, schema):
    """Return the schema's option ``index_errors``. It is read in each call, because a ``pre_load``
    hook may change it."""
    found = option(plan, "index_errors")
    if found is EXTRAORDINARY:
        found = schema.opts.index_errors
    return True if found else False


cdef load_items(
    LoadPlan plan, data, Py_ssize_t at, bint many, LoadFrame frame
):
    """Return what ``Schema._deserialize`` returns for ``data``; or, if ``at`` is not negative, for
    the value at this slot of the frame's tape."""
    cdef list results
    cdef Py_ssize_t index = 0
    cdef bint done = False
    # Read it for a single object too: upstream does, and raises if the option does not exist.
    frame.index_errors = has_index_errors(plan, frame.schema)
    if not many:
        return load_one(plan, data, frame) if at < 0 else read_one(plan, at, frame)
    results = []
    index_before = frame.index
    if at >= 0 and (frame.tape.slots[at].type != ARRAY or frame.tape.slots[at].shared):
        data = frame.tape.share(at)
        at = -1
    if at >= 0:
        items = slots_inside(frame.tape, at)
    elif type(data) is list or upstream.is_sequence_but_not_string(data):
        items = data
    else:
        frame.store_error([frame.schema.error_messages["type"]], SCHEMA)
        return results
    try:
        for each in items:
            althaia_tick()
            if frame.index_errors:
                frame.index = index
            results.append(load_one(plan, each, frame) if at < 0 else read_one(plan, each, frame))
            index += 1
        done = True
    finally:
        if not done:
            add_to_trail("[{}]", index)
    frame.index = index_before
    althaia_completed(frame.growth, results)
    return results


cdef list slots_inside(Tape tape, Py_ssize_t at):
    """Return the slots of the items of a list."""
    cdef list slots = []
    cdef Py_ssize_t end = tape.slots[at].content.next
    at += 1
    while at < end:
        slots.append(at)
        at = after(tape, at)
    return slots


# ---- Hooks --------------------------------------------------------------------------


cdef bint load_is_changed(LoadPlan plan, LoadFrame frame):
    """Return whether a ``pre_load`` hook has changed the schema, or the names in ``partial``, so
    that the plan no longer holds."""
    if not still_runs(frame.schema, plan, LOAD) or not is_plain_partial(frame.partial):
        return True
    # The hook may have given the schema another dictionary with the same content.
    frame.state = existing_dict(frame.schema)
    if frame.sub_partials is not None:
        frame.sub_partials = sub_partials(plan, frame.partial)
    return False


cdef dict hook_options(LoadFrame frame):
    """Return the keyword arguments for the hooks of a load."""
    if upstream.hooks_get_unknown:
        return {"many": frame.many, "partial": frame.partial, "unknown": frame.unknown}
    return {"many": frame.many, "partial": frame.partial}


cdef invoke_load_hooks(tuple hooks, data, original, LoadFrame frame):
    """Return what ``Schema._invoke_load_processors`` returns."""
    cdef dict options = hook_options(frame)
    data = invoke(hooks, frame.schema, True, data, original, options)
    return invoke(hooks, frame.schema, False, data, original, options)


cdef load_whole_or_fail(LoadPlan plan, data, LoadFrame frame, bint postprocess):
    """Return what ``Schema._do_load`` returns, or FAILED with errors and result in the frame.

    Where the input is text, ``data`` is None and the frame knows the slot. After a ``pre_load``
    hook that changed the schema, upstream's code does the rest.
    """
    cdef object errors = None, result, processed
    cdef bint text = frame.tape is not None, changed = False
    if text and plan.hooks_see_input:
        # Create the input object before the fields are loaded, so that they read their values from
        # it.
        data = frame.tape.share(frame.root)
        text = False
    processed = data
    if plan.pre_hooks is not None:
        try:
            processed = invoke_load_hooks(plan.pre_hooks, data, data, frame)
        except upstream.ValidationError as error:
            return fail(frame, error.normalized_messages(), None)
        changed = load_is_changed(plan, frame)
    if not plan.whole and not changed:
        result = own_deserialized(plan, processed, frame)
    elif changed:
        result = frame.schema._deserialize(
            processed,
            error_store=frame.error_store(),
            many=frame.many,
            partial=frame.partial,
            unknown=frame.unknown,
        )
    else:
        result = load_items(
            plan, processed, frame.root if text else -1, True if frame.many else False, frame
        )
    if changed or plan.has_validators:
        validate_schema(changed or plan.has_schema_validators, result, data, frame)
    errors = frame.stored()
    if errors:
        return fail(frame, errors, result)
    if not postprocess or not (
        has_hooks(frame.schema, "post_load") if changed else plan.post_hooks
    ):
        return result
    try:
        if changed:
            return frame.schema._invoke_load_processors(
                "post_load", result, original_data=data, **hook_options(frame)
            )
        return invoke_load_hooks(plan.post_hooks, result, data, frame)
    except upstream.ValidationError as error:
        # As in upstream, an error without messages is ignored.
        errors = error.normalized_messages()
    return fail(frame, errors, result) if errors else result


cdef own_deserialized(LoadPlan plan, data, LoadFrame frame):
    """Return what the schema's own ``_deserialize`` returns."""
    store = frame.error_store()
    cdef PyObject* arguments[6]
    arguments[:] = [
        <PyObject*>frame.schema, <PyObject*>data, <PyObject*>store, <PyObject*>frame.many,
        <PyObject*>frame.partial, <PyObject*>frame.unknown,
    ]
    return call_own(
        plan, "_deserialize", arguments, ("error_store", "many", "partial", "unknown")
    )


cdef int validate_schema(
    bint has_schema_validators, result, data, LoadFrame frame
):
    """Run ``validates`` and ``validates_schema`` by upstream's own methods."""
    schema = frame.schema
    cdef bint field_errors, pass_collection
    store = frame.error_store()
    cdef dict options
    schema._invoke_field_validators(error_store=store, data=result, many=frame.many)
    if not has_schema_validators:
        return 0
    field_errors = True if store.errors else False
    for pass_collection in (True, False):
        options = hook_options(frame)
        options[upstream.collection_keyword] = pass_collection
        schema._invoke_schema_validators(
            error_store=store,
            data=result,
            original_data=data,
            field_errors=field_errors,
            **options,
        )


cdef handled_error(data, LoadFrame frame):
    """Return the error of a failed load, after the schema's ``handle_error`` has had it."""
    if frame.tape is not None:
        data = frame.tape.share(frame.root)
    error = validation_error(frame.messages, data, frame.valid_data)
    if not is_unseen(<LoadPlan>frame.plan):
        frame.schema.handle_error(error, data, many=frame.many, partial=frame.partial)
    return error


cdef bint is_unseen(LoadPlan plan) noexcept:
    """Return whether no code of the user's gets the error of a failed load. ``handle_error`` of
    upstream does nothing, but a hook may have replaced it."""
    return plan.silent_errors and not plan.has_hooks
