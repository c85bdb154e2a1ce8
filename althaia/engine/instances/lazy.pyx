# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Lazy instances: schemas that cost next to nothing until somebody looks into them.

Most instances are made for one call and thrown away. A lazy one holds what the call may change
(``many``, ``partial``, ``unknown``, ``error_messages``) and runs the plans of a *prototype* with
itself as ``self``. Reading anything else of it (``fields``, ``only``, ``__dict__``, …)
*materialises* it: it then is as its construction would have left it, made from what the prototype
has. *Interceptors* in its class notice the reading.
"""

from types import MethodType

from cpython.dict cimport PyDict_Update
from cpython.object cimport PyObject
from cpython.type cimport PyType_IsSubtype

from althaia.engine.plan.guard cimport Guard
from althaia.cpython.primitives cimport (
    ALTHAIA_HAS_GIL,
    althaia_become,
    althaia_dict_or_none,
    althaia_has_simple_keys,
    althaia_is_plainly_asked,
    althaia_type_lookup,
)
from althaia.engine.instances.prototype cimport (
    Prototype,
    PrototypeCache,
    clone,
    copied_names,
    options_key,
    vars_of,
)
from althaia.engine.plan.instance_dict cimport (
    InstanceDict,
    adopt,
    adopt_instances,
    collect_again,
    existing_dict,
    made_dict,
    put_dict,
    stop_collecting,
)
from althaia.engine.upstream cimport marshmallow

cdef extern from "althaia/cpython/layout.h":
    ctypedef object (*getattrofunc)(object, object)
    ctypedef object (*getter)(object, void*)
    getter althaia_plain_dict
    bint althaia_is_intercepted(object cls, getattrofunc interceptor)
    void althaia_intercept(object cls, getattrofunc interceptor)
    void althaia_intercept_dict(object descriptor, getter interceptor)

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* obj)
    object PyObject_GenericGetAttr(object obj, object name)


cdef object examine = None

# Set by Schema.__init__ and left to the prototype while an instance is lazy.
LAZY_NAMES = frozenset(
    {
        "declared_fields", "only", "exclude", "load_only", "dump_only", "fields",
        "load_fields", "dump_fields",
    }
)
# How these are asked for, the instance's dictionary gets out; ``__dict__`` may be a mixin's.
cdef frozenset ASKED_FOR_DICTIONARY = frozenset(
    {"__dict__", "__getstate__", "__reduce_ex__", "__reduce__"}
)
cdef frozenset lazy_names = LAZY_NAMES
cdef frozenset intercepted = LAZY_NAMES | ASKED_FOR_DICTIONARY
cdef str MANY = "many", PARTIAL = "partial", UNKNOWN = "unknown"
cdef str ERROR_MESSAGES = "error_messages"
cdef str CONTEXT = "context"
cdef str INIT_FIELDS = "_init_fields"
# What has been set when fields are about to be bound.
cdef frozenset SETTINGS = frozenset({MANY, PARTIAL, UNKNOWN})
cdef frozenset kept_names = frozenset({MANY, PARTIAL, UNKNOWN, ERROR_MESSAGES})
# Whatever an instance has under one of these names stands before what its class defines.
cdef frozenset shadowing = frozenset()
cdef frozenset FIELD_MAPPINGS = frozenset(
    {"declared_fields", "fields", "load_fields", "dump_fields"}
)
cdef object METHODS_OF = object()
cdef object object_new = object.__dict__["__new__"]
cdef object type_call = type.__dict__["__call__"]
cdef dict NOTHING = {}
cdef bint at_once = False
# Instances until a class is examined: most classes that are made inside a call never have so many.
cdef int FIRST_EXAMINATION = 10
cdef int FREE_EXAMINATIONS = 32


def build_at_once(bint on):
    """Keep the very first instances lazy, whether that pays or not; for tests."""
    global at_once
    at_once = on


def examine_with(examiner):
    """Have the engine say which classes may have lazy instances; once marshmallow is known.

    :param examiner: ``examiner(cls, schema) -> (Guard | None, reason, Guard | None)``: whether
        instances of a schema class may be lazy, and what it rests on that they may not.
    """
    global examine, shadowing, lazy_names, intercepted, kept_names
    cdef list classes = [marshmallow.Schema]
    examine = examiner
    lazy_names = LAZY_NAMES | {"ordered"} if marshmallow.has_context else LAZY_NAMES
    intercepted = lazy_names | ASKED_FOR_DICTIONARY
    kept_names = frozenset({MANY, PARTIAL, UNKNOWN, ERROR_MESSAGES})
    if marshmallow.has_context:
        kept_names |= {CONTEXT}
    shadowing = frozenset(marshmallow.schema_attributes) | lazy_names
    for cls in classes:
        adopt_instances(cls)
        classes += type.__subclasses__(cls)


def names_left_out():
    """What ``Schema.__init__`` sets in this release and a lazy instance has not."""
    return lazy_names


# ---- Construction --------------------------------------------------------------------


def construct(schema, only, exclude, many, load_only, dump_only, partial, unknown):
    """First in ``Schema.__init__``: make the instance lazy. False: upstream's code runs.

    Whether upstream's would say something about ``unknown`` or ``context`` has been asked.
    """
    cdef object cls = type(schema)
    cdef object key
    cdef dict kept
    cdef PrototypeCache cache
    cdef Prototype prototype
    cdef InstanceDict state = made_dict(schema)
    if state is not None:
        # ``__init__`` once more, or upstream's own at work for us.
        look(schema)
        return False
    if not ALTHAIA_HAS_GIL:
        # Nothing can be put in place behind the back of other threads: no instance is lazy.
        adopt_instances(cls)
        if is_unseen(cls):
            adopt(schema)
        return False
    key = options_key(only, exclude, load_only, dump_only)
    if key is None:
        return False
    cache = cache_of(cls, schema)
    if cache is None or cache.guard is None:
        return False
    prototype = cache.find(key)
    if prototype is None:
        return False
    opts = cache.opts
    kept = {
        MANY: opts.many if many is None else many,
        PARTIAL: partial,
        UNKNOWN: opts.unknown if unknown is None else unknown,
    }
    if marshmallow.has_context:
        kept[CONTEXT] = {}
    if althaia_type_lookup(cls, INIT_FIELDS) is not marshmallow.schema_attributes[INIT_FIELDS]:
        return bind_by_replacement(schema, kept, prototype)
    kept[ERROR_MESSAGES] = messages_of(cls)
    return put_lazy(schema, kept, prototype, True) is not None


cdef InstanceDict put_lazy(object schema, dict kept, Prototype prototype, bint is_bound):
    """Put a dictionary in place that goes by a prototype. None where the instance's own may not be
    replaced, or has something that construction would meet."""
    cdef object before, cls = type(schema)
    cdef InstanceDict state
    cdef bint collecting = stop_collecting()
    try:
        before = althaia_dict_or_none(schema)
        # Who else holds the dictionary would lose touch with the instance: one reference is the
        # schema's, one is ours.
        if type(before) is not dict or Py_REFCNT(<PyObject*>before) > 2:
            return None
        for name in <dict>before:
            # A Method field binds to what the instance has under the method's name. What
            # upstream's construction would find there already keeps its place.
            if (
                name in shadowing or name in kept_names
                or althaia_type_lookup(cls, name) is not None
            ):
                prototype.cache.refused = True
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


cdef bint bind_by_replacement(object schema, dict kept, Prototype prototype) except -1:
    """The rest of a construction where a function of the user's stands in the place of
    ``Schema._init_fields``: it is called as upstream calls it.

    It is given an instance that is built as far as upstream's when somebody looks into it, and is
    lazy again once the function has called upstream's own.
    """
    cdef InstanceDict state = put_lazy(schema, kept, prototype, False)
    cdef Py_ssize_t size
    if state is None:
        return False
    size = len(state)
    schema._init_fields()
    # Upstream would have had what it set before the messages, and what it left unbound unbound.
    if state.unbound is not None or len(state) != size:
        look(schema)
    state.building = False
    set_messages(schema)
    return True


cdef int set_messages(object schema) except -1:
    """What ``Schema.__init__`` does last."""
    cdef dict messages = {}
    messages.update(schema._default_error_messages)
    add_messages(messages, schema.__class__.__mro__)
    messages.update(schema.error_messages or NOTHING)
    schema.error_messages = messages
    return 0


cdef bint is_left_unbound(object schema, InstanceDict state) except -1:
    """In ``Schema._init_fields`` of upstream's: whether nobody has looked into the instance that
    is being made, which is lazy from here on. Else its fields are there to be bound."""
    cdef Prototype prototype = <Prototype>state.unbound
    if is_shadowed(state) or type(schema) is not prototype.cache.schema_class:
        look(schema)
        return False
    state.unbound = None
    state.prototype = prototype
    return True


cdef bint is_shadowed(InstanceDict state) except -1:
    """Whether an instance has something under a name that construction, or its class, has."""
    for name in <dict>state:
        if name in shadowing and name not in SETTINGS:
            return True
    return False


cdef bint is_unseen(object cls):
    """Whether no code of the user's can have had an instance that is now in ``__init__``."""
    return (
        althaia_type_lookup(cls, "__init__") is marshmallow.schema_attributes["__init__"]
        and althaia_type_lookup(cls, "__new__") is object_new
        and althaia_type_lookup(type(cls), "__call__") is type_call
    )


cdef dict messages_of(object cls):
    """A schema's ``error_messages`` as ``Schema.__init__`` collects them."""
    cdef dict messages = {}
    messages.update(althaia_type_lookup(cls, "_default_error_messages"))
    add_messages(messages, cls.__mro__)
    messages.update(althaia_type_lookup(cls, ERROR_MESSAGES) or NOTHING)
    return messages


cdef int add_messages(dict messages, object classes) except -1:
    """Add what the classes define as ``error_messages``, the last one's first."""
    for cls in reversed(classes):
        # It has none, and CPython would write down that each time.
        if cls is not object:
            messages.update(getattr(cls, ERROR_MESSAGES, NOTHING))
    return 0


cdef PrototypeCache cache_of(object cls, object schema):
    """The prototypes of a schema class; None where its instances are built in full."""
    cdef PrototypeCache cache
    cdef Guard guard
    table = althaia_type_lookup(cls, "_hooks")
    if type(table) is not marshmallow.HookTable:
        return None
    cache = table.prototypes
    if cache is not None and cache.schema_class is cls:
        if cache.still_holds(schema):
            return cache
        if cache.wait > 0:
            cache.wait -= 1
            cache.refused = True
            return None
    # A later instance pays for the examination: many classes never have one.
    table.examined += 1
    if table.examined < FIRST_EXAMINATION and not at_once:
        return None
    if not althaia_is_plainly_asked(cls):
        # A ``__getattribute__`` of its metaclass would be asked what upstream never asks.
        table.prototypes = PrototypeCache(cls, None, "its metaclass answers for its attributes")
        return None
    guard, reason, refusal = examine(cls, schema)
    if guard is not None and not intercept_watched(cls, <Guard>guard):
        # Something has changed meanwhile: a later instance pays for another look.
        return None
    cache = PrototypeCache(cls, guard, reason)
    cache.refusal = refusal
    cache.wait = wait_after(table.examined)
    table.prototypes = cache
    return cache


cdef int wait_after(int examined):
    """How many instances the next examination waits for once what this one found has changed: a
    class that changes all the time is examined less and less often, and never left alone."""
    return 0 if examined <= FREE_EXAMINATIONS else 1 << min(examined - FREE_EXAMINATIONS, 10)


# ---- The prototype of a lazy instance ---------------------------------------------------


cdef object prototype_of(object schema, InstanceDict state):
    """The prototype whose plans a lazy instance runs; None where there is none any more.

    An instance whose fields user code has had, or that was touched, is materialised.
    """
    cdef Prototype prototype = <Prototype>state.prototype
    if prototype is None:
        # Another thread has just looked into it.
        return None
    if state.handed_out:
        materialise(schema, state)
        return None
    return None if materialise_if_touched(schema, state) else prototype.schema


cdef bint materialise_if_touched(object schema, InstanceDict state) except -1:
    """Materialise an instance that is lazy and was touched: something on it shadows what its
    class defines, or its class is another. Whether it was.
    """
    if state is None or state.prototype is None or not is_touched(schema, state):
        return False
    materialise(schema, state)
    return True


cdef bint is_touched(object schema, InstanceDict state) except -1:
    """Whether a lazy instance has more than its prototype knows."""
    if type(schema) is not (<Prototype>state.prototype).cache.schema_class:
        return True
    for name in <dict>state:
        if (
            name is MANY or name is PARTIAL or name is UNKNOWN or name is ERROR_MESSAGES
            or name is CONTEXT
        ):
            continue
        if name in shadowing and name not in kept_names:
            return True
    return False


cdef object prototype_to_plan(object schema, InstanceDict state):
    """As :func:`prototype_of`, before a plan is made. None also where the class or a field's has
    changed since: what it has now could see the prototype's fields."""
    cdef Prototype prototype = <Prototype>state.prototype
    if prototype is not None and not prototype.cache.holds(schema):
        materialise(schema, state)
        return None
    return prototype_of(schema, state)


cdef bint is_lazy(object schema):
    """Whether nobody has looked into the schema yet."""
    cdef InstanceDict state = existing_dict(schema)
    return state is not None and state.prototype is not None


# ---- Materialising ----------------------------------------------------------------------


cdef int materialise(object schema, InstanceDict state) except -1:
    """Build a lazy instance in full, as its construction would have left it.

    No other code runs meanwhile: of upstream's none is called, and the collector is off. On an
    error, of memory, the instance is as it was.
    """
    cdef Prototype prototype = <Prototype>state.prototype
    cdef dict own, built
    cdef bint collecting
    if prototype is None:
        return 0
    collecting = stop_collecting()
    try:
        own = {} if state.own is None else dict(state.own)
        built = rebuilt(schema, state.original, prototype, own)
        return put_in_place(schema, state, arrange(state, built), own or None)
    finally:
        collect_again(collecting)


cdef int put_in_place(object schema, InstanceDict state, dict arranged, dict own) except -1:
    """Make the attributes the instance's, and its fields its own."""
    if not althaia_has_simple_keys(arranged):
        # Keys of the user's own kind are compared by the user's code: only put to the end.
        state.prototype = None
        state.own = own
        state.update(arranged)
        return 0
    try:
        althaia_become(state, arranged)
    except MemoryError:
        put_dict(schema, arranged)
    # A call that is under way goes on with the prototype's fields, and asks for these.
    state.own = own
    state.prototype = None
    return 0


cdef dict rebuilt(object schema, dict original, Prototype prototype, dict own):
    """The attributes that a lazy instance lacks.

    :param original: the attributes of what it is a copy of, or None.
    :param own: the instance's own fields for the prototype's; completed.
    """
    cdef object copied
    cdef dict built, attributes
    if original is None:
        return transplant(prototype.schema, schema, schema, own)
    # Upstream copied it: the fields are shared with the original, and bound to that.
    copied = object.__new__(prototype.cache.schema_class)
    built = transplant(prototype.schema, copied, schema, own)
    attributes = arrange(dict(original), built)
    put_dict(copied, attributes)
    for name in ("fields", "load_fields", "dump_fields"):
        built[name] = dict(built[name])
    return built


cdef dict transplant(object prototype, object parent, object schema, dict own):
    """What ``Schema.__init__`` left in a prototype, as the schema would have it.

    Neither user code nor upstream's runs: both may have changed since the schema was made,
    when they made the prototype.

    :param parent: whom the fields are bound to: the schema, or what it is a copy of.
    """
    cdef dict memo = memo_of(prototype, parent, schema, own)
    cdef dict built = {}
    for name, value in vars_of(prototype).items():
        if name in FIELD_MAPPINGS:
            built[name] = {key: twin_of(field, memo, own) for key, field in value.items()}
        elif type(value) is marshmallow.OrderedSet:
            built[name] = copied_names(value)
        elif type(value) is set:
            built[name] = set(value)
        else:
            built[name] = value
    return built


cdef dict memo_of(object prototype, object parent, object schema, dict own):
    """What stands for what in an instance, by the ids of what the prototype has."""
    cdef dict memo = {id(prototype): parent, METHODS_OF: schema}
    for theirs, mine, complete in list(own.values()):
        if complete:
            memo[id(theirs)] = mine
        for name in ("only", "exclude"):
            value = vars_of(theirs).get(name)
            if type(value) is marshmallow.OrderedSet:
                memo[id(value)] = vars_of(mine)[name]
    return memo


cdef object twin_of(object field, dict memo, dict own):
    """A prototype's field as the schema's own; what it shares with its class stays shared.

    :param own: the instance's own fields so far; this one is added. One that calls have reached is
        the prototype's but for its schema, and is completed.
    """
    cdef object twin = memo.get(id(field)), parent
    cdef tuple known
    cdef dict theirs, mine
    if twin is not None:
        return twin
    known = <tuple>own.get(id(field))
    twin = memo[id(field)] = clone(field) if known is None else known[1]
    own[id(field)] = (field, twin, True)
    # All is read from the prototype's: after an error of memory a twin may be complete in part.
    theirs, mine = vars_of(field), vars_of(twin)
    if known is None:
        for name in ("only", "exclude"):
            value = theirs.get(name)
            if type(value) is marshmallow.OrderedSet:
                if id(value) not in memo:
                    memo[id(value)] = copied_names(value)
                mine[name] = memo[id(value)]
    parent = theirs.get("parent")
    if parent is None:
        return twin
    # A field under two names is bound twice: what is inside keeps a parent out of all reach.
    mine["parent"] = memo[id(parent)] if id(parent) in memo else twin_of(parent, memo, own)
    mine["root"] = memo[id(theirs["root"])]
    for name in ("_serialize_method", "_deserialize_method"):
        method = theirs.get(name)
        # A class method is bound to the class. Not isinstance(): upstream's metaclass is abc's, in
        # whose Python code another thread may run.
        if type(method) is MethodType and PyType_IsSubtype(
            type(method.__self__), marshmallow.Schema
        ):
            mine[name] = MethodType(method.__func__, memo[METHODS_OF])
    for name in ("inner", "key_field", "value_field"):
        if theirs.get(name) is not None:
            mine[name] = inner_twin(theirs[name], memo, own)
    if "tuple_fields" in theirs:
        mine["tuple_fields"] = [inner_twin(each, memo, own) for each in theirs["tuple_fields"]]
    return twin


cdef object inner_twin(object field, dict memo, dict own):
    """The twin of a field inside another; what that one does not bind, all instances share."""
    return field if vars_of(field).get("parent") is None else twin_of(field, memo, own)


cdef object real_field(object field, object parent, InstanceDict state):
    """The field of a plan as this parent has it, for the field's own code to run on.

    Of a lazy parent only this field is made, with what is inside it or around it. The user's
    code may change it, and keep it: the parent's next call goes by its own fields.

    :param state: the parent's dictionary as the call began, None: its dictionary now.
    """
    cdef object own
    if state is None:
        state = existing_dict(parent)
    if state is None:
        return field
    own = complete_field(field, state)
    # A field that upstream never binds is shared by all instances.
    if own is None and state.prototype is not None and vars_of(field).get("parent") is not None:
        if state.original is None:
            reach(field, parent, state)
        else:
            materialise(parent, state)
        own = complete_field(field, state)
    if own is None:
        return field
    if state.prototype is not None:
        state.handed_out = True
    return own


cdef object complete_field(object field, InstanceDict state):
    """An instance's own field for a prototype's or a model's, None where it has none that is as
    its construction would have left it."""
    cdef tuple entry = None if state.own is None else <tuple>state.own.get(id(field))
    return entry[1] if entry is not None and (entry[2] or state.prototype is None) else None


cdef int reach(object field, object parent, InstanceDict state) except -1:
    """Give a lazy instance its own field for one of the prototype's."""
    cdef object prototype = (<Prototype>state.prototype).schema
    cdef dict own
    cdef bint collecting = stop_collecting()
    try:
        own = {} if state.own is None else dict(state.own)
        twin_of(field, memo_of(prototype, parent, parent, own), own)
        state.own = own
    finally:
        collect_again(collecting)
    return 0


cdef dict arrange(dict touched, dict built):
    """What was set before, in and after ``Schema.__init__``, in order.

    :param touched: what the instance has.
    :param built: what its construction would have left.
    """
    cdef dict arranged = {}
    for name in touched:
        if name in kept_names:
            break
        arranged[name] = touched[name]
    for name, value in built.items():
        if name in touched or name not in kept_names:
            arranged[name] = touched.get(name, value)
    arranged.update(touched)
    return arranged


# ---- Interceptors -----------------------------------------------------------------------


cdef object lazy_getattr(object obj, object name):
    """Attribute access of classes that have lazy instances: what somebody looks into is
    materialised first."""
    if name in intercepted:
        look(obj)
    return PyObject_GenericGetAttr(obj, name)


cdef object lazy_dict(object obj, void* context):
    """``__dict__``, also where it is asked for past the class, as by ``getattr_static``."""
    look(obj)
    return althaia_plain_dict(obj, context)


cdef int look(object obj) except -1:
    """Materialise the instance if it is lazy."""
    cdef InstanceDict state = existing_dict(obj)
    if state is not None:
        if state.unbound is not None:
            fill_unbound(obj, state)
        elif state.prototype is not None:
            materialise(obj, state)
    return 0


cdef int fill_unbound(object schema, InstanceDict state) except -1:
    """Give an instance what upstream's construction has given it when it is about to bind the
    fields."""
    cdef Prototype prototype = <Prototype>state.unbound
    # Upstream's own construction makes it, and other threads run in that.
    cdef dict built = prototype.cache.unbound(prototype.options)
    cdef bint collecting = stop_collecting()
    try:
        if state.unbound is prototype:
            state.unbound = None
            put_in_place(schema, state, arrange(state, built), None)
        return 0
    finally:
        collect_again(collecting)


def build_in_full(schema):
    """Materialise an instance if it is lazy, as looking into it does."""
    look(schema)


cdef bint intercept_watched(object cls, Guard guard) except -1:
    """Intercept a class of which a guard has just been made. An interceptor changes the class's
    version: the guard goes on with the new one, unless it does not hold any more."""
    if not guard.watches(cls):
        return False
    althaia_intercept(cls, lazy_getattr)
    guard.watch_as_it_is(cls)
    intercept(cls)
    return True


cdef int intercept(object cls) except -1:
    """Let attribute access of a schema class see lazy instances; invisible from Python.

    Its subclasses' too: an instance may be given another class.
    """
    althaia_intercept_dict(althaia_type_lookup(marshmallow.Schema, "__dict__"), lazy_dict)
    althaia_intercept(cls, lazy_getattr)
    for subclass in type.__subclasses__(cls):
        intercept(subclass)
    return 0


def created(cls):
    """Intercept a new schema class where a base of it is intercepted; without the GIL, give its
    instances room for their plans."""
    adopt_instances(cls)
    for base in cls.__mro__:
        if althaia_is_intercepted(base, lazy_getattr):
            intercept(cls)
            break
