"""The schema of a nested field, as ``Nested.schema`` makes it, also if the field's parent is lazy.

A prototype's plan contains the prototype's fields. A lazy parent gets its own copy of each nested
field that a call reaches, so that the nested schema is resolved once for each parent.
"""

cdef str INIT = "__init__"
# The class of a field that stands for another one of which ``nested`` was called already. User code
# that runs while the schema is made finds it at the field itself.
cdef object resolver_class = None


cdef int64_t times_rebound() noexcept:
    """Return a number that changes when fields of a nested schema may have been bound again."""
    return althaia_counted(&rebound)


cdef nested_schema(field, parent, InstanceDict state):
    """Return what ``Nested.schema`` returns.

    :param field: the result of :func:`nested_field`.
    :param parent: the schema whose field it is.
    :param state: the parent's dictionary as the call began.
    """
    if field._schema is None:
        # If user code has set an option on the parent, it applies to the nested schema.
        materialise_if_touched(parent, state)
        schema = resolve(field, parent, state)
        if schema is not None:
            field._schema = schema
            return schema
        if upstream.nested_has_context:
            # Upstream reads the context of the field's parent, which is still the prototype.
            materialise_if_lazy(parent)
        schema = field.schema
        althaia_count(&rebound, 1)
        return schema
    return field._schema if althaia_is_simply_true(type(field._schema)) else field.schema


cdef resolve(field, parent, InstanceDict state):
    """Return the schema that ``Nested.schema`` would make for a field; None if upstream's code must
    run."""
    nested = field.nested
    if upstream.nested_has_context:
        # The parent of a lazy instance's field may still be the prototype: the instance is asked.
        owner = parent if has_prototypes_fields(state) else field.parent
        context = getattr(owner, "context", EMPTY)
        if type(context) is not dict or len(<dict>context) > 0 or not (
            type(nested) in (str, FunctionType) or is_schema_class(nested) or is_schema(nested)
        ):
            # Upstream's code passes the context on, and warns of it. Of any other callable it asks
            # for its ``__class__``, which may be code.
            return None
        if type(nested) is str:
            registry = upstream.live["fields"]["class_registry"]
            nested = (
                field.root.__class__ if nested == "self" else registry.get_class(nested, all=False)
            )
    if callable(nested) and not isinstance(nested, upstream.SchemaMeta):
        if isinstance(nested, type) and not upstream.nested_many_overrides:
            # Releases that leave an instance its ``many`` call no class.
            return None
        nested = nested()
        materialise_if_touched(parent, state)
    if is_schema_class(nested):
        return from_class(field, nested)
    schema = own_copy(nested, field) if is_schema(nested) else None
    return upstreams_schema(field, nested) if schema is None else schema


cdef bint is_schema(nested):
    return PyType_IsSubtype(type(nested), upstream.Schema)


cdef bint is_schema_class(nested):
    # issubclass() would ask ABCMeta, which takes thirty times as long.
    return PyType_IsSubtype(type(nested), upstream.SchemaMeta) and PyType_IsSubtype(
        nested, upstream.Schema
    )


cdef from_class(field, nested):
    """Make the nested schema from a class, as upstream does."""
    cdef dict options = {
        "many": bool(field.many) if upstream.nested_many_overrides else field.many,
        "only": field.only,
        "exclude": field.exclude,
    }
    if upstream.nested_has_context:
        if althaia_type_lookup(nested, INIT) is not upstream.schema_attributes[INIT]:
            # The parent's empty context is given to it, and may be changed.
            return upstreams_schema(field, nested)
        options["context"] = {}
    options["load_only"] = of_nested(field, "load_only")
    options["dump_only"] = of_nested(field, "dump_only")
    return nested(**options)


cdef of_nested(field, str option):
    """Return what ``Nested._nested_normalized_option`` returns."""
    own = field.name
    # In the place of getattr(), which an interceptor makes slow: a prototype has the attribute.
    cdef InstanceDict state = existing_dict(field.root)
    listed = None if state is None else (<dict>state).get(option)
    if listed is None:
        listed = getattr(field.root, option, ())
    if type(own) is str and type(listed) is set and not listed:
        return []
    prefix = f"{own}."
    return [name.split(prefix, 1)[1] for name in listed if name.startswith(prefix)]


def _found(resolver):
    return resolver.found


def _set_found(resolver, schema):
    resolver.found = resolver.asked_for._schema = schema


cdef upstreams_schema(field, nested):
    """Return the schema that upstream's code makes from ``nested``, which is not called again."""
    global resolver_class
    asked = field
    if callable(nested) or field.nested is not nested:
        # Not by a change of the field: other threads read it meanwhile.
        if resolver_class is None:
            resolver_class = type(
                "Nested", (upstream.fields["Nested"],), {"_schema": property(_found, _set_found)}
            )
        asked = made_with(resolver_class, vars_of(field).copy())
        vars_of(asked).update(
            nested=(lambda: nested) if callable(nested) else nested, asked_for=field, found=None
        )
    schema = asked.schema
    # Upstream's own ``_init_fields`` has counted this already, but the class may override that.
    althaia_count(&rebound, 1)
    if is_schema(nested):
        record_copy(nested, field, schema)
    return schema


cdef plucked_key(field, schema):
    """Return what ``Pluck._field_data_key`` returns, without materialising the field's schema."""
    name = field.field_name
    cdef InstanceDict state = existing_dict(schema)
    # A hook may have materialised it and replaced its fields.
    materialise_if_touched(schema, state)
    if lacks_attributes(state):
        schema = state.instance.prototype.schema
    key = schema.fields[name].data_key
    if upstream.empty_key_is_a_key:
        return name if key is None else key
    return key or name
