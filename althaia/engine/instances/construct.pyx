"""The engine's part of ``Schema.__init__``.

The seam calls :func:`construct` there first. It makes the instance lazy if the class allows that.
Otherwise :func:`build_whole` builds the instance in full, if the call leaves out no field and all
fields are copied in the default way. It does without ``copy.deepcopy`` and the sets of names, which
take two thirds of the time of upstream's code. It calls ``_bind_to_schema`` of the fields and
``on_bind_field`` in upstream's order. At each of these calls the schema has the attributes that it
would have in upstream's code.
"""

cdef extern from "althaia/cpython/layout.h":
    bint althaia_has_made_dict(object obj)
    bint althaia_is_bare(object obj)

cdef object COPY = copy
# Recorded when marshmallow was imported, because a test may have replaced them since.
cdef dict AS_SHIPPED = dict(seam.defined.get("copy", vars(copy)))
cdef object deepcopy = AS_SHIPPED["deepcopy"]
cdef object shallow_copy = AS_SHIPPED["copy"]
# Methods of a schema class whose work build_whole() does itself.
cdef tuple REPLACED = ("_normalize_nested_options", "set_class", "dict_class")
# Attributes that build_whole() sets on the instance.
cdef tuple SET = (
    "declared_fields", "many", "only", "exclude", "load_only", "dump_only", "partial", "unknown",
    "fields", "load_fields", "dump_fields",
)
cdef tuple UNKNOWN_CHOICES = ("exclude", "include", "raise")
cdef str CHECK_UNKNOWN = "validate_unknown_parameter_value"
cdef object object_getattribute = object.__getattribute__
cdef object object_setattr = object.__setattr__
# Upstream's functions whose work build_whole() does itself, by their names in the semantic lock.
cdef tuple REPLACED_FUNCTIONS = (
    "schema.Schema.__init__",
    "schema.Schema._init_fields",
    "schema.Schema._normalize_nested_options",
    "fields.Field.__deepcopy__",
    "utils.is_collection",
    "utils.is_iterable_but_not_string",
    "utils.is_generator",
)
# Functions that decide whether an option is a collection of names.
cdef tuple ASKED_OF_OPTIONS = (
    ("schema", "is_collection"),
    ("utils", "is_iterable_but_not_string"),
    ("utils", "is_generator"),
    ("utils", "Mapping"),
)
# Methods that ``copy`` looks up on a field's class and ``object.__reduce_ex__`` on the field.
cdef tuple OBJECT_METHODS = (
    "__new__", "__reduce_ex__", "__reduce__", "__getstate__", "__getattribute__"
)
cdef tuple UNUSUAL_METHODS = (
    "__copy__", "__setstate__", "__getnewargs_ex__", "__getnewargs__", "__getattr__"
)
cdef tuple PLAIN_KEYS = (str, type(None))
# Attributes of a field that binding sets and :func:`sort` reads.
cdef tuple BOUND = ("parent", "name", "root", "load_only", "dump_only", "data_key", "attribute")


def construct(
    schema, only, exclude, many, load_only, dump_only, partial, unknown, context=None
):
    """Make an instance, at the beginning of ``Schema.__init__``. Return False, having changed
    nothing, if upstream's code must make it."""
    if is_upstreams_turn(sample):
        return False
    if marshmallow.has_context and not are_accepted(unknown, context):
        return False
    if construct_lazily(
        schema, only, exclude, many, load_only, dump_only, partial, unknown, context
    ):
        return True
    declared = althaia_type_lookup(type(schema), "_declared_fields")
    if (
        only is not None
        or not is_empty(exclude)
        or type(declared) is not dict
        or not is_replaceable(schema)
        or not copies_simply(<dict>declared)
    ):
        return False
    build_whole(schema, <dict>declared, many, load_only, dump_only, partial, unknown, context)
    return True


cdef bint are_accepted(object unknown, object context):
    """Whether upstream's code accepts these two options, and ``bool(context)`` runs no user
    code."""
    if context is not None and type(context) is not dict:
        return False
    return unknown is None or (
        type(unknown) is str and unknown in UNKNOWN_CHOICES
        and marshmallow.live["schema"].get(CHECK_UNKNOWN)
        is seam.defined["schema"].get(CHECK_UNKNOWN, ABSENT)
    )


cdef bint are_declared(object names, object cls):
    """Whether an option is a builtin list or tuple of names that a class declares. Upstream's code
    raises an error for other names."""
    cdef object declared = althaia_type_lookup(cls, "_declared_fields")
    if type(names) not in (tuple, list) or type(declared) is not dict:
        return False
    for name in names:
        # A dot separates the names of a nested option.
        if type(name) is not str or "." in <str>name or name not in <dict>declared:
            return False
    return True


cdef bint is_empty(object names):
    """Whether an option is an empty builtin collection."""
    return type(names) in (tuple, list, set, frozenset) and len(names) == 0


# ---- Conditions ---------------------------------------------------------------------------


cdef bint is_replaceable(object schema) except -1:
    """Whether build_whole() makes the same instance as upstream's code, as far as that depends on
    the class and the attributes that the instance has already."""
    cdef object state
    if not is_as_shipped() or not has_upstreams_construction(type(schema)):
        return False
    if althaia_is_bare(schema):
        return True
    state = made_dict(schema)
    if state is None:
        return True
    # An InstanceDict: ``__init__`` is called again, or upstream's code is building a prototype.
    if type(state) is not dict:
        return False
    for name in (*REPLACED, "_init_fields", "opts", "_declared_fields"):
        if name in <dict>state:
            return False
    return True


cdef bint is_as_shipped() except -1:
    """Whether each function that build_whole() does without is upstream's, and known in this
    release."""
    for name in REPLACED_FUNCTIONS:
        if name in marshmallow.unknown:
            return False
    for module, name in ASKED_OF_OPTIONS:
        if marshmallow.live[module].get(name) is not seam.defined[module].get(name, ABSENT):
            return False
    return True


cdef bint has_upstreams_construction(object cls) except -1:
    """Whether a class overrides nothing that build_whole() does, and its ``Meta`` leaves out at
    most declared fields."""
    cdef object opts, options
    if overrides_construction(cls):
        return False
    opts = althaia_type_lookup(cls, "opts")
    options = althaia_dict_or_none(opts)
    return (
        type(options) is dict
        and are_declared((<dict>options).get("exclude"), cls)
        and is_empty((<dict>options).get("fields"))
        and infers_nothing(cls, <dict>options)
    )


cdef bint overrides_construction(object cls) except -1:
    """Whether a class defines something that build_whole() would do otherwise."""
    cdef Blueprint blueprint = blueprint_of(cls)
    cdef unsigned int version = althaia_type_tag(cls)
    cdef object options_class
    if blueprint is not None and version != 0 and blueprint.plain_version == version:
        return False
    for name in REPLACED:
        if althaia_type_lookup(cls, name) is not marshmallow.schema_attributes[name]:
            if name != "dict_class" or mapping_of(cls) is None:
                return True
    # It may be a property, which build_whole() would read less often than upstream does.
    for name in SET:
        if althaia_type_lookup(cls, name) is not None:
            return True
    # has_upstreams_construction() reads the dictionary of the options instead.
    options_class = type(althaia_type_lookup(cls, "opts"))
    if (
        althaia_type_lookup(options_class, "__getattribute__") is not object_getattribute
        or althaia_type_lookup(options_class, "__get__") is not None
        or althaia_type_lookup(cls, "__getattribute__") is not object_getattribute
        or althaia_type_lookup(cls, "__setattr__") is not object_setattr
    ):
        return True
    if blueprint is not None:
        blueprint.plain_version = version
    return False


cdef bint infers_nothing(object cls, dict options) except -1:
    """Whether each name has a declared field. Marshmallow 3 makes fields for names without one."""
    if not marshmallow.has_context:
        return True
    for name in ("ordered", "context"):
        if althaia_type_lookup(cls, name) is not None:
            return False
    return (
        type(options.get("ordered")) is bool
        and is_empty(options.get("additional"))
    )


cdef bint copies_simply(dict declared) except -1:
    """Whether ``copy.deepcopy(declared)`` makes a dictionary with a ``copy.copy`` of each field.
    marshmallow-sqlalchemy declares None for a name that ``Meta.exclude`` leaves out."""
    if (
        marshmallow.live["schema"].get("copy") is not COPY
        or marshmallow.live["fields"].get("copy") is not COPY
        or COPY.deepcopy is not deepcopy
        or COPY.copy is not shallow_copy
    ):
        return False
    for name, field in declared.items():
        if type(name) is not str or (field is not None and not copies_as_object(field)):
            return False
    return True


cdef bint copies_as_object(object field) except -1:
    """Whether ``copy.copy`` copies a field by its class and its instance dictionary."""
    if type(althaia_dict_or_none(field)) is not dict:
        return False
    if not marshmallow.has_passed(type(field), COPIED_AS_OBJECT):
        if not has_simple_copies(type(field)):
            return False
        marshmallow.note_passed(type(field), COPIED_AS_OBJECT)
    return True


cdef bint has_simple_copies(object cls) except -1:
    """Whether no class of a field's MRO defines a copy method or slots."""
    if althaia_type_lookup(cls, "__deepcopy__") is not marshmallow.raw(
        marshmallow.Field, "__deepcopy__"
    ):
        return False
    for name in OBJECT_METHODS:
        if static(cls, name) is not object.__dict__.get(name, ABSENT):
            return False
    for name in UNUSUAL_METHODS:
        if static(cls, name) is not ABSENT:
            return False
    # clone() does not copy slots.
    return cls.__basicsize__ == marshmallow.Field.__basicsize__


# ---- Construction -------------------------------------------------------------------------


cdef int build_whole(
    object schema, dict declared, object many, object load_only, object dump_only,
    object partial, object unknown, object context,
) except -1:
    """Do what ``Schema.__init__`` does, in its order."""
    cdef Blueprint blueprint = blueprint_of(type(schema))
    # Instances of this class go on being built in full, so that this one gets a place for plans.
    # The few instances of a young class are used once and need none: CPython stores their
    # attributes in the object.
    if ALTHAIA_HAS_GIL and blueprint is not None and blueprint.guard is None:
        instance_dict(schema)
    schema.declared_fields = copied_fields(declared)
    schema.many = schema.opts.many if many is None else many
    schema.only = None
    schema.exclude = set(schema.opts.exclude)
    if marshmallow.has_context:
        schema.ordered = schema.opts.ordered
    schema.load_only = set(load_only) or set(schema.opts.load_only)
    schema.dump_only = set(dump_only) or set(schema.opts.dump_only)
    schema.partial = partial
    schema.unknown = schema.opts.unknown if unknown is None else unknown
    if marshmallow.has_context:
        if context:
            warn_of_context()
        schema.context = context or {}
    schema.fields = {}
    schema.load_fields = {}
    schema.dump_fields = {}
    init_fields(schema, declared)
    set_messages(schema)
    if ALTHAIA_HAS_GIL and althaia_has_made_dict(schema):
        # is_replaceable() made it. A plain one would say that the instance has had its first call
        # (planner.is_first_call), and no model would be made.
        instance_dict(schema)
    return 0


cdef int init_fields(object schema, dict declared) except -1:
    """Do what ``_normalize_nested_options`` does, then bind the fields: by the class's own
    ``_init_fields``, or as upstream's does."""
    cdef object excluded = schema.exclude
    if excluded:
        schema.exclude = schema.set_class(list(excluded))
    if (
        althaia_type_lookup(type(schema), "_init_fields")
        is marshmallow.schema_attributes["_init_fields"]
    ):
        bind(schema, [name for name in declared if name not in excluded])
    else:
        schema._init_fields()
    return 0


cdef int bind(object schema, list names) except -1:
    """Do what ``Schema._init_fields`` does. Binding a field may run user code, which may change the
    schema. Hence each attribute is read at the moment at which upstream's code reads it."""
    cdef object fields = new_mapping(schema), load_fields, dump_fields
    cdef bint simply = marshmallow.defines(type(schema), "_bind_field", marshmallow.Schema)
    for name in names:
        if marshmallow.infers_fields:
            # User code that ran while one field was bound may have removed another.
            field = schema.declared_fields.get(name, ABSENT)
            if field is ABSENT:
                field = marshmallow.live["fields"]["Inferred"]()
        else:
            field = schema.declared_fields[name]
        if not simply or not bind_simply(schema, name, field):
            schema._bind_field(name, field)
        fields[name] = field
    load_fields, dump_fields = new_mapping(schema), new_mapping(schema)
    if not sort(fields, load_fields, dump_fields):
        sort_by_upstream(fields, load_fields, dump_fields)
    schema.fields = fields
    schema.dump_fields = dump_fields
    schema.load_fields = load_fields
    return 0


cdef bint bind_simply(object schema, object name, object field) except -1:
    """Do what ``Schema._bind_field`` does, if the field's ``_bind_to_schema`` only sets ``parent``,
    ``name`` and ``root``. Return False if upstream's method must run."""
    cdef InstanceDict state = existing_dict(schema)
    cdef dict own
    cdef object hook
    if (
        state is None
        or "_bind_field" in <dict>state
        or not is_empty_set((<dict>state).get("load_only"))
        or not is_empty_set((<dict>state).get("dump_only"))
        or not keeps_attributes(type(field))
        or not marshmallow.defines(type(field), "_bind_to_schema", marshmallow.Field)
    ):
        return False
    own = vars_of(field)
    if (
        type(own) is not dict
        or "_bind_to_schema" in own
        or own.get("parent", ABSENT) is not None
        or own.get("name", ABSENT) is not None
        or own.get("root", ABSENT) is not None
    ):
        return False
    PyDict_SetItem(own, "parent", schema)
    PyDict_SetItem(own, "name", name)
    PyDict_SetItem(own, "root", schema)
    hook = althaia_type_lookup(type(schema), "on_bind_field")
    if (
        hook is not marshmallow.schema_attributes["on_bind_field"]
        or "on_bind_field" in <dict>state
    ):
        schema.on_bind_field(name, field)
    return True


cdef bint is_empty_set(object names) noexcept:
    return type(names) is set and len(<set>names) == 0


cdef bint keeps_attributes(object cls) except -1:
    """Whether the attributes of a field that binding and :func:`sort` use are in its dictionary, so
    that setting and reading them runs no user code."""
    if marshmallow.has_passed(cls, KEPT_IN_DICT):
        return True
    if (
        not issubclass(cls, marshmallow.Field)
        or althaia_type_lookup(cls, "__setattr__") is not object_setattr
        or althaia_type_lookup(cls, "__getattribute__") is not object_getattribute
    ):
        return False
    for name in BOUND:
        if althaia_type_lookup(cls, name) is not None:
            return False
    marshmallow.note_passed(cls, KEPT_IN_DICT)
    return True


cdef bint sort(object fields, object load_fields, object dump_fields) except -1:
    """Fill the mappings of loaded and of dumped fields. Return False, with both empty, if reading
    an attribute may run user code, or if two names collide."""
    cdef set keys = set(), targets = set()
    cdef dict own
    for name, field in fields.items():
        if not keeps_attributes(type(field)):
            break
        own = vars_of(field)
        dump_only, load_only = own.get("dump_only"), own.get("load_only")
        key, target = own.get("data_key", ABSENT), own.get("attribute", ABSENT)
        if (
            type(dump_only) is not bool or type(load_only) is not bool
            or type(key) not in PLAIN_KEYS or type(target) not in PLAIN_KEYS
        ):
            break
        if dump_only is False:
            load_fields[name] = field
            targets.add(target or name)
        if load_only is False:
            dump_fields[name] = field
            keys.add(name if key is None else key)
    else:
        if len(keys) == len(dump_fields) and len(targets) == len(load_fields):
            return True
    load_fields.clear()
    dump_fields.clear()
    return False


cdef int sort_by_upstream(object fields, object load_fields, object dump_fields) except -1:
    """Fill the mappings by upstream's code, which raises its error if two names collide."""
    cdef object schema = object.__new__(marshmallow.Schema)
    schema.__dict__.update(
        declared_fields=fields, only=None, exclude=set(), _bind_field=lambda name, field: None
    )
    if marshmallow.has_context:
        schema.__dict__["ordered"] = False
    marshmallow.schema_attributes["_init_fields"](schema)
    load_fields.update(schema.load_fields)
    dump_fields.update(schema.dump_fields)
    return 0


cdef object mapping_of(object cls):
    """Return a class's ``dict_class`` if it is ``dict`` or ``OrderedDict``, else None."""
    cdef object found = althaia_type_lookup(cls, "dict_class")
    return found if found is dict or found is OrderedDict else None


cdef object new_mapping(object schema):
    """Return what ``schema.dict_class()`` returns."""
    cdef object found = mapping_of(type(schema))
    return schema.dict_class() if found is None else found()
