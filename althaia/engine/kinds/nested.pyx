"""Schemas inside schemas: ``Nested`` and ``Pluck``.

A nested schema is resolved when the first value reaches it, as in upstream. Its plan is found and
checked once per call if the schema has no hooks, else for each value.
"""


cdef bint is_alike_for_all(schema, Plan plan):
    """Return whether a nested schema is the same for all values of a call.

    If not, its hooks may change it between two values. It is then read again for each value, as
    upstream does.
    """
    return althaia_is_simply_true(type(schema)) and (plan is None or not plan.has_hooks)


cdef inline int count_nested(Plan plan):
    """Count a call that the plan of the schema around it makes."""
    althaia_count(&(<Counters>plan.statistics).nested, 1)
    return 0


# ---- Dump --------------------------------------------------------------------------


@cython.no_gc_clear
cdef class DumpNested(DumpStep):
    """Dumps a nested schema. ``slot`` is the index of its frame in ``frame.children``."""

    label = "nested schema"
    cdef public int slot
    cdef public bint pluck

    cdef convert(self, value, obj, DumpFrame frame):
        return self.converted(self.child_of(frame), value, frame)

    cdef converted(self, DumpFrame child, value, DumpFrame frame):
        if value is None:
            return None
        if child.plan is None:
            many = child.schema.many or self.own_field(frame).many
            result = child.schema.dump(value, many=many)
        else:
            result = dumped(child, value, None)
        if self.pluck:
            return self.plucked(result, child.schema)
        return result

    cdef bint write(self, value, obj, DumpFrame frame, Sink sink) except -1:
        cdef DumpFrame child = self.child_of(frame)
        if value is None or child.plan is None or self.pluck:
            value = self.converted(child, value, frame)
            if value is upstream.missing:
                return False
            sink.put_value(value)
            return True
        return dumped(child, value, sink)

    cdef DumpFrame child_of(self, DumpFrame frame):
        """Return the nested schema's frame in this call. It is opened for the first value, or for
        each value."""
        cdef DumpFrame child = <DumpFrame>frame.children[self.slot]
        if child is None or child.bound != times_rebound():
            field = nested_field(self.field, frame.state)
            schema = nested_schema(field, frame.schema, frame.state)
            # A callable that gives the schema may have changed the instance's own field.
            child = dump_frame(schema, field.many, frame)
            if is_alike_for_all(child.schema, child.plan):
                frame.children[self.slot] = child
        return child

    cdef plucked(self, result, schema):
        if result is None:
            return None
        key = plucked_key(self.field, schema)
        if self.field.many:
            return [each[key] for each in result]
        return result[key]


# The plan is a borrowed reference, held by the child frame. All threads share it, and changing its
# reference count would make them wait for each other.


cdef dumped(DumpFrame child, value, Sink sink):
    """Dump a value by the plan of a nested schema. With a sink, write it and return whether
    anything was written."""
    cdef PyObject* plan = <PyObject*>child.plan
    althaia_enter()
    try:
        count_nested(<Plan>plan)
        return dump_with_hooks(<DumpPlan>plan, value, child.many, child, sink)
    finally:
        althaia_leave()


cdef DumpFrame dump_frame(schema, many_of_field, DumpFrame frame):
    """Return a frame for a nested schema. It has no plan if ``Schema.dump`` must be called."""
    cdef DumpPlan plan = <DumpPlan>usable_plan(schema, DUMP, frame.large)
    cdef DumpFrame child
    cdef object many = None, wanted
    if plan is not None:
        many = many_of(schema, None)
        if not plan.nestable or many is EXTRAORDINARY:
            plan = None
    child = open_dump_frame(plan, schema)
    child.large = frame.large
    child.growth = frame.growth
    child.bound = times_rebound()
    if plan is not None:
        # With the same test of the argument as Schema.dump's.
        wanted = many or many_of_field
        child.many = many if wanted is None else bool(wanted)
    return child


@cython.no_gc_clear
cdef class DumpNestedOfField(DumpNested):
    """Another schema, which the user's code in the field's class gives for each value."""

    cdef DumpFrame child_of(self, DumpFrame frame):
        """Return a frame for the schema that the field returns; without a plan if its ``dump`` must
        be called."""
        field = self.own_field(frame)
        cdef object schema = field.schema, many = field.many
        if PyType_IsSubtype(type(schema), upstream.Schema) and is_plain_flag(many):
            return dump_frame(schema, many, frame)
        return open_dump_frame(None, schema)


# ---- Load --------------------------------------------------------------------------


@cython.no_gc_clear
cdef class LoadNested(LoadStep):
    """Loads a nested schema, which is resolved when the first value reaches it, as in upstream."""

    label = "nested schema"
    cdef public int slot
    cdef public bint pluck

    cdef convert(self, value, data, LoadFrame frame):
        return self.load_nested(value, None, -1, data, frame)

    cdef walk(self, Tape tape, Py_ssize_t at, LoadFrame frame):
        return self.load_nested(None, tape, at, None, frame)

    cdef load_nested(
        self, value, Tape tape, Py_ssize_t at, data, LoadFrame frame
    ):
        """Load a value, or the value at a slot if there is a tape, by the nested schema."""
        cdef LoadFrame child
        cdef bint many
        child = self.child_of(frame)
        if child.plan is None:
            # This method is upstream's, which does not read the input around the value.
            value = value if tape is None else tape.share(at)
            field = nested_field(self.field, frame.state)
            return field_deserialize(field, value, self.key, data, frame)
        # A callable that gives the schema may have changed the instance's own field.
        own = self.field if upstream.nested_many_overrides else nested_field(
            self.field, frame.state
        )
        many = True if child.schema.many or own.many else False
        if tape is not None and (self.pluck or many != (tape.slots[at].type == ARRAY)):
            value = tape.share(at)
            tape = None
        if (
            many
            and tape is None
            and type(value) is not list
            and not upstream.is_collection(value)
        ):
            message = self.message("type", None, value)
            if message is not None:
                return fail(frame, [message], None)
            return frame.failed(
                self.own_field(frame).make_error("type", input=value, type=value.__class__.__name__)
            )
        if self.pluck:
            # Read the key for each value, as upstream does. An empty list needs no key.
            if self.field.many:
                value = [{plucked_key(self.field, child.schema): each} for each in value]
            else:
                value = {plucked_key(self.field, child.schema): value}
        child.tape = tape
        child.root = at
        return load_by_plan(child, value, frame)

    cdef LoadFrame child_of(self, LoadFrame frame):
        """Return the nested schema's frame. It has no plan if the field's own method must load."""
        cdef LoadFrame child = <LoadFrame>frame.children[self.slot]
        if child is not None and child.bound == times_rebound():
            return child
        schema = nested_schema(nested_field(self.field, frame.state), frame.schema, frame.state)
        child = load_frame(schema, self.field.unknown, given_partial(frame), frame)
        # Names in ``partial`` are a new list for each value, because hooks may change it.
        if frame.sub_partials is None and is_alike_for_all(schema, child.plan):
            frame.children[self.slot] = child
        return child


cdef given_partial(LoadFrame frame):
    """Return the ``partial`` that a call passes to its fields."""
    return None if frame.kwargs is None else (<dict>frame.kwargs)["partial"]


cdef LoadFrame load_frame(schema, unknown, partial, LoadFrame frame):
    """Return a frame for a nested schema, with the settings that ``Schema.load`` uses. It has no
    plan if that must be called."""
    cdef LoadPlan plan = <LoadPlan>usable_plan(schema, LOAD, frame.large)
    cdef LoadFrame child
    many = None
    if plan is not None:
        many = many_of(schema, None)
        unknown = unknown_of(schema, unknown)
        partial = partial_of(schema, partial)
        if (
            many is EXTRAORDINARY or unknown is EXTRAORDINARY or partial is EXTRAORDINARY
            or not (plan.nestable and althaia_is_simply_true(type(schema)))
        ):
            plan = None
    child = open_load_frame(plan, schema, many, partial, unknown)
    child.large = frame.large
    child.growth = frame.growth
    child.bound = times_rebound()
    return child


cdef load_by_plan(LoadFrame child, value, LoadFrame frame):
    """Load a value by a nested schema's plan."""
    # A borrowed reference, as in a dump.
    cdef PyObject* plan = <PyObject*>child.plan
    count_nested(<Plan>plan)
    child.store = None
    child.errors = None
    child.index = None
    althaia_enter()
    try:
        result = load_whole_or_fail(<LoadPlan>plan, value, child, True)
        if result is not FAILED:
            return result
        if is_unseen(<LoadPlan>plan):
            return fail(frame, child.messages, child.valid_data)
        error = handled_error(value, child)
    except upstream.ValidationError as raised:
        error = raised
    finally:
        althaia_leave()
    # Upstream raises another error with these messages.
    return fail(frame, constructed(error.messages), error.valid_data)


@cython.no_gc_clear
cdef class LoadNestedOfField(LoadStep):
    """Another schema, which the user's code in the field's class gives for each value."""

    label = "nested schema"

    cdef convert(self, value, data, LoadFrame frame):
        try:
            return self.loaded(self.own_field(frame), value, frame)
        except upstream.ValidationError as error:
            return frame.failed(error)

    cdef loaded(self, field, value, LoadFrame frame):
        cdef LoadFrame child
        schema = field.schema
        partial = given_partial(frame)
        if (schema.many or field.many) and not upstream.is_collection(value):
            raise field.make_error("type", input=value, type=value.__class__.__name__)
        # Upstream reads the schema once to check the value and once more to load it.
        schema = field.schema
        if PyType_IsSubtype(type(schema), upstream.Schema):
            child = load_frame(schema, field.unknown, partial, frame)
            if child.plan is not None:
                return load_by_plan(child, value, frame)
        try:
            return schema.load(value, unknown=field.unknown, partial=partial)
        except upstream.ValidationError as error:
            raise upstream.ValidationError(error.messages, valid_data=error.valid_data) from error


# ---- Analysis ----------------------------------------------------------------------


def dump_nested(analysis, field, options):
    if gives_schema(analysis, field):
        return DumpNestedOfField(field, **seen(analysis, field, options))
    return DumpNested(field, **resolved(analysis, field, options))


def gives_schema(analysis, field):
    """Return whether a user-defined property returns a nested field's schema."""
    raw = static(type(field), "schema")
    return type(raw) is property and not analysis.upstream.has(
        type(field), "schema", analysis.upstream.fields["Nested"]
    )


def seen(analysis, field, options):
    """Return the options of a step that reads ``field.schema``, which the field caches."""
    analysis.field_value(field, "unknown")
    check_cached(analysis, field)
    return analysis.with_own_slot(options)


def check_cached(analysis, field):
    """Make sure that reading ``field.schema`` runs no user code but a property's: each call does
    so, and the first one sets ``_schema``."""
    analysis.field_value(field, "_schema")
    analysis.typed_value(field, "many", bool, True)
    analysis.check_objects_own(type(field), "__setattr__")
    analysis.leave_out(field, "_schema")


def dump_pluck(analysis, field, options):
    fields = analysis.upstream.fields
    options = resolved(analysis, field, options)
    owners = definers(type(field), "_serialize")
    if owners[:2] != [fields["Pluck"], fields["Nested"]]:
        raise NotPlannable(f"_serialize of Pluck goes on to {owners[1].__qualname__}")
    analysis.class_method(fields["Nested"], "_serialize")
    check_plucked(analysis, field)
    analysis.fields_helper("pluck")
    return DumpNested(field, pluck=True, **options)


def load_nested(analysis, field, options):
    check_loaded(analysis, field)
    if gives_schema(analysis, field):
        return LoadNestedOfField(field, **seen(analysis, field, options))
    return LoadNested(field, guarded=True, **resolved(analysis, field, options))


def load_pluck(analysis, field, options):
    check_loaded(analysis, field)
    options = resolved(analysis, field, options)
    check_plucked(analysis, field)
    return LoadNested(field, pluck=True, guarded=True, **options)


def check_loaded(analysis, field):
    for name in ("_load", "_test_collection"):
        analysis.field_method(field, name, analysis.upstream.fields["Nested"])
    analysis.field_value(field, "unknown")
    analysis.fields_helper("is_collection", "is_iterable_but_not_string")


def check_plucked(analysis, field):
    analysis.field_method(field, "_field_data_key", analysis.upstream.fields["Pluck"])
    analysis.field_value(field, "field_name")


def resolved(analysis, field, options):
    """Return the options of a step that resolves the nested schema as upstream's code does.

    :raises NotPlannable: other code resolves it.
    """
    for name in ("schema", "_nested_normalized_option"):
        analysis.field_method(field, name, analysis.upstream.fields["Nested"])
    for name in ("Schema", "SchemaMeta"):
        # field_function() would ask for their bodies, too, which may differ in this release.
        found = analysis.watch_entry(analysis.upstream.live["schema"], name)
        if found is not seam.defined["schema"][name]:
            raise NotPlannable(f"marshmallow.schema.{name} is replaced")
    for name in ("nested", "only", "exclude"):
        analysis.field_value(field, name)
    check_cached(analysis, field)
    return options | {"slot": analysis.new_slot()}


KINDS += [
    Kind("Nested", dump=dump_nested, load=load_nested),
    Kind("Pluck", dump=dump_pluck, load=load_pluck),
]
