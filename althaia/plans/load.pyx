# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Run a load plan: the straight loop over steps, and the errors exactly.

A step (one class a kind: see :mod:`althaia.plans.kinds`) knows the exact types that it can
convert itself and the checks of upstream's own validators. Whatever is not plainly right it
hands to the field's own method, which then raises what upstream raises. Inside a plan a failure
is a return value (:data:`FAILED`, with messages and valid data in the frame); exceptions are
made where user code would see one.
"""

from collections.abc import Mapping

cimport cython
from cpython.dict cimport PyDict_DelItem
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.tuple cimport PyTuple_GET_ITEM
from libc.stdint cimport uint64_t

from althaia.plans.checks cimport PASSED, Check
from althaia.plans.guards cimport Guard
from althaia.plans.hooks cimport hooks_of, invoke
from althaia.plans.lazy cimport real_field
from althaia.plans.plan cimport Plan, valid_plan
from althaia.plans.primitives cimport (
    althaia_dict_item,
    althaia_same_version,
    althaia_tick,
    althaia_trusted_version,
    althaia_try_facts,
)
from althaia.plans.state cimport LOAD
from althaia.plans.templates cimport Template, althaia_put
from althaia.plans.upstream cimport marshmallow
from althaia.sources.keys cimport Keys
from althaia.sources.tape cimport ARRAY, RECORD, Tape, after


class Failed:
    """What a step returns when the value is not valid."""

    __slots__ = ()

    def __repr__(self):
        return "<failed>"


althaia_try_facts()

cdef object FAILED = Failed()
cdef str SCHEMA = "_schema"
# No value in any input.
cdef object ABSENT = object()


# ---- Frames -------------------------------------------------------------------------


cdef bint is_flat(object messages):
    """Whether the messages are a list of nothing but text: copied by copying the list."""
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

    cdef object failed(self, object error):
        """Note what a ValidationError says; anything else that was made to be raised is."""
        if not isinstance(error, marshmallow.ValidationError):
            cls = error if isinstance(error, type) else type(error)
            if not issubclass(cls, BaseException):
                raise TypeError("exceptions must derive from BaseException")
            raise error
        self.messages = error.messages
        self.valid_data = error.valid_data
        return FAILED

    cdef int store_error(self, object messages, object field_name) except -1:
        """What ``ErrorStore.store_error`` does, short where nothing is to be merged."""
        cdef dict target
        if self.store is None:
            self.store = marshmallow.ErrorStore()
        if type(field_name) is str and field_name != SCHEMA and type(self.store.errors) is dict:
            target = <dict>self.store.errors
            if self.index is not None:
                inner = target.get(self.index)
                if inner is None:
                    inner = target[self.index] = {}
                target = inner if type(inner) is dict else None
            if target is not None and field_name not in target:
                target[field_name] = (
                    list(messages) if is_flat(messages) else marshmallow.copy_containers(messages)
                )
                return 0
        self.store.store_error(messages, field_name, index=self.index)
        return 0

    cdef object shown_input(self, object key, object data):
        """The input that a field's own method is given: where it is text, made now.

        The steps after this one read what they are given, which the method may have changed.
        """
        if data is not None or key is None or self.tape is None:
            return data
        if self.shown is None:
            self.shown = self.tape.keep(self.record)
        return self.shown

    cdef bint may_be_missing(self, str name) except -1:
        """Whether ``partial`` lets the field be absent."""
        if self.partial is True:
            return True
        return self.sub_partials is not None and name in self.partial


cdef list sub_partials(LoadPlan plan, object partial):
    """For each step the part of ``partial`` that concerns what is nested in it."""
    cdef list found = []
    cdef LoadStep step
    cdef str prefix
    for step in plan.steps:
        prefix = step.attr + "."
        found.append([f[len(prefix):] for f in partial if f.startswith(prefix)])
    return found


cdef bint plannable_partial(object partial):
    """Whether ``partial`` is a flag, or a plain collection of names."""
    if partial is None or partial is True or partial is False:
        return True
    if type(partial) not in (list, tuple, set, frozenset):
        return False
    for name in partial:
        if type(name) is not str:
            return False
    return True


cdef LoadFrame open_load_frame(
    LoadPlan plan, object schema, object many, object partial, object unknown
):
    """A frame for one call of one plan on one schema; the options are the call's own."""
    cdef LoadFrame frame = LoadFrame.__new__(LoadFrame)
    frame.schema = schema
    frame.plan = plan
    frame.many = many
    frame.partial = partial
    frame.unknown = unknown
    if plan is not None:
        frame.index_errors = True if schema.opts.index_errors else False
        if plan.sites:
            frame.children = [None] * plan.sites
        if partial is True or partial is False:
            frame.kwargs = {"partial": partial}
        elif partial is not None:
            frame.sub_partials = sub_partials(plan, partial)
    return frame


cdef object fail(LoadFrame frame, object messages, object valid_data):
    frame.messages = messages
    frame.valid_data = valid_data
    return FAILED


# ---- Steps --------------------------------------------------------------------------


cdef object own_load(object field, object value, object key, object data, LoadFrame frame):
    """What a field's own ``_deserialize`` returns, or FAILED."""
    try:
        if frame.kwargs is None:
            return field._deserialize(value, key, data)
        return field._deserialize(value, key, data, **frame.kwargs)
    except marshmallow.ValidationError as error:
        return frame.failed(error)


@cython.no_gc_clear
cdef class LoadStep:
    """One field of a load plan; the value is taken as it is.

    :param field: the bound field.
    :param attr: the field's name in the schema.
    :param key: the key in the input, None inside another field.
    :param target: the key in the output; ``dotted`` where it is a path.
    :param opaque: ``field.deserialize`` does everything.
    :param own_validate: the field's own ``_validate`` is called.
    :param checks: a :class:`Check` for each validator.
    :param own_site: as in a dump step.
    :param why: the reason where the step is wider than upstream's own kind needs.
    """

    kind = "as it is"
    narrow = True

    def __init__(
        self, field, attr=None, key=None, target=None, bint dotted=False, bint opaque=False,
        bint required=False, bint allow_none=False, bint own_validate=False, default=None,
        list pre_load=None, list post_load=None, tuple checks=(), str why="", int own_site=-1,
    ):
        self.own_site = own_site
        self.field = field
        self.attr = attr
        self.key = key
        self.target = target
        self.dotted = dotted
        self.opaque = opaque
        self.required = required
        self.allow_none = allow_none
        self.own_validate = own_validate
        self.default = default
        self.pre_load = pre_load
        self.post_load = post_load
        self.checks = checks
        self.why = why

    cdef object convert(self, object value, object data, LoadFrame frame):
        """What ``field._deserialize`` returns, or FAILED."""
        return value

    cdef object own(self, object value, object data, LoadFrame frame):
        """Let the field's own ``_deserialize`` do it."""
        data = frame.shown_input(self.key, data)
        return own_load(self.own_field(frame), value, self.key, data, frame)

    cdef object own_field(self, LoadFrame frame):
        """The field as the schema of this call has it, for code that may look at it."""
        cdef object field
        if self.own_site < 0:
            return self.field
        field = frame.children[self.own_site]
        if field is None:
            field = frame.children[self.own_site] = real_field(self.field, frame.schema)
        return field

    cdef object load(self, object value, object data, LoadFrame frame):
        """What ``field.deserialize`` returns, or FAILED."""
        try:
            if self.opaque:
                return self.ask_field(value, data, frame)
            if value is marshmallow.missing:
                if self.required:
                    return frame.failed(self.field.make_error("required"))
                return self.default() if callable(self.default) else self.default
            if value is None and not self.allow_none:
                return frame.failed(self.field.make_error("null"))
            if self.pre_load is not None:
                for function in self.pre_load:
                    value = function(value)
            if value is None and self.allow_none:
                return None
            return self.finish(self.convert(value, data, frame), frame)
        except marshmallow.ValidationError as error:
            return frame.failed(error)

    cdef object finish(self, object value, LoadFrame frame):
        """What ``field.deserialize`` does with what ``_deserialize`` has returned."""
        if value is not FAILED and self.checks is not None:
            value = self.validate(value, frame)
        if value is not FAILED and self.post_load is not None:
            for function in self.post_load:
                value = function(value)
        return value

    cdef object read(self, Tape tape, Py_ssize_t at, LoadFrame frame):
        """What :meth:`load` returns for the value at a slot."""
        if (
            not self.walks
            or self.opaque
            or self.pre_load is not None
            or tape.slots[at].kind < ARRAY
            or tape.made_at(at) is not None
        ):
            return self.load(tape.keep(at), None, frame)
        try:
            return self.finish(self.walk(tape, at, frame), frame)
        except marshmallow.ValidationError as error:
            return frame.failed(error)

    cdef object walk(self, Tape tape, Py_ssize_t at, LoadFrame frame):
        """What :meth:`convert` returns for the container at a slot; for steps that ``walks``."""
        return self.convert(tape.keep(at), None, frame)

    cdef object ask_field(self, object value, object data, LoadFrame frame):
        cdef dict kwargs = {} if frame.kwargs is None else frame.kwargs
        if self.key is None:
            # Inside another field: upstream gives it the value and nothing else.
            return self.own_field(frame).deserialize(value, **kwargs)
        data = frame.shown_input(self.key, data)
        return self.own_field(frame).deserialize(value, self.key, data, **kwargs)

    cdef object validate(self, object value, LoadFrame frame):
        """The value if all validators pass, else FAILED; all of them run, as ``And`` does."""
        cdef list errors = None
        cdef Check check
        if self.own_validate:
            try:
                self.field._validate(value)
            except marshmallow.ValidationError as error:
                return frame.failed(error)
            return value
        for check in self.checks:
            try:
                messages = check.failure(value)
                if messages is not PASSED:
                    errors = with_messages(errors, messages)
            except marshmallow.ValidationError as error:
                errors = with_messages(errors, error.messages)
        if errors:
            frame.messages = errors
            frame.valid_data = None
            return FAILED
        return value

    def inner(self):
        """The steps inside this one, by label."""
        return {}

    def __repr__(self):
        return f"<{self.kind}: {self.key!r} -> {self.target!r}>"


@cython.final
@cython.no_gc_clear
cdef class OwnLoadStep(LoadStep):
    """The field's own ``_deserialize`` converts."""

    kind = "field's own _deserialize"
    narrow = False

    cdef object convert(self, object value, object data, LoadFrame frame):
        return self.own(value, data, frame)


@cython.final
@cython.no_gc_clear
cdef class OpaqueLoadStep(LoadStep):
    """The field's own ``deserialize`` does everything."""

    kind = "field's own deserialize"
    narrow = False


cdef list with_messages(list errors, object messages):
    """The messages of one validator put to those of the validators before it."""
    if errors is None:
        errors = []
    if isinstance(messages, dict):
        errors.append(messages)
    else:
        errors.extend(messages)
    return errors


# ---- Plans --------------------------------------------------------------------------


@cython.final
@cython.no_gc_clear
cdef class LoadPlan(Plan):
    """How one schema loads: a :class:`LoadStep` for each loaded field.

    :param silent_errors: ``handle_error`` is upstream's, which does nothing.

    ``text_keys`` are the keys of the steps where parsed text can be asked for them, else None.
    """

    def __init__(self, tuple steps, Guard guard, *, bint silent_errors=False, **what):
        Plan.__init__(self, steps, guard, **what)
        self.silent_errors = silent_errors
        self.keys = {step.key for step in steps}
        self.unique_keys = len(self.keys) == len(steps)
        if self.unique_keys and all(type(key) is str for key in self.keys):
            self.text_keys = Keys(tuple([step.key for step in steps]))
        targets = [step.target for step in steps]
        if (
            self.dict_class is dict
            and len(set(targets)) == len(targets)
            and not any(step.dotted for step in steps)
        ):
            self.template = Template(tuple(targets))


# ---- Objects ------------------------------------------------------------------------


cdef object load_one(LoadPlan plan, object data, Py_ssize_t at, LoadFrame frame):
    """What ``Schema._deserialize`` returns for one object; errors go to the frame's store.

    The object is ``data``, or what stands at slot ``at`` of the frame's tape if that is not -1.
    """
    cdef object result
    cdef bint text = at >= 0, others = False
    cdef bint plain, full
    cdef Py_ssize_t found = 0, i, size = len(plan.steps)
    cdef LoadStep step
    cdef uint64_t version
    cdef object value
    if text and not is_readable(plan, frame.tape, at):
        data = frame.tape.keep(at)
        text = False
    if text:
        others = open_record(plan, at, frame)
    plain = text or type(data) is dict
    version = althaia_trusted_version(data) if plain and not text else 0
    full = plain and plan.template is not None and plan.template.full
    if full:
        result = plan.template.start()
    else:
        result = plan.dict_class()
    if not plain and not isinstance(data, Mapping):
        frame.store_error([frame.schema.error_messages["type"]], SCHEMA)
        return result
    for i in range(size):
        step = <LoadStep>PyTuple_GET_ITEM(plan.steps, i)
        if text and frame.shown is not None:
            data = frame.shown
            text = False
            found = -1
        if text:
            at = frame.places[i]
            value = marshmallow.missing if at < 0 else None
        elif plain:
            value = althaia_dict_item(data, step.key, ABSENT)
            if value is ABSENT:
                value = marshmallow.missing
            else:
                found += 1
        else:
            value = data.get(step.key, marshmallow.missing)
        if frame.partial is not None:
            if value is marshmallow.missing and frame.may_be_missing(step.attr):
                if full:
                    PyDict_DelItem(result, step.target)
                continue
            if frame.sub_partials is not None:
                # A list of its own for each, as upstream makes it: hooks are given it.
                frame.kwargs = {"partial": list(frame.sub_partials[i])}
        if not text or at < 0:
            value = step.load(value, data, frame)
        elif frame.tape.slots[at].kind < ARRAY:
            value = step.load(frame.tape.scalar(&frame.tape.slots[at]), None, frame)
        else:
            value = step.read(frame.tape, at, frame)
        if value is FAILED:
            value = frame.valid_data or marshmallow.missing
            frame.store_error(frame.messages, step.key)
        if value is marshmallow.missing:
            if full:
                PyDict_DelItem(result, step.target)
        elif full:
            althaia_put(<dict>result, i, step.target, value)
        elif step.dotted:
            marshmallow.set_value(result, step.target, value)
        else:
            result[step.target] = value
    if frame.unknown != "exclude":
        if text and frame.shown is None:
            if others:
                read_unknown(plan, result, frame)
        elif (
            text
            or not plain
            or found != len(<dict>data)
            or not has_known_keys(plan, <dict>data, version)
        ):
            load_unknown(plan, frame.shown if text else data, result, frame)
    return result


cdef bint has_known_keys(LoadPlan plan, dict data, uint64_t version) except -1:
    """Whether an input in which as many keys were found as it has holds these keys still.

    User code that ran meanwhile may have exchanged one. The version is the input's before.
    """
    if not plan.unique_keys:
        return False
    if althaia_same_version(data, version):
        return True
    for key in data:
        if type(key) is not str or key not in plan.keys:
            return False
    return True


cdef bint is_readable(LoadPlan plan, Tape tape, Py_ssize_t at) except -1:
    """Whether a plan finds its keys at a slot: in an object that nobody has been given."""
    return (
        plan.text_keys is not None
        and tape.slots[at].kind == RECORD
        and tape.made_at(at) is None
    )


cdef bint open_record(LoadPlan plan, Py_ssize_t at, LoadFrame frame) except -1:
    """Find the values of an object in parsed text; whether it has keys that no step asks for."""
    if frame.places is NULL:
        # One more: room for nothing is no room.
        frame.places = <Py_ssize_t*>PyMem_Malloc((len(plan.steps) + 1) * sizeof(Py_ssize_t))
        if frame.places is NULL:
            raise MemoryError()
    frame.record = at
    frame.shown = None
    return plan.text_keys.place(frame.tape, at, frame.places)


cdef int load_unknown(LoadPlan plan, object data, object result, LoadFrame frame) except -1:
    """Treat the keys that no field asked for."""
    for key in set(data) - plan.keys:
        althaia_tick()
        value = data[key]
        if frame.unknown == "include":
            result[key] = value
        elif frame.unknown == "raise":
            frame.store_error([frame.schema.error_messages["unknown"]], key)
    return 0


cdef int read_unknown(LoadPlan plan, object result, LoadFrame frame) except -1:
    """The same for the object at hand of parsed text."""
    cdef dict entries = frame.tape.entries(frame.record)
    for key in set(entries) - plan.keys:
        althaia_tick()
        if frame.unknown == "include":
            result[key] = frame.tape.keep(entries[key])
        elif frame.unknown == "raise":
            frame.store_error([frame.schema.error_messages["unknown"]], key)
    return 0


cdef object load_items(
    LoadPlan plan, object data, Py_ssize_t at, bint many, LoadFrame frame
):
    """What ``Schema._deserialize`` returns for ``data``, or for slot ``at`` if that is not -1."""
    cdef list results
    cdef Py_ssize_t index = 0
    if not many:
        return load_one(plan, data, at, frame)
    if at >= 0 and (frame.tape.slots[at].kind != ARRAY or frame.tape.made_at(at) is not None):
        data = frame.tape.keep(at)
        at = -1
    if at >= 0:
        return read_items(plan, at, frame)
    results = []
    index_before = frame.index
    if type(data) is not list and not marshmallow.is_sequence_but_not_string(data):
        frame.store_error([frame.schema.error_messages["type"]], SCHEMA)
        return results
    for each in data:
        althaia_tick()
        if frame.index_errors:
            frame.index = index
        results.append(load_one(plan, each, -1, frame))
        index += 1
    frame.index = index_before
    return results


cdef object read_items(LoadPlan plan, Py_ssize_t at, LoadFrame frame):
    """The same for an array of parsed text."""
    cdef list results = []
    cdef Py_ssize_t index = 0, end = frame.tape.slots[at].content.next
    index_before = frame.index
    at += 1
    while at < end:
        althaia_tick()
        if frame.index_errors:
            frame.index = index
        results.append(load_one(plan, None, at, frame))
        index += 1
        at = after(frame.tape, at)
    frame.index = index_before
    return results


# ---- Hooks --------------------------------------------------------------------------


cdef object invoke_both(object hooks, object data, object original, LoadFrame frame):
    cdef dict options = {"many": frame.many, "partial": frame.partial, "unknown": frame.unknown}
    data = invoke(hooks, frame.schema, True, data, original, options)
    return invoke(hooks, frame.schema, False, data, original, options)


cdef int validate_schema(object result, object data, LoadFrame frame) except -1:
    """Run ``validates`` and ``validates_schema`` by upstream's own methods."""
    cdef object schema = frame.schema
    cdef object hooks = hooks_of(frame.plan.hooks, "validates")
    cdef bint has_schema_validators
    # Upstream loops over them without asking whether there are any.
    if type(hooks) is not list or hooks:
        if frame.store is None:
            frame.store = marshmallow.ErrorStore()
        schema._invoke_field_validators(error_store=frame.store, data=result, many=frame.many)
    if hooks_of(frame.plan.hooks, "validates_schema"):
        if frame.store is None:
            frame.store = marshmallow.ErrorStore()
        field_errors = bool(frame.store.errors)
        for pass_collection in (True, False):
            schema._invoke_schema_validators(
                error_store=frame.store,
                pass_collection=pass_collection,
                data=result,
                original_data=data,
                many=frame.many,
                partial=frame.partial,
                unknown=frame.unknown,
                field_errors=field_errors,
            )
    return 0


cdef object load_changed(object processed, object data, LoadFrame frame, bint postprocess):
    """The rest of ``Schema._do_load`` where a ``pre_load`` hook has changed the schema."""
    cdef object schema = frame.schema, errors, result
    call = {"partial": frame.partial, "unknown": frame.unknown}
    store = marshmallow.ErrorStore()
    result = schema._deserialize(processed, error_store=store, many=frame.many, **call)
    schema._invoke_field_validators(error_store=store, data=result, many=frame.many)
    if schema._hooks["validates_schema"]:
        field_errors = bool(store.errors)
        for pass_collection in (True, False):
            schema._invoke_schema_validators(
                error_store=store,
                pass_collection=pass_collection,
                data=result,
                original_data=data,
                many=frame.many,
                field_errors=field_errors,
                **call,
            )
    errors = store.errors
    if not errors and postprocess and schema._hooks["post_load"]:
        try:
            result = schema._invoke_load_processors(
                "post_load", result, many=frame.many, original_data=data, **call
            )
        except marshmallow.ValidationError as error:
            errors = error.normalized_messages()
    return fail(frame, errors, result) if errors else result


cdef bint hooks_see_input(object hooks) except -1:
    """Whether a hook of a load is given its input, or upstream's code that calls one is."""
    if hooks.get("pre_load") or hooks.get("validates_schema"):
        return True
    for _, _, config in hooks.get("post_load") or ():
        if config.get("pass_original", False):
            return True
    return False


cdef object load_whole_or_fail(LoadPlan plan, object data, LoadFrame frame, bint postprocess):
    """What ``Schema._do_load`` returns, or FAILED with errors and result in the frame.

    Where the input is text, ``data`` is None and the frame knows the slot.
    """
    cdef object errors = None, result = None, processed
    cdef bint preprocessed = True
    cdef Py_ssize_t at = -1 if frame.tape is None else frame.root
    cdef object hooks = hooks_of(plan.hooks, "pre_load")
    if at >= 0 and hooks_see_input(plan.hooks):
        data = frame.tape.keep(at)
        at = -1
    processed = data
    if hooks:
        try:
            processed = invoke_both(hooks, data, data, frame)
        except marshmallow.ValidationError as error:
            errors = error.normalized_messages()
            preprocessed = False
        else:
            if valid_plan(frame.schema, LOAD) is not plan or not plannable_partial(frame.partial):
                return load_changed(processed, data, frame, postprocess)
            if frame.sub_partials is not None:
                frame.sub_partials = sub_partials(plan, frame.partial)
    if not errors:
        if not preprocessed:
            raise UnboundLocalError(
                "cannot access local variable 'processed_data' where it is not associated "
                "with a value"
            )
        result = load_items(plan, processed, at, True if frame.many else False, frame)
        validate_schema(result, data, frame)
        errors = None if frame.store is None else frame.store.errors
        if not errors and postprocess:
            hooks = hooks_of(plan.hooks, "post_load")
            if hooks:
                try:
                    result = invoke_both(hooks, result, data, frame)
                except marshmallow.ValidationError as error:
                    errors = error.normalized_messages()
    if errors:
        return fail(frame, errors, result)
    return result


cdef object load_whole(LoadPlan plan, object data, LoadFrame frame, bint postprocess):
    """What ``Schema._do_load`` returns or raises."""
    cdef object result = load_whole_or_fail(plan, data, frame, postprocess)
    if result is not FAILED:
        return result
    if frame.tape is not None:
        data = frame.tape.keep(frame.root)
    error = marshmallow.ValidationError(frame.messages, data=data, valid_data=frame.valid_data)
    frame.schema.handle_error(error, data, many=frame.many, partial=frame.partial)
    raise error
