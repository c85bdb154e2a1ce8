"""Lazy instances: schemas whose fields are made only when somebody reads them.

Most instances are made for one call. A lazy instance holds the settings that a call may change
(``many``, ``partial``, ``unknown``, ``error_messages``) and runs the plans of a *prototype* with
itself as ``self``. Reading another one of upstream's (``fields``, ``only``, ``__dict__``, …)
*materialises* it: it gets all attributes as upstream's construction would have set them, made from
the prototype's. *Interceptors*, functions in type slots of its class, notice that reading.
``planner`` and ``run/published`` ask for the prototype.
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
# The attributes that a lazy instance lacks, and all names of which reading one is noticed.
cdef frozenset late_names, intercepted
cdef str MANY = "many", PARTIAL = "partial", UNKNOWN = "unknown"
cdef str ERROR_MESSAGES = "error_messages"
cdef str CONTEXT = "context"
cdef str FIELDS = "fields"
cdef str GET_STATE = "__getstate__"
cdef object object_state = object.__getstate__
cdef tuple OPTIONS = ("only", "exclude", "load_only", "dump_only")
# Attributes of which one is often all that a hook, or ``Nested.schema``, reads.
cdef frozenset MADE_ALONE = frozenset((FIELDS, *OPTIONS))
# The look-ups after which an instance gets its fields and plans: they take as long as the way
# by the prototype has taken more until then.
cdef int MOST_LAZY_USES = 1000


def connect_lazy():
    """Read the names of the served release. Prepare the schema classes that exist already."""
    global late_names, intercepted, have_frames, althaia_intercepted_names, althaia_interceptor
    cdef list classes = [upstream.Schema]
    cdef Py_hash_t place
    late_names = names_left_out(upstream)
    intercepted = late_names | ASKED_FOR_DICTIONARY
    for name in intercepted:
        place = <Py_hash_t>hash(name)
        althaia_intercepted_bits[place >> 6 & 3] |= <uint64_t>1 << (place & 63)
    althaia_intercepted_names, althaia_interceptor = <PyObject*>intercepted, lazy_getattr
    have_frames = type(upstream.schema_attributes[INIT]) is FunctionType
    for cls in classes:
        adopt_instances(cls)
        classes += type.__subclasses__(cls)


# ---- The prototype of a lazy instance ---------------------------------------------------


cdef prototype_of(schema, InstanceDict state):
    """Return the schema of the prototype, whose plans a lazy instance runs, and count this use.

    If user code has got one of its fields, or has set an attribute that plans read, or after many
    uses, materialise it and return None. It then needs plans of its own.
    """
    cdef Prototype prototype = <Prototype>state.instance.prototype
    if state_now(state) != LAZY:
        materialise(schema, state)
        return None
    if materialise_if_touched(schema, state):
        return None
    state.instance.uses += 1
    if state.instance.uses > MOST_LAZY_USES:
        materialise(schema, state)
        state.waits = [1, 1]
        return None
    return prototype.schema


cdef bint shadows_class(dict attributes, bint lazy):
    """Whether an instance has an attribute in the place of one of upstream's ``Schema``; if it is
    lazy, also of one that its prototype has for it."""
    # Without the GIL another thread may add one during the loop.
    for name in attributes if ALTHAIA_HAS_GIL else PyDict_Copy(attributes):
        if (
            name is MANY or name is PARTIAL or name is UNKNOWN or name is ERROR_MESSAGES
            or name is CONTEXT
        ):
            continue
        if name in upstream.schema_attributes or (lazy and name in late_names):
            return True
    return False


cdef bint materialise_if_touched(schema, InstanceDict state):
    """Materialise a lazy instance if one of its attributes shadows one of its class, or if its
    ``__class__`` was set. Return whether it was materialised."""
    if not lacks_attributes(state) or (
        type(schema) is (<Prototype>state.instance.prototype).blueprint.schema_class
        and not shadows_class(state, True)
    ):
        return False
    materialise(schema, state)
    return True


cdef prototype_to_plan(schema, InstanceDict state):
    """Return the schema of a lazy instance's prototype, for which a plan is to be made. If the
    class or a field class has changed since it was made, materialise the instance and return None:
    a new method could get the prototype's fields."""
    cdef Prototype prototype = <Prototype>state.instance.prototype
    if prototype.blueprint.holds(schema):
        return prototype.schema
    materialise(schema, state)


# ---- Materialising ----------------------------------------------------------------------


cdef int materialise(schema, InstanceDict state, str alone=None):
    """Give a lazy instance all attributes that its construction would have set; or one ``alone``,
    and the others of the same fields at the next call or look.

    No user code runs meanwhile, and the GC is off; of upstream's only ``OrderedSet``. Several
    threads may do this at once, without the GIL or while that is copied. They agree on the fields,
    because only one can store them, and on the attributes, because the first that is set remains.
    """
    cdef Instance instance = state.instance
    cdef Prototype prototype = <Prototype>instance.prototype
    cdef OwnFields own_fields
    cdef dict missing
    cdef bint collecting = stop_collecting()
    try:
        while True:
            before = instance.own_fields()
            own_fields = own_fields_of(prototype, <OwnFields>before)
            if instance.state == UNBOUND:
                missing = prototype.unbound(own_fields, schema)
                break
            if alone is None:
                missing = prototype.build(own_fields, schema)
            else:
                missing = {alone: prototype.attribute(alone, own_fields, schema)}
            # A call in progress continues with the prototype's fields, and finds these by them.
            if instance.exchange_fields(before, own_fields):
                break
        add_missing(state, missing)
        if alone is None:
            althaia_write_int(&instance.state, ORDINARY)
    finally:
        collect_again(collecting)


cdef int add_missing(dict attributes, dict missing):
    """Set the attributes that nobody has set yet."""
    for name, value in missing.items():
        attributes.setdefault(name, value)


cdef own_field(field, InstanceDict state, schema):
    """Return an instance's own field for a field of its prototype. If there is none, make it, with
    those inside and around it. Return the field itself if it is none of the prototype's.

    :param schema: the instance, to which the field is bound; None if a loose one will do.
    """
    cdef Instance instance = state.instance
    cdef OwnFields own_fields
    cdef bint collecting
    while True:
        before = instance.own_fields()
        own_fields = <OwnFields>before
        if before is None:
            own_fields = own_fields_of(<Prototype>instance.prototype, None)
        number = own_fields.prototype.index.get(<Py_ssize_t><void*>field)
        if number is None:
            return field
        # Mostly it has been made.
        found = own_fields.by_number[number]
        if found is not None and (schema is None or not own_fields.is_loose(number)):
            return found
        collecting = stop_collecting()
        try:
            if before is not None and (schema is not None or not ALTHAIA_HAS_GIL):
                own_fields = own_fields_of(own_fields.prototype, own_fields)
            # With the GIL a loose field is added in place: it is complete by then.
            if schema is None:
                own_fields.add_loose(number)
            else:
                own_fields.make(number, schema)
            if instance.exchange_fields(before, own_fields):
                return own_fields.by_number[number]
        finally:
            collect_again(collecting)


cdef bint has_prototypes_fields(InstanceDict state):
    """Return whether the fields that a schema's plan uses may be a prototype's, so that the schema
    needs its own. A lazy copy of a nested instance has the fields of that instance."""
    return (
        state is not None
        and state.instance is not None
        and state.instance.prototype is not None
        and (<Prototype>state.instance.prototype).original is None
    )


cdef nested_field(field, InstanceDict state):
    """Return the field of the call's schema for a nested field of a plan, of which only the schema
    is needed.

    :param state: the schema's dictionary as the call began.
    """
    return own_field(field, state, None) if has_prototypes_fields(state) else field


cdef real_field(field, parent, InstanceDict state):
    """Return the parent's own field for a field of a plan, because user code will get the field.

    If the parent is lazy, only this field is made, with those inside and around it. User code may
    change and keep it. Hence the parent's next call materialises the parent.

    :param state: the parent's dictionary when the call began.
    """
    if not has_prototypes_fields(state):
        return field
    own = own_field(field, state, parent)
    if own is not field and state_now(state) == LAZY:
        althaia_write_int(&state.instance.state, HANDED_OUT)
    return own


# ---- Interceptors -----------------------------------------------------------------------


cdef lazy_getattr(obj, name):
    """Called before an attribute of ``intercepted`` is read that the instance lacks. Materialise
    the instance. Return the attribute, or None if it is read as usual."""
    cdef InstanceDict state = existing_dict(obj)
    if lacks_attributes(state):
        alone = name in MADE_ALONE and state_now(state) != UNBOUND
        materialise(obj, state, name if alone else None)
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


cdef lazy_dict(obj, void* context):
    """The getter of ``__dict__``, which ``vars()`` and ``inspect.getattr_static`` call."""
    materialise_if_lazy(obj)
    return althaia_plain_dict(obj, context)


cpdef int materialise_if_lazy(obj):
    """Materialise an instance if it is lazy."""
    cdef InstanceDict state = existing_dict(obj)
    if lacks_attributes(state):
        materialise(obj, state)


cdef bint intercept_watched(cls, Guard guard):
    """Set the interceptors of a class for which a guard has just been made. This changes the type
    version, so that the guard records the new one. Return False if the class has changed since."""
    if not guard.watches(cls):
        return False
    intercept(cls)
    if ALTHAIA_KNOWS_TRACING or not have_frames:
        althaia_intercept_init(cls, upstream.Schema, lazy_init)
    guard.watch_class(cls)
    return True


cdef int intercept(cls):
    """Set the interceptors in the type slots of a schema class and its subclasses. Python code does
    not see them. Subclasses need them because an instance's ``__class__`` may be set to one."""
    althaia_intercept_dict(althaia_type_lookup(upstream.Schema, "__dict__"), lazy_dict)
    althaia_intercept(cls)
    for subclass in type.__subclasses__(cls):
        intercept(subclass)


def created(cls):
    """Called for each new schema class: set the interceptors if a base has them. Without the GIL,
    let its instances get an InstanceDict when they are allocated."""
    adopt_instances(cls)
    if any([althaia_is_intercepted(base) for base in cls.__mro__]):
        intercept(cls)
