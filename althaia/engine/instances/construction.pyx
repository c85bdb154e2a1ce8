"""Make schema instances, as upstream's ``Schema.__init__`` and ``Schema._init_fields`` do.

``S()`` calls :func:`lazy_init`. With options it calls ``__init__``, whose first statement calls
:func:`construct`. Either finds the prototype, and :func:`make_from` makes the instance, which is
lazy unless user code binds fields. The first statement of ``_init_fields`` calls :func:`binding`.
"""

cdef extern from "Python.h":
    object PyObject_GenericGetAttr(object obj, object name)

cdef int64_t rebound = 0
# Whether upstream's functions are interpreted, so that debuggers and profilers see their frames.
cdef bint have_frames = False
cdef str INIT = "__init__"
cdef tuple UNKNOWN_CHOICES = ("exclude", "include", "raise")
cdef str CHECK_UNKNOWN = "validate_unknown_parameter_value"
cdef str INIT_FIELDS = "_init_fields"
# The seam's functions: a layer may stand around ``construct``, or the engine may be switched off.
cdef dict SEAM = vars(seam)


cdef int lazy_init(schema, args, PyObject* options) except -1:
    """``tp_init`` of classes with lazy instances. Make an instance without options here: calling
    ``__init__``, which has eight keyword-only parameters, takes longer than all the rest."""
    cdef Blueprint blueprint
    if (
        len(<tuple>args) == 0
        and (options is NULL or len(<dict>options) == 0)
        and SEAM["construct"] is construct
        and not is_own(type(schema), INIT)
        and not (have_frames and althaia_is_traced())
    ):
        blueprint = blueprint_of(type(schema))
        if blueprint is not None and blueprint.begun == LAZY and blueprint.holds(schema):
            prototype = blueprint.prototypes.get(DEFAULTS)
            partial = False if upstream.partial_is_false else None
            if type(prototype) is Prototype and make_from(
                schema, <Prototype>prototype, None, partial, None, None
            ):
                return 0
    return althaia_plain_init(schema, args, options)


def construct(
    schema, only, exclude, many, load_only, dump_only, partial, unknown, context=None
):
    """Make an instance, at the beginning of ``Schema.__init__``. Return False, having changed
    nothing, if upstream's code must make it."""
    cdef Blueprint blueprint
    cdef Prototype prototype
    cdef InstanceDict state
    if upstream.has_context and not are_accepted(unknown, context):
        return False
    if many is None and not upstream.many_by_option:
        return False
    state = existing_dict(schema)
    if state is not None and state.instance is not None:
        # ``__init__`` is called again, or upstream's code is building a prototype.
        materialise_if_lazy(schema)
        return False
    key = options_key(only, exclude, load_only, dump_only)
    if key is None:
        return False
    blueprint = valid_blueprint(type(schema), schema)
    if blueprint is None or blueprint.reason or (blueprint.has_hook and not ALTHAIA_HAS_GIL):
        return False
    prototype = blueprint.find(key)
    return prototype is not None and make_from(schema, prototype, many, partial, unknown, context)


cdef bint are_accepted(unknown, context):
    """Whether upstream's code accepts these two options, and ``bool(context)`` runs no user
    code."""
    if context is not None and type(context) is not dict:
        return False
    return unknown is None or (
        type(unknown) is str and unknown in UNKNOWN_CHOICES
        and upstream.live["schema"].get(CHECK_UNKNOWN, ABSENT)
        is seam.defined["schema"].get(CHECK_UNKNOWN, ABSENT)
    )


cdef bint make_from(schema, Prototype prototype, many, partial, unknown, context):
    """Make an instance from a prototype, as ``Schema.__init__`` does with these options. Return
    False, having changed nothing, if its dictionary cannot hold the prototype, or has an entry that
    construction would read."""
    cdef Blueprint blueprint = prototype.blueprint
    cdef InstanceDict state = instance_dict(schema)
    cls = type(schema)
    if state is None or state.instance is not None:
        return False
    # Almost always empty. A list, because without the GIL another thread may add attributes.
    for name in PyDict_Keys(state) if state else ():
        # A Method field binds to the instance's attribute of the method's name.
        if (
            name in late_names or name in (MANY, PARTIAL, UNKNOWN, CONTEXT)
            or althaia_type_lookup(cls, name) is not None
        ):
            return False
    state.instance = new_instance(prototype, blueprint.begun)
    PyDict_SetItem(state, MANY, blueprint.many if many is None else many)
    PyDict_SetItem(state, PARTIAL, partial)
    PyDict_SetItem(state, UNKNOWN, blueprint.unknown if unknown is None else unknown)
    if upstream.has_context:
        PyDict_SetItem(state, CONTEXT, context or {})
        if context:
            warn_of_context()
    if blueprint.begun == LAZY:
        PyDict_SetItem(state, ERROR_MESSAGES, merged_messages(
            althaia_type_lookup(cls, "_default_error_messages"),
            cls.__mro__,
            althaia_type_lookup(cls, ERROR_MESSAGES),
        ))
    else:
        bind_with_users_code(schema, state, prototype)
    return True


cdef int bind_with_users_code(schema, InstanceDict state, Prototype prototype):
    """Construct an instance whose class has an ``on_bind_field``, or another function in the place
    of ``Schema._init_fields``.

    The hook is called for each field of an instance that has the attributes that upstream sets
    before. Most functions, such as Superset's, only call upstream's, where the instance becomes
    lazy (:func:`binding`). If the function reads an attribute before, the instance gets the same.
    """
    cdef Instance instance = state.instance
    cdef OwnFields own_fields = None
    if prototype.blueprint.has_hook:
        own_fields = own_fields_of(prototype, None)
        add_missing(state, prototype.unbound(own_fields, schema))
        bind(schema, own_fields)
    else:
        schema._init_fields()
        if instance.state == UNBOUND:
            # It did not call upstream's: the fields stay unbound.
            materialise(schema, state)
    # The last attribute that ``Schema.__init__`` sets.
    schema.error_messages = merged_messages(
        schema._default_error_messages, schema.__class__.__mro__, schema.error_messages
    )
    # The hook may have replaced the dictionary.
    state = existing_dict(schema)
    if state is not None and state.instance is instance and own_fields is not None:
        instance._own_fields = own_fields


cdef int warn_of_context():
    """Warn of a ``context`` that is not empty, if upstream's ``Schema.__init__`` does.

    Compiled functions have no frame. Hence ``stacklevel=2`` names the caller of ``__init__`` here,
    too.
    """
    if upstream.context_is_silent:
        return 0
    names = upstream.live["schema"]
    names["warnings"].warn(
        "The `context` parameter is deprecated and will be removed in marshmallow 4.0. "
        "Use `contextvars.ContextVar` to pass context instead.",
        names["RemovedInMarshmallow4Warning"],
        stacklevel=2,
    )


cdef inline int add(dict messages, more):
    """Update a dictionary of messages. Mostly ``more`` is empty, and nothing is called."""
    if type(more) is not dict:
        messages.update(more)
    elif len(<dict>more) > 0:
        PyDict_Update(messages, <dict>more)
    return 0


cdef dict merged_messages(defaults, tuple classes, own):
    """Merge messages as ``Schema.__init__`` does: the defaults, those of each class of the MRO from
    the last to the first, and the instance's own."""
    cdef dict messages = {}
    add(messages, defaults)
    for cls in reversed(classes):
        # A failing getattr() is slow: it makes an AttributeError.
        if cls is not object and (
            type(cls) is not type and type(cls) is not ABCMeta
            or althaia_type_lookup(cls, ERROR_MESSAGES) is not None
        ):
            add(messages, getattr(cls, ERROR_MESSAGES, EMPTY))
    add(messages, own or EMPTY)
    return messages


# ---- Copying and binding fields --------------------------------------------------------


def copied_fields(declared, deepcopy):
    """Return what ``deepcopy(declared)`` returns, in ``Schema.__init__``: a field with two names is
    copied once."""
    cdef dict memo = {}, copies = {}
    if not copies_simply(upstream, declared, deepcopy):
        return deepcopy(declared)
    for name, field in (<dict>declared).items():
        copied = memo.get(id(field))
        if copied is None and field is not None:
            copied = memo[id(field)] = clone(field)
        copies[name] = copied
    return copies


def binding(schema):
    """Called first in ``Schema._init_fields``. Return True if the instance is lazy, so that no
    field need be bound, or if all are bound now."""
    cdef InstanceDict state = existing_dict(schema)
    fields = None
    if (
        # The user's function that calls upstream's has read and set no attribute before.
        state_now(state) == UNBOUND and ERROR_MESSAGES not in <dict>state
        and not materialise_if_touched(schema, state)
    ):
        state.instance.state = LAZY
        return True
    # Not a user's property. Making a dictionary would slow the construction down.
    if althaia_type_lookup(type(schema), FIELDS) is None:
        try:
            fields = PyObject_GenericGetAttr(schema, FIELDS)
        except AttributeError:
            return init_fields(schema)
    if type(fields) is not dict or len(<dict>fields) > 0:
        althaia_count(&rebound, 1)
    return init_fields(schema)


cdef int bind(schema, OwnFields own):
    """Do what ``Schema._init_fields`` does for an instance that has all other attributes but its
    messages.

    The hook may change the schema. Hence each attribute is read at the moment at which upstream's
    code reads it.
    """
    cdef Py_ssize_t number
    fields = schema.dict_class()
    for name, number in <tuple>own.prototype.attributes["fields"]:
        copied = own.by_number[number]
        field = declared_field(schema, name)
        if field is not copied or name in own.prototype.blueprint.binding_themselves:
            schema._bind_field(name, field)
            own.note(number, copied)
        else:
            if name in schema.load_only:
                field.load_only = True
            if name in schema.dump_only:
                field.dump_only = True
            own.bind(name, number, schema)
            schema.on_bind_field(name, field)
        fields[name] = field
    set_fields(schema, fields)


cdef bint init_fields(schema):
    """Do what ``Schema._init_fields`` does for an instance with all its declared fields but those
    in ``exclude``. Return False, having changed nothing, if upstream's code must do it."""
    declared, exclude = schema.declared_fields, schema.exclude
    set_class = upstream.schema_attributes.get("set_class")
    made_by = seam.pristine[upstream.Field]["__init__"]
    if (
        # What set_fields() leaves to upstream's code.
        type(schema) is SimpleNamespace
        or schema.only is not None
        or type(declared) not in (dict, OrderedDict)
        or type(exclude) not in (set, set_class)
        # What upstream's code asks in any case, before what takes longer.
        or schema.opts.fields
        or (upstream.infers_fields and schema.opts.additional)
        or not upstream.is_known("schema.Schema._init_fields")
        # A property in some releases, where nothing comes before it.
        or (static(type(schema), "set_class") if type(set_class) is property else schema.set_class)
        is not set_class
        or not set(exclude) <= declared.keys()
        # An __init__ of somebody's own would see the Inferred that upstream makes for each field.
        or (upstream.infers_fields and upstream.Field.__init__ is not made_by)
    ):
        return False
    fields = schema.dict_class()
    if type(set_class) is property:
        # The order is that of a set, made as upstream makes it, unless Meta.ordered is set.
        names = schema.set_class(declared.keys())
        if exclude:
            names = names - exclude
    else:
        names = [name for name in declared if name not in exclude]
    for name in names:
        field = declared_field(schema, name)
        schema._bind_field(name, field)
        fields[name] = field
    set_fields(schema, fields)
    return True


cdef declared_field(schema, name):
    """Return the field that upstream binds for a name."""
    try:
        return schema.declared_fields[name]
    except KeyError:
        if not upstream.infers_fields:
            raise
        return upstream.live["fields"]["Inferred"]()


cdef bint are_distinct(list names):
    """Whether all are text that is not empty, and no two are equal."""
    return all([type(name) is str and name for name in names]) and len(set(names)) == len(names)


cdef int set_fields(schema, fields):
    """Set the attributes that ``Schema._init_fields`` sets, in its order."""
    load_fields, dump_fields = schema.dict_class(), schema.dict_class()
    for name, field in fields.items():
        if not field.dump_only:
            load_fields[name] = field
        if not field.load_only:
            dump_fields[name] = field
    keys = [
        name if field.data_key is None else field.data_key for name, field in dump_fields.items()
    ]
    targets = [
        name if (own := field.attribute) is None else own for name, field in load_fields.items()
    ]
    if not (are_distinct(keys) and are_distinct(targets)):
        # Upstream's code raises its error. It takes any object that has what it reads.
        upstream.schema_attributes[INIT_FIELDS](SimpleNamespace(
            declared_fields=fields, only=None, exclude=set(), opts=upstream.Schema.opts,
            set_class=upstream.OrderedSet, dict_class=dict, ordered=True,
            _bind_field=lambda name, field: None,
        ))
    schema.fields = fields
    schema.dump_fields = dump_fields
    schema.load_fields = load_fields
