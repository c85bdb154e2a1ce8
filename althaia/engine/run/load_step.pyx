"""The steps of a load plan, and the frame of the call in which they run.

A step (one class for each kind of field, see :mod:`althaia.engine.kinds`) converts values of
certain exact types and runs the checks of upstream's own validators. A value that is certainly
invalid is refused by a message; any other is passed to the field's own method. Inside a plan a
failure is a return value (:data:`FAILED`, with messages and valid data in the frame). An exception
is created only where user code would see it.
"""

cdef object FAILED = object()
cdef str SCHEMA = "_schema"


# ---- Frames -------------------------------------------------------------------------


cdef bint is_flat(messages):
    """Return whether the messages are a list of str, for which a shallow copy suffices."""
    if type(messages) is not list:
        return False
    for each in <list>messages:
        if type(each) is not str:
            return False
    return True


@cython.final
@cython.freelist(16)
cdef class LoadFrame:

    def __dealloc__(self):
        PyMem_Free(self.places)

    cdef failed(self, error):
        """Record the messages of a ValidationError; raise any other error, as upstream would."""
        if not isinstance(error, upstream.ValidationError):
            raise error
        return fail(self, error.messages, error.valid_data)

    cdef int store_error(self, messages, field_name) except -1:
        """Do what ``ErrorStore.store_error`` does, with a shortcut if nothing must be merged."""
        if self.store is None and self.errors is None:
            self.errors = {}
        target = self.stored()
        # Without a plan nothing watches what ErrorStore calls.
        if self.plan is not None and type(target) is dict and type(field_name) is str and (
            field_name != SCHEMA or type(messages) is list
        ):
            if self.index is not None:
                inner = (<dict>target).get(self.index)
                if inner is None:
                    inner = (<dict>target)[self.index] = {}
                target = inner if type(inner) is dict else None
            if target is not None and field_name not in <dict>target:
                if upstream.copies_messages:
                    flat = is_flat(messages)
                    messages = list(messages) if flat else upstream.copy_containers(messages)
                (<dict>target)[field_name] = messages
                return 0
        self.error_store().store_error(messages, field_name, index=self.index)

    cdef stored(self):
        """Return the messages so far, None or empty if there are none."""
        return self.errors if self.store is None else self.store.errors

    cdef error_store(self):
        """Return the ErrorStore of the call. One is created where upstream's code must see it."""
        if self.store is None:
            self.store = upstream.ErrorStore()
            if self.errors:
                self.store.errors = self.errors
        return self.store

    cdef field_input(self, key, data):
        """Return the input for a field's own method. If it is text, create the dictionary now.

        The method may change the dictionary, so that later steps read their values from it.
        """
        if data is not None or key is None or self.tape is None:
            return data
        if self.input_dict is None:
            self.input_dict = self.tape.share(self.record)
        return self.input_dict


cdef fail(LoadFrame frame, messages, valid_data):
    frame.messages = messages
    frame.valid_data = valid_data
    return FAILED


# ---- Steps --------------------------------------------------------------------------


cdef field_deserialize(
    field, value, key, data, LoadFrame frame
):
    """Return what a field's own ``_deserialize`` returns, or FAILED."""
    try:
        if frame.kwargs is None:
            return field._deserialize(value, key, data)
        return field._deserialize(value, key, data, **frame.kwargs)
    except upstream.ValidationError as error:
        return frame.failed(error)


@cython.no_gc_clear
cdef class Step:
    """One field of a plan. All but the field are given by name, those that a subclass adds as well.

    :param field: the bound field.
    :param own_slot: the index in ``frame.children`` of the schema's own copy of the field, which
        user code gets instead of the plan's; -1 if no user code gets the field.
    :param why: the reason why this step is more general, and slower, than upstream's own kind of
        field would need, else "".
    """

    label = "as it is"
    # True if the step itself converts values of the usual types.
    narrow = True

    def __cinit__(self):
        self.why = ""
        self.own_slot = -1

    def __init__(self, field, **options):
        self.field = field
        set_attributes(self, options)

    def __dealloc__(self):
        althaia_clear_cache(&self.cache)

    def inner(self):
        """The steps inside this one, by label."""
        return {}


@cython.no_gc_clear
cdef class LoadStep(Step):
    """One field of a load plan. This base class does not convert the value.

    :param attr: the field's name in the schema.
    :param key: the key in the input, None inside another field.
    :param target: the key in the output.
    :param dotted: whether ``target`` is a dotted path.
    :param calls_validate: the field's own ``_validate`` is called.
    :param guarded: code of the user's runs, and a ValidationError of it must be caught.
    :param error_messages: the field's messages by key if they are said as they are; None if its
        own ``make_error`` says them.
    :param checks: a :class:`Check` for each validator; None if there is none.
    """

    source = "key"

    def __cinit__(self):
        self.checks = ()

    def __init__(self, field, **options):
        Step.__init__(self, field, **options)
        self.guarded = self.guarded or self.pre_load is not None or self.post_load is not None

    cdef convert(self, value, data, LoadFrame frame):
        """Return what ``field._deserialize`` returns, or FAILED."""
        return value

    cdef by_field(self, value, data, LoadFrame frame):
        """Call the field's own ``_deserialize``."""
        data = frame.field_input(self.key, data)
        return field_deserialize(self.own_field(frame), value, self.key, data, frame)

    cdef refuse(
        self, str key, dict words, value, data, LoadFrame frame
    ):
        """Return FAILED for a value that the field's own ``_deserialize`` would refuse, by the
        message of an error key.

        :param words: as :func:`message_of` takes them.
        """
        message = self.message(key, words, value)
        if message is None:
            return self.by_field(value, data, frame)
        return fail(frame, [message], None)

    cdef refuse_json(
        self, str key, dict words, value, data, LoadFrame frame
    ):
        """Refuse a value that JSON can say; the field's own method knows other objects."""
        if is_of_json(value):
            return self.refuse(key, words, value, data, frame)
        return self.by_field(value, data, frame)

    cdef refuse_empty(self, str key, LoadFrame frame):
        """Return FAILED for a value that is missing or None."""
        message = self.message(key, NO_WORDS, None)
        if message is None:
            return frame.failed(self.own_field(frame).make_error(key))
        return fail(frame, [message], None)

    cdef message(self, str key, dict words, value):
        """Return what the field's ``make_error`` would say; None if it must be called for that."""
        # Looked up each time, because user code may change the messages.
        if self.error_messages is None:
            return None
        return message_of(self.error_messages.get(key), words, value)

    @cython.final
    cdef own_field(self, LoadFrame frame):
        """Return the field of this call's schema, for user code that may inspect it; the plan's
        if there is no such code."""
        return field_of_call(
            frame.children, self.own_slot, self.field, frame.schema, frame.state
        )

    cdef load(self, value, data, LoadFrame frame):
        """Return what ``field.deserialize`` returns, or FAILED. ``load_value`` in ``run.pxd`` does
        the same for most values, without a ``try``."""
        try:
            if value is upstream.missing:
                if self.required:
                    return self.refuse_empty("required", frame)
                return self.default() if callable(self.default) else self.default
            if value is None and not self.allow_none:
                return self.refuse_empty("null", frame)
            if self.pre_load is not None:
                for function in self.pre_load:
                    value = function(value)
            if value is None and self.allow_none:
                return None
            return self.finish(self.convert(value, data, frame), frame)
        except upstream.ValidationError as error:
            return frame.failed(error)

    @cython.final
    cdef finish(self, value, LoadFrame frame):
        """Do what ``field.deserialize`` does after ``_deserialize``: run the validators and
        ``post_load``."""
        if value is not FAILED and self.checks is not None:
            value = self.validate(value, frame)
        if value is not FAILED and self.post_load is not None:
            for function in self.post_load:
                value = function(value)
        return value

    cdef read(self, Tape tape, Py_ssize_t at, LoadFrame frame):
        """Return what :meth:`load` returns for the value at a slot of the tape."""
        if (
            self.pre_load is not None
            or tape.slots[at].type < ARRAY
            or tape.slots[at].shared
        ):
            return self.load(tape.share(at), None, frame)
        try:
            return self.finish(self.walk(tape, at, frame), frame)
        except upstream.ValidationError as error:
            return frame.failed(error)

    cdef walk(self, Tape tape, Py_ssize_t at, LoadFrame frame):
        """Return what :meth:`convert` returns for the container at a slot of the tape."""
        return self.convert(tape.share(at), None, frame)

    @cython.final
    cdef validate(self, value, LoadFrame frame):
        """Run all validators, as ``And`` does. Return the value if all pass, else FAILED."""
        cdef list errors = None
        cdef dict kwargs = None
        # A borrowed reference, see "Objects" in run/dump.pyx.
        cdef PyObject* checks = <PyObject*>self.checks
        cdef PyObject* check
        cdef Py_ssize_t i
        if self.calls_validate:
            try:
                self.own_field(frame)._validate(value)
            except upstream.ValidationError as error:
                return frame.failed(error)
            return value
        for i in range(len(<tuple>checks)):
            try:
                check = PyTuple_GET_ITEM(<object>checks, i)
                messages = (<Check>check).failure(value)
                if messages is not PASSED:
                    errors = with_messages(errors, messages)
            except upstream.ValidationError as error:
                if kwargs is None:
                    kwargs = {}
                kwargs.update(error.kwargs)
                errors = with_messages(errors, error.messages)
        if not errors:
            return value
        if kwargs:
            return frame.failed(upstream.ValidationError(errors, **kwargs))
        return fail(frame, errors, None)


@cython.final
@cython.no_gc_clear
cdef class CallLoadStep(LoadStep):
    """The field's own ``_deserialize`` converts."""

    label = "field's own _deserialize"
    narrow = False

    cdef convert(self, value, data, LoadFrame frame):
        return self.by_field(value, data, frame)


@cython.final
@cython.no_gc_clear
cdef class DeserializeStep(LoadStep):
    """The field's own ``deserialize`` does everything."""

    label = "field's own deserialize"
    source = "deserialize"
    narrow = False

    cdef load(self, value, data, LoadFrame frame):
        cdef dict kwargs = {} if frame.kwargs is None else frame.kwargs
        try:
            if self.key is None:
                # Inside another field upstream passes the value only.
                return self.own_field(frame).deserialize(value, **kwargs)
            data = frame.field_input(self.key, data)
            return self.own_field(frame).deserialize(value, self.key, data, **kwargs)
        except upstream.ValidationError as error:
            return frame.failed(error)

    cdef read(self, Tape tape, Py_ssize_t at, LoadFrame frame):
        return self.load(tape.share(at), None, frame)


cdef list with_messages(list errors, messages):
    """Add the messages of one validator to those of the validators before it."""
    if errors is None:
        errors = []
    # Not isinstance(), as in constructed().
    if type(messages) is not list and PyObject_IsInstance(messages, dict):
        errors.append(messages)
    else:
        errors.extend(messages)
    return errors
