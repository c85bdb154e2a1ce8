"""Lazy instances: schemas whose fields are made only when somebody reads them.

Most instances are made for one call. A lazy instance holds the settings that a call may change
(``many``, ``partial``, ``unknown``, ``error_messages``) and runs the plans of a *prototype* with
itself as ``self``. Reading any other attribute (``fields``, ``only``, ``__dict__``, …)
*materialises* it: it gets all attributes as upstream's construction would have set them, made from
the prototype's. *Interceptors*, functions in type slots of its class, notice that reading. The seam
calls :func:`construct`. ``planner`` and ``run/published`` ask for the prototype.
"""

cdef extern from "althaia/cpython/interceptors.h":
    ctypedef object (*getter)(object, void*)
    ctypedef int (*initproc)(object, object, PyObject*) except -1
    initproc althaia_plain_init
    bint ALTHAIA_KNOWS_TRACING
    bint althaia_is_traced()
    getter althaia_plain_dict
    PyObject* althaia_intercepted_names
    uint64_t[4] althaia_intercepted_bits
    object (*althaia_interceptor)(object, object)
    bint althaia_is_intercepted(object cls)
    void althaia_intercept(object cls)
    void althaia_intercept_dict(object descriptor, getter interceptor)
    void althaia_intercept_init(object cls, object plain, initproc init)


# Reading one of these gives the caller the instance dictionary. ``__dict__`` may be a mixin's.
cdef frozenset ASKED_FOR_DICTIONARY = frozenset(
    {"__dict__", "__getstate__", "__reduce_ex__", "__reduce__"}
)
# Whether upstream's functions are interpreted, so that debuggers and profilers see their frames.
cdef bint have_frames = False
cdef frozenset lazy_names = frozenset(LAZY_NAMES)
cdef frozenset intercepted = lazy_names | ASKED_FOR_DICTIONARY
cdef str MANY = "many", PARTIAL = "partial", UNKNOWN = "unknown"
cdef str ERROR_MESSAGES = "error_messages"
cdef str CONTEXT = "context"
cdef str FIELDS = "fields"
cdef str GET_STATE = "__getstate__"
cdef object object_state = object.__getstate__
cdef tuple OPTIONS = ("only", "exclude", "load_only", "dump_only")
# Attributes of which one is often all that a hook, or ``Nested.schema``, reads.
cdef frozenset MADE_ALONE = frozenset((FIELDS, *OPTIONS))
cdef str INIT = "__init__"
cdef tuple UNKNOWN_CHOICES = ("exclude", "include", "raise")
cdef str CHECK_UNKNOWN = "validate_unknown_parameter_value"
cdef str INIT_FIELDS = "_init_fields"
# What `InstanceDict.lazy` is while a user's function runs in the place of `Schema._init_fields`.
cdef int UNBOUND = 2
cdef frozenset kept_names = frozenset({MANY, PARTIAL, UNKNOWN, ERROR_MESSAGES})
# An instance attribute of one of these names shadows an attribute of the class that plans use.
cdef frozenset shadowing = frozenset()
# The same without the names that a lazy instance has.
cdef frozenset lazy_shadows = frozenset()
# The same without the names that an instance has once its fields are bound.
cdef frozenset built_shadows = frozenset()
# The number of instances before a class is examined. Most classes that are made inside a call never
# have so many.
cdef int FIRST_EXAMINATION = 10
cdef int FREE_EXAMINATIONS = 32


def connect_lazy():
    """Read the names of the served release. Prepare the schema classes that exist already."""
    global shadowing, lazy_shadows, built_shadows
    global lazy_names, intercepted, kept_names, have_frames
    global althaia_intercepted_names, althaia_interceptor
    cdef list classes = [upstream.Schema]
    cdef Py_hash_t place
    lazy_names = names_left_out(upstream)
    intercepted = lazy_names | ASKED_FOR_DICTIONARY
    for name in intercepted:
        place = <Py_hash_t>hash(name)
        althaia_intercepted_bits[place >> 6 & 3] |= <uint64_t>1 << (place & 63)
    althaia_intercepted_names, althaia_interceptor = <PyObject*>intercepted, lazy_getattr
    if upstream.has_context:
        kept_names |= {CONTEXT}
    shadowing = frozenset(upstream.schema_attributes) | lazy_names | kept_names
    lazy_shadows = shadowing - kept_names
    built_shadows = lazy_shadows - lazy_names
    have_frames = type(upstream.schema_attributes[INIT]) is FunctionType
    connect_nested()
    for cls in classes:
        adopt_instances(cls)
        classes += type.__subclasses__(cls)


# ---- Construction --------------------------------------------------------------------


def construct(
    schema, only, exclude, many, load_only, dump_only, partial, unknown, context=None
):
    """Make an instance, at the beginning of ``Schema.__init__``. Return False, having changed
    nothing, if upstream's code must make it."""
    cdef object cls = type(schema)
    cdef object key
    cdef dict kept
    cdef Blueprint blueprint
    cdef Prototype prototype
    cdef InstanceDict state
    if upstream.has_context and not are_accepted(unknown, context):
        return False
    if many is None and not upstream.many_by_option:
        return False
    state = existing_dict(schema)
    if state is not None and (state.prototype is not None or state.building):
        # ``__init__`` is called again, or upstream's code is building a prototype.
        materialise_if_lazy(schema)
        return False
    key = options_key(only, exclude, load_only, dump_only)
    if key is None:
        return False
    blueprint = valid_blueprint(cls, schema)
    if blueprint is None or blueprint.reason or (blueprint.has_hook and not ALTHAIA_HAS_GIL):
        return False
    prototype = blueprint.find(key)
    if prototype is None:
        return False
    kept = settings_of(blueprint, many, partial, unknown, context)
    if (
        blueprint.has_hook
        or althaia_type_lookup(cls, INIT_FIELDS) is not upstream.schema_attributes[INIT_FIELDS]
    ):
        return bind_with_users_code(schema, kept, prototype)
    if not make_lazy(schema, kept, prototype):
        return False
    if context:
        warn_of_context()
    return True


cdef bint are_accepted(object unknown, object context):
    """Whether upstream's code accepts these two options, and ``bool(context)`` runs no user
    code."""
    if context is not None and type(context) is not dict:
        return False
    return unknown is None or (
        type(unknown) is str and unknown in UNKNOWN_CHOICES
        and upstream.live["schema"].get(CHECK_UNKNOWN, ABSENT)
        is seam.defined["schema"].get(CHECK_UNKNOWN, ABSENT)
    )


# Whether something stands around the seam's ``construct``, which must then be called.
cdef bint asks_the_seam = False


def ask_the_seam(bint on):
    """Make no instance past the seam's ``construct`` any more, or again."""
    global asks_the_seam
    asks_the_seam = on


cdef int lazy_init(object schema, object args, PyObject* options) except -1:
    """``tp_init`` of classes with lazy instances. Make an instance without options here: calling
    ``__init__``, which has eight keyword-only parameters, takes longer than all the rest."""
    if (
        len(<tuple>args) == 0
        and (options is NULL or len(<dict>options) == 0)
        and not (have_frames and althaia_is_traced())
        and is_made_without_options(schema)
    ):
        return 0
    return althaia_plain_init(schema, args, options)


cdef bint is_made_without_options(object schema) except -1:
    """Make an instance without options lazy if its class has the prototype for it.

    Return False, having changed nothing, if ``__init__`` must be called.
    """
    cdef object cls = type(schema)
    cdef Blueprint blueprint = blueprint_of(cls)
    cdef object found
    if (
        blueprint is None
        or blueprint.has_hook
        or asks_the_seam
        or althaia_type_lookup(cls, INIT) is not upstream.schema_attributes[INIT]
        or althaia_type_lookup(cls, INIT_FIELDS) is not upstream.schema_attributes[INIT_FIELDS]
    ):
        return False
    found = blueprint.prototypes.get(DEFAULTS)
    if type(found) is not Prototype or not blueprint.holds(schema):
        return False
    cdef object partial = False if upstream.partial_is_false else None
    return make_lazy(schema, settings_of(blueprint, None, partial, None, None), <Prototype>found)


cdef bint make_lazy(object schema, dict kept, Prototype prototype) except -1:
    """Make a new instance lazy. Return False, having changed nothing, if that cannot be."""
    cdef InstanceDict state
    kept[ERROR_MESSAGES] = messages_of(type(schema))
    state = start(schema, kept, prototype)
    if state is None:
        return False
    state.lazy = True
    return True


cdef dict settings_of(
    Blueprint blueprint, object many, object partial, object unknown, object context
):
    """Return the attributes that ``Schema.__init__`` sets from these options."""
    cdef dict kept = {
        MANY: blueprint.many if many is None else many,
        PARTIAL: partial,
        UNKNOWN: blueprint.unknown if unknown is None else unknown,
    }
    if upstream.has_context:
        kept[CONTEXT] = context or {}
    return kept


cdef InstanceDict start(object schema, dict kept, Prototype prototype):
    """Give a new instance its settings and its prototype. Return its dictionary.

    Return None if the dictionary cannot hold them, or has an entry that construction would read.
    """
    cdef InstanceDict state = instance_dict(schema)
    if state is None or state.prototype is not None:
        return None
    # Almost always empty. A list, because without the GIL another thread may add attributes.
    for name in PyDict_Keys(state) if state else ():
        # A Method field binds to the instance's attribute of the method's name.
        if name in shadowing or althaia_type_lookup(type(schema), name) is not None:
            return None
    PyDict_Update(state, kept)
    state.prototype = prototype
    return state


cdef bint bind_with_users_code(object schema, dict kept, Prototype prototype) except -1:
    """Construct an instance whose class has an ``on_bind_field``, or another function in the place
    of ``Schema._init_fields``.

    The hook is called for each field of an instance that has the attributes that upstream sets
    before. Most functions, such as Superset's, only call upstream's, where the instance becomes
    lazy (:func:`binding`). If the function reads an attribute before, the instance gets the same.
    """
    cdef InstanceDict state = start(schema, kept, prototype)
    cdef OwnFields own_fields = None
    if state is None:
        return False
    state.building, state.lazy = True, UNBOUND
    if prototype.blueprint.has_hook:
        own_fields = own_fields_of(prototype, None)
        add_missing(state, prototype.unbound(own_fields, schema))
        state.lazy = False
    if kept.get(CONTEXT):
        warn_of_context()
    if own_fields is not None:
        bind(schema, own_fields)
    else:
        schema._init_fields()
        if state.lazy == UNBOUND:
            # It did not call upstream's: the fields stay unbound.
            materialise_if_lazy(schema)
    state.building = False
    set_messages(schema)
    # The hook may have replaced the dictionary.
    state = existing_dict(schema)
    if state is not None and own_fields is not None:
        state._own_fields = own_fields
    return True


cdef bint is_left_unbound(object schema, InstanceDict state) except -1:
    """At the beginning of upstream's ``Schema._init_fields``: make an instance lazy whose
    construction has called a user's function. Return False if its attributes were read or set
    meanwhile; upstream's code then binds the fields."""
    if ERROR_MESSAGES in <dict>state or materialise_if_touched(schema, state):
        materialise_if_lazy(schema)
        return False
    state.lazy = True
    return True


cdef int warn_of_context() except -1:
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
    return 0


cdef int set_messages(object schema) except -1:
    """Set ``error_messages``. It is the last attribute that ``Schema.__init__`` sets."""
    schema.error_messages = merged_messages(
        schema._default_error_messages, schema.__class__.__mro__, schema.error_messages
    )
    return 0


cdef dict messages_of(object cls):
    """Return what ``Schema.__init__`` sets as ``error_messages`` of an instance that has none."""
    return merged_messages(
        althaia_type_lookup(cls, "_default_error_messages"),
        cls.__mro__,
        althaia_type_lookup(cls, ERROR_MESSAGES),
    )


cdef inline int add(dict messages, object more) except -1:
    """Update a dictionary of messages. Mostly ``more`` is empty, and nothing is called."""
    if type(more) is not dict:
        messages.update(more)
    elif len(<dict>more) > 0:
        PyDict_Update(messages, <dict>more)
    return 0


cdef dict merged_messages(object defaults, tuple classes, object own):
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


cdef bint has_one_of(dict attributes, frozenset names) except -1:
    """Return whether an instance has an attribute of one of these names.

    The settings that each lazy instance has are skipped; they are not among the names.
    """
    # Without the GIL another thread may add one during the loop.
    for name in attributes if ALTHAIA_HAS_GIL else PyDict_Copy(attributes):
        if (
            name is MANY or name is PARTIAL or name is UNKNOWN or name is ERROR_MESSAGES
            or name is CONTEXT
        ):
            continue
        if name in names:
            return True
    return False


cdef Blueprint valid_blueprint(object cls, object schema):
    """Return the blueprint of a schema class; make it if enough instances were made. Return None if
    there is none that holds."""
    cdef Blueprint previous = blueprint_of(cls)
    cdef Blueprint blueprint
    cdef object table, guard, reason
    if previous is not None:
        if previous.holds(schema):
            return previous
        if previous.wait > 0:
            previous.wait -= 1
            return None
    table = althaia_type_lookup(cls, "_hooks")
    if type(table) is not upstream.HookTable:
        return None
    # Examine the class when it has had some instances: many classes never have so many.
    table.examined += 1
    if table.examined < FIRST_EXAMINATION and not at_once:
        return None
    guard, reason = examine(upstream, cls, schema)
    blueprint = Blueprint(cls, guard, reason)
    if not reason and not blueprint.has_hook and not intercept_watched(cls, <Guard>guard):
        # The class changed during the examination. A later instance starts another.
        return None
    if table.examined > FREE_EXAMINATIONS:
        blueprint.wait = 1 << min(table.examined - FREE_EXAMINATIONS, 10)
    table.blueprint = blueprint
    return blueprint


# ---- The prototype of a lazy instance ---------------------------------------------------


cdef object prototype_of(object schema, InstanceDict state):
    """Return the prototype whose plans a lazy instance runs.

    If user code has got one of its fields, or has set an attribute that plans read, materialise it
    and return None. It then needs plans of its own.
    """
    cdef Prototype prototype = <Prototype>state.prototype
    if state.handed_out or state.building:
        materialise(schema, state)
        return None
    return None if materialise_if_touched(schema, state) else prototype.schema


cdef bint materialise_if_touched(object schema, InstanceDict state) except -1:
    """Materialise a lazy instance if one of its attributes shadows one of its class, or if its
    ``__class__`` was set. Return whether it was materialised."""
    if not is_lazy(state) or (
        type(schema) is (<Prototype>state.prototype).blueprint.schema_class
        and not has_one_of(state, lazy_shadows)
    ):
        return False
    materialise(schema, state)
    return True


cdef object prototype_to_plan(object schema, InstanceDict state):
    """Return the prototype for which a plan is to be made.

    Return None, with the instance materialised, if it needs plans of its own. That is also so if
    the class or a field class has changed since the prototype was made: a new method could get the
    prototype's fields.
    """
    if not (<Prototype>state.prototype).blueprint.holds(schema):
        materialise(schema, state)
        return None
    return prototype_of(schema, state)


# ---- Materialising ----------------------------------------------------------------------


cdef int materialise(object schema, InstanceDict state, str alone=None) except -1:
    """Give a lazy instance all attributes that its construction would have set; or one ``alone``,
    and the others of the same fields at the next call or look.

    No user code runs meanwhile, and the GC is off; of upstream's only ``OrderedSet``. Several
    threads may do this at once, without the GIL or while that is copied. They agree on the fields,
    because only one can store them, and on the attributes, because the first that is set remains.
    """
    cdef Prototype prototype = <Prototype>state.prototype
    cdef OwnFields own_fields
    cdef object before
    cdef dict missing
    cdef bint collecting = stop_collecting()
    try:
        while True:
            before = state.own_fields()
            own_fields = own_fields_of(prototype, <OwnFields>before)
            if state.lazy == UNBOUND:
                missing = prototype.unbound(own_fields, schema)
                break
            if alone is None:
                missing = prototype.build(own_fields, schema)
            else:
                missing = {alone: prototype.attribute(alone, own_fields, schema)}
            # A call in progress continues with the prototype's fields, and finds these by them.
            if state.exchange_fields(before, own_fields):
                break
        add_missing(state, missing)
        if alone is None:
            althaia_write_int(&state.lazy, False)
    finally:
        collect_again(collecting)
    return 0


cdef int add_missing(dict attributes, dict missing) except -1:
    """Set the attributes that nobody has set yet."""
    for name, value in missing.items():
        attributes.setdefault(name, value)
    return 0


cdef object own_field(object field, InstanceDict state, object schema):
    """Return an instance's own field for a field of its prototype. If there is none, make it, with
    those inside and around it. Return the field itself if it is none of the prototype's.

    :param schema: the instance, to which the field is bound; None if a loose one will do.
    """
    cdef OwnFields own_fields
    cdef object before, number
    cdef bint collecting = stop_collecting()
    try:
        while True:
            before = state.own_fields()
            own_fields = <OwnFields>before
            if before is None:
                own_fields = own_fields_of(<Prototype>state.prototype, None)
            number = own_fields.prototype.index.get(<Py_ssize_t><void*>field)
            if number is None:
                return field
            if own_fields.has(number, schema is None):
                return own_fields.by_number[number]
            if before is not None and (schema is not None or not ALTHAIA_HAS_GIL):
                own_fields = own_fields_of(own_fields.prototype, own_fields)
            # With the GIL a loose field is added in place: it is complete by then.
            if schema is None:
                own_fields.add_loose(number)
            else:
                own_fields.make(number, schema)
            if state.exchange_fields(before, own_fields):
                return own_fields.by_number[number]
    finally:
        collect_again(collecting)


cdef object real_field(object field, object parent, InstanceDict state):
    """Return the parent's own field for a field of a plan, because user code will get the field.

    If the parent is lazy, only this field is made, with those inside and around it. User code may
    change and keep it. Hence the parent's next call materialises the parent.

    :param state: the parent's InstanceDict when the call began; None means the present one.
    """
    cdef object own
    if state is None:
        state = existing_dict(parent)
    if not has_prototypes_fields(state):
        return field
    own = own_field(field, state, parent)
    if own is not field and is_lazy(state):
        state.handed_out = True
    return own


# ---- Interceptors -----------------------------------------------------------------------


cdef object lazy_getattr(object obj, object name):
    """Called before an attribute of ``intercepted`` is read. Materialise the instance if it lacks
    the attribute, or if the attribute gives the caller the whole dictionary. Return the attribute,
    or None if it is read as usual."""
    cdef InstanceDict state = existing_dict(obj)
    if name in MADE_ALONE and is_lazy(state) and state.lazy != UNBOUND:
        if name not in <dict>state:
            materialise(obj, state, name)
    else:
        materialise_if_lazy(obj)
    if name == GET_STATE and althaia_type_lookup(type(obj), name) is object_state:
        return MethodType(plain_state, obj)
    return None


def plain_state(schema):
    """Return what ``object.__getstate__`` returns, with a plain dict in place of an InstanceDict,
    because that is pickled and copied faster."""
    state = object_state(schema)
    if type(state) is InstanceDict:
        return PyDict_Copy(<dict>state)
    if type(state) is tuple and type(state[0]) is InstanceDict:
        return (PyDict_Copy(<dict>state[0]), *state[1:])
    return state


cdef object lazy_dict(object obj, void* context):
    """The getter of ``__dict__``, which ``vars()`` and ``inspect.getattr_static`` call."""
    materialise_if_lazy(obj)
    return althaia_plain_dict(obj, context)


cpdef int materialise_if_lazy(object obj) except -1:
    """Materialise an instance if it is lazy."""
    cdef InstanceDict state = existing_dict(obj)
    if is_lazy(state):
        materialise(obj, state)
    return 0


cdef bint intercept_watched(object cls, Guard guard) except -1:
    """Set the interceptors of a class for which a guard has just been made. This changes the type
    version, so that the guard records the new one. Return False if the class has changed since."""
    if not guard.watches(cls):
        return False
    althaia_intercept(cls)
    if ALTHAIA_KNOWS_TRACING or not have_frames:
        althaia_intercept_init(cls, upstream.Schema, lazy_init)
    guard.watch_class(cls)
    intercept(cls)
    return True


cdef int intercept(object cls) except -1:
    """Set the interceptors in the type slots of a schema class and its subclasses. Python code does
    not see them. Subclasses need them because an instance's ``__class__`` may be set to one."""
    althaia_intercept_dict(althaia_type_lookup(upstream.Schema, "__dict__"), lazy_dict)
    althaia_intercept(cls)
    for subclass in type.__subclasses__(cls):
        intercept(subclass)
    return 0


def created(cls):
    """Called for each new schema class: set the interceptors if a base has them. Without the GIL,
    let its instances get an InstanceDict when they are allocated."""
    adopt_instances(cls)
    for base in cls.__mro__:
        if althaia_is_intercepted(base):
            intercept(cls)
            break
