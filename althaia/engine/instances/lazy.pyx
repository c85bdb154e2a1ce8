"""Lazy instances: schemas whose fields are made only when somebody reads them.

Most instances are made for one call. A lazy instance holds the settings that a call may change
(``many``, ``partial``, ``unknown``, ``error_messages``) and runs the plans of a *prototype* with
itself as ``self``. Reading any other attribute (``fields``, ``only``, ``__dict__``, …)
*materialises* it: it gets all attributes as upstream's construction would have set them, made from
the prototype's. *Interceptors*, functions in type slots of its class, notice that reading.
``instances/construct`` makes lazy instances. ``planner`` and ``run/published`` ask for their
prototype.
"""

cdef extern from "althaia/cpython/layout.h":
    PyObject* althaia_dict_there(object obj)

cdef extern from "althaia/cpython/interceptors.h":
    ctypedef object (*getter)(object, void*)
    ctypedef int (*initproc)(object, object, PyObject*) except -1
    initproc althaia_plain_init
    bint ALTHAIA_KNOWS_TRACING
    bint althaia_is_traced()
    getter althaia_plain_dict
    PyObject* althaia_intercepted_names
    object (*althaia_interceptor)(object, object)
    bint althaia_is_intercepted(object cls)
    void althaia_intercept(object cls)
    void althaia_intercept_dict(object descriptor, getter interceptor)
    void althaia_intercept_init(object cls, object plain, initproc init)

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* obj)


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
cdef tuple HANDED_OUT_ALONE = (FIELDS, *OPTIONS)
cdef str INIT = "__init__"
cdef str INIT_FIELDS = "_init_fields"
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
    lazy_names = names_left_out(upstream)
    intercepted = lazy_names | ASKED_FOR_DICTIONARY
    althaia_intercepted_names, althaia_interceptor = <PyObject*>intercepted, lazy_getattr
    kept_names = frozenset({MANY, PARTIAL, UNKNOWN, ERROR_MESSAGES})
    if upstream.has_context:
        kept_names |= {CONTEXT}
    shadowing = frozenset(upstream.schema_attributes) | lazy_names
    lazy_shadows = shadowing - kept_names
    built_shadows = lazy_shadows - lazy_names
    have_frames = type(upstream.schema_attributes[INIT]) is FunctionType
    for cls in classes:
        adopt_instances(cls)
        classes += type.__subclasses__(cls)


# ---- Construction --------------------------------------------------------------------


def construct_lazily(schema, only, exclude, many, load_only, dump_only, partial, unknown, context):
    """Make the instance lazy; return False if upstream's code must run.

    The caller has checked that upstream would raise nothing about ``unknown`` and ``context``.
    """
    cdef object cls = type(schema)
    cdef object key
    cdef dict kept
    cdef Blueprint blueprint
    cdef Prototype prototype
    cdef InstanceDict state
    state = existing_dict(schema)
    if state is not None:
        # ``__init__`` is called again, or upstream's code is building a prototype.
        materialise_if_lazy(schema)
        return False
    if not ALTHAIA_HAS_GIL:
        # The instance dictionary cannot be replaced while other threads may read it.
        return False
    key = options_key(only, exclude, load_only, dump_only)
    if key is None:
        return False
    blueprint = valid_blueprint(cls, schema)
    if blueprint is None or blueprint.reason:
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
    kept[ERROR_MESSAGES] = messages_of(cls)
    if put_lazy(schema, kept, prototype, True) is None:
        return False
    if context:
        warn_of_context()
    return True


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
    cdef dict kept
    if (
        blueprint is None
        or blueprint.has_hook
        or sample.on
        or althaia_type_lookup(cls, INIT) is not upstream.schema_attributes[INIT]
        or althaia_type_lookup(cls, INIT_FIELDS) is not upstream.schema_attributes[INIT_FIELDS]
    ):
        return False
    found = blueprint.prototypes.get(DEFAULTS)
    if (
        type(found) is not Prototype
        or existing_dict(schema) is not None
        or not blueprint.holds(schema)
    ):
        return False
    kept = settings_of(blueprint, None, None, None, None)
    kept[ERROR_MESSAGES] = messages_of(cls)
    return put_lazy(schema, kept, <Prototype>found, True) is not None


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


cdef InstanceDict put_lazy(object schema, dict kept, Prototype prototype, bint is_bound):
    """Replace the instance dictionary by an InstanceDict with a prototype.

    Return None if the dictionary may not be replaced, or has an entry that construction would read.
    """
    cdef object before, cls = type(schema)
    cdef InstanceDict state
    cdef bint collecting = stop_collecting()
    try:
        before = althaia_dict_or_none(schema)
        # One reference is the schema's, one is ours. Another owner would keep a dictionary that is
        # no longer the instance's.
        if type(before) is not dict or Py_REFCNT(<PyObject*>before) > 2:
            return None
        for name in <dict>before:
            # A Method field binds to the instance's attribute of the method's name. Entries that
            # upstream's construction would find keep their position.
            if (
                name in shadowing or name in kept_names
                or althaia_type_lookup(cls, name) is not None
            ):
                return None
        state = InstanceDict.__new__(InstanceDict)
        PyDict_Update(state, <dict>before)
        PyDict_Update(state, kept)
        if is_bound:
            state.prototype = prototype
        else:
            state.unbound = prototype
            state.building = True
        put_dict(schema, state)
        return state
    finally:
        collect_again(collecting)


cdef bint bind_with_users_code(object schema, dict kept, Prototype prototype) except -1:
    """Construct an instance whose class has an ``on_bind_field``, or a user's function in the place
    of ``Schema._init_fields``.

    The hook is called for each field of an instance that has the attributes that upstream sets
    before (:func:`fill_unbound`). The function is called when upstream's construction calls it. If
    it reads an attribute, the instance gets the same attributes. If it only calls upstream's
    ``_init_fields``, the instance becomes lazy there.
    """
    cdef InstanceDict state = put_lazy(schema, kept, prototype, False)
    cdef OwnFields own_fields = None
    cdef Py_ssize_t size
    if state is None:
        return False
    if prototype.blueprint.has_hook:
        own_fields = fill_unbound(schema, state)
    size = len(state)
    if kept.get(CONTEXT):
        warn_of_context()
    if own_fields is not None:
        bind(schema, own_fields)
    else:
        schema._init_fields()
        # The function did not call upstream's: the fields stay unbound. Or it has read the
        # instance.
        if state.unbound is not None or len(state) != size:
            materialise_if_lazy(schema)
    state.building = False
    set_messages(schema)
    # The hook may have replaced the dictionary.
    state = existing_dict(schema)
    if state is not None and own_fields is not None:
        state.own_fields = own_fields
    return True


cdef int warn_of_context() except -1:
    """Warn of a ``context`` that is not empty, as upstream's ``Schema.__init__`` does.

    Compiled functions have no frame. Hence ``stacklevel=2`` names the caller of ``__init__`` here,
    too.
    """
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


cdef dict merged_messages(object defaults, object classes, object own):
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
            add(messages, getattr(cls, ERROR_MESSAGES, NOTHING))
    add(messages, own or NOTHING)
    return messages


cdef bint is_left_unbound(object schema, InstanceDict state) except -1:
    """At the beginning of upstream's ``Schema._init_fields``, called by a user's replacement: make
    the instance lazy. Return False if its attributes were read or set meanwhile; upstream's code
    then binds the fields."""
    cdef Prototype prototype = <Prototype>state.unbound
    if (
        ERROR_MESSAGES in <dict>state
        or has_one_of(state, lazy_shadows)
        or type(schema) is not prototype.blueprint.schema_class
    ):
        materialise_if_lazy(schema)
        return False
    state.unbound = None
    state.prototype = prototype
    return True


cdef bint has_one_of(dict attributes, frozenset names) except -1:
    """Return whether an instance has an attribute of one of these names.

    The settings that each lazy instance has are skipped; they are not among the names.
    """
    for name in attributes:
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
    if prototype is None:
        # Another thread has materialised it since the caller looked.
        return None
    if state.handed_out:
        materialise(schema, state)
        return None
    return None if materialise_if_touched(schema, state) else prototype.schema


cdef bint materialise_if_touched(object schema, InstanceDict state) except -1:
    """Materialise a lazy instance if one of its attributes shadows one of its class, or if its
    ``__class__`` was set. Return whether it was materialised."""
    if state is None or state.prototype is None or (
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
    cdef Prototype prototype = <Prototype>state.prototype
    if prototype is not None and not prototype.blueprint.holds(schema):
        materialise(schema, state)
        return None
    return prototype_of(schema, state)


# ---- Materialising ----------------------------------------------------------------------


cdef int materialise(object schema, InstanceDict state) except -1:
    """Give a lazy instance all attributes that its construction would have set.

    No other code runs meanwhile: upstream's is not called, and the GC is off. After a MemoryError
    the instance is unchanged.
    """
    cdef Prototype prototype = <Prototype>state.prototype
    cdef OwnFields own_fields
    cdef dict built
    cdef bint collecting
    if prototype is None:
        return 0
    collecting = stop_collecting()
    try:
        own_fields = own_fields_of(prototype, <OwnFields>state.own_fields)
        built = rebuilt(schema, state.original, prototype, own_fields)
        return put_in_place(schema, state, arrange(state, built, prototype), own_fields)
    finally:
        collect_again(collecting)


cdef int put_in_place(
    object schema, InstanceDict state, dict arranged, OwnFields own_fields
) except -1:
    """Put the attributes into the instance dictionary and record its own fields."""
    try:
        althaia_become(state, arranged)
    except BaseException:
        # Memory ran out, or the ``__eq__`` of a key of a user's class raised.
        put_dict(schema, arranged)
    # A call in progress continues with the prototype's fields, and finds the instance's by these.
    state.own_fields = own_fields
    state.prototype = None
    return 0


cdef dict rebuilt(object schema, dict original, Prototype prototype, OwnFields own_fields):
    """Return the attributes that a lazy instance lacks.

    :param original: if the instance is a copy of a schema, that schema's attributes; else None.
    :param own_fields: the instance's own fields so far. The missing ones are added.
    """
    cdef object copied
    cdef dict built
    if original is None:
        return prototype.build(own_fields, schema, schema)
    # The fields of a copy that upstream makes are those of the original, and bound to it.
    copied = object.__new__(prototype.blueprint.schema_class)
    built = prototype.build(own_fields, copied, schema)
    put_dict(copied, arrange(dict(original), built, prototype))
    built = dict(built)
    for name in BOUND_MAPPINGS:
        built[name] = type(built[name])(built[name])
    return built


cdef object real_field(object field, object parent, InstanceDict state):
    """Return the parent's own field for a field of a plan, because user code will get the field.

    If the parent is lazy, only this field is made, with those inside and around it. User code may
    change and keep it. Hence the parent's next call materialises the parent.

    :param state: the parent's InstanceDict when the call began; None means the present one.
    """
    cdef object own
    if state is None:
        state = existing_dict(parent)
    own = bound_field(field, state)
    if own is None and has_prototypes_fields(state):
        if state.original is None:
            make_own_field(field, parent, state)
        else:
            materialise(parent, state)
        own = bound_field(field, state)
    if own is None:
        return field
    if state.prototype is not None:
        state.handed_out = True
    return own


cdef object bound_field(object field, InstanceDict state):
    """Return the instance's own field for a field of its prototype, if it has one that is as
    construction would have left it; else None."""
    if state is None or state.own_fields is None:
        return None
    return (<OwnFields>state.own_fields).find_bound(field)


cdef int make_own_field(object field, object parent, InstanceDict state) except -1:
    """Make a lazy instance's own copy of one of the prototype's fields."""
    cdef OwnFields own_fields
    cdef bint collecting = stop_collecting()
    try:
        own_fields = own_fields_of(<Prototype>state.prototype, <OwnFields>state.own_fields)
        number = own_fields.prototype.index.get(id(field))
        if number is not None:
            own_fields.make(number, parent, parent)
            state.own_fields = own_fields
    finally:
        collect_again(collecting)
    return 0


cdef dict arrange(dict touched, dict built, Prototype prototype):
    """Return all attributes of an instance in the order in which upstream's construction sets them.

    Attributes that were set before ``Schema.__init__`` come first, later ones last.

    :param touched: the attributes that the instance has.
    :param built: the attributes that its construction would have set.
    """
    cdef dict arranged = {}
    cdef object kept = (
        kept_names if prototype.original is None else prototype.original.keys() - lazy_names
    )
    if len(touched) == len(kept) and touched.keys() == kept:
        # An existing key keeps its position.
        PyDict_Update(built, touched)
        return built
    for name in touched:
        if name in kept:
            break
        arranged[name] = touched[name]
    for name, value in built.items():
        if name in touched or name not in kept:
            arranged[name] = touched.get(name, value)
    arranged.update(touched)
    return arranged


# ---- Interceptors -----------------------------------------------------------------------


cdef object lazy_getattr(object obj, object name):
    """Called before an attribute of ``intercepted`` is read. Materialise the instance if it lacks
    the attribute, or if the attribute gives the caller the whole dictionary. Return the attribute,
    or None if it is read as usual."""
    cdef InstanceDict state = existing_dict(obj)
    if state is None:
        return None
    if state.prototype is not None or state.unbound is not None:
        if name not in HANDED_OUT_ALONE or not hand_out(obj, state, name):
            materialise_if_lazy(obj)
    if name == GET_STATE and althaia_type_lookup(type(obj), name) is object_state:
        return MethodType(plain_state, obj)
    return None


cdef bint hand_out(object schema, InstanceDict state, object name) except -1:
    """Set one attribute on a lazy instance. Return whether the instance has it.

    The instance stays lazy, because upstream's nested fields read two options from their root, and
    many hooks read only ``fields``. The instance's next call materialises it: user code may have
    changed a set of names or a field.
    """
    cdef Prototype prototype = <Prototype>state.prototype
    cdef OwnFields own_fields
    cdef bint collecting
    if prototype is None or name in <dict>state:
        return prototype is not None
    if state.original is not None:
        return False
    collecting = stop_collecting()
    try:
        own_fields = own_fields_of(prototype, <OwnFields>state.own_fields)
        value = prototype.attribute(name, own_fields, schema, schema)
        (<dict>state)[name] = value
        state.own_fields = own_fields
        if name is FIELDS:
            state.handed_out = True
        return True
    finally:
        collect_again(collecting)


def plain_state(schema):
    """Return what ``object.__getstate__`` returns, with a plain dict in place of an InstanceDict,
    because that is pickled and copied faster."""
    state = object_state(schema)
    if type(state) is InstanceDict:
        return plain_copy(<dict>state)
    if type(state) is tuple and type(state[0]) is InstanceDict:
        return (plain_copy(<dict>state[0]), *state[1:])
    return state


cdef object lazy_dict(object obj, void* context):
    """The getter of ``__dict__``, which ``vars()`` and ``inspect.getattr_static`` call."""
    materialise_if_lazy(obj)
    return althaia_plain_dict(obj, context)


cpdef int materialise_if_lazy(object obj) except -1:
    """Materialise an instance if it is lazy."""
    cdef InstanceDict state = existing_dict(obj)
    if state is not None:
        if state.unbound is not None:
            fill_unbound(obj, state)
        elif state.prototype is not None:
            materialise(obj, state)
    return 0


cdef OwnFields fill_unbound(object schema, InstanceDict state):
    """Give an instance the attributes that upstream sets before it binds the fields. Return its own
    fields, which are not bound."""
    cdef Prototype prototype = <Prototype>state.unbound
    cdef OwnFields own_fields
    cdef bint collecting = stop_collecting()
    try:
        own_fields = own_fields_of(prototype, None)
        built = arrange(state, prototype.unbound(own_fields, schema), prototype)
        state.unbound = None
        put_in_place(schema, state, built, None)
        return own_fields
    finally:
        collect_again(collecting)


cdef bint intercept_watched(object cls, Guard guard) except -1:
    """Set the interceptors of a class for which a guard has just been made. This changes the type
    version, so that the guard records the new one. Return False if the class has changed since."""
    if not guard.watches(cls):
        return False
    althaia_intercept(cls)
    if ALTHAIA_HAS_GIL and (ALTHAIA_KNOWS_TRACING or not have_frames):
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
