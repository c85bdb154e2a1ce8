# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Schema instances that cost next to nothing until somebody looks.

Most instances are made for one call and thrown away. All of one class with the same options
are alike, so one of them, the *prototype*, is built in full by upstream's own code and kept
with its plans; the others stay *light*: they hold what the call may change (``many``,
``partial``, ``unknown``, ``error_messages``) and run the prototype's plans with themselves as
``self``. Reading anything else of them (``fields``, ``only``, ``__dict__``, …) builds them in
full, as their construction would have left them: what the prototype has is copied.

Nothing of a prototype is ever handed to user code.
"""

import os
import threading
from types import MethodType

cimport cython
from cpython.dict cimport PyDict_SetItem
from cpython.object cimport PyObject

from althaia.plans.guards cimport Guard, InstanceDict, existing_dict
from althaia.plans.primitives cimport althaia_instance_dict, althaia_is_simply_true


cdef extern from *:
    """
    static PyObject *althaia_find(PyObject *type, PyObject *name) {
        PyObject *found = _PyType_Lookup((PyTypeObject *)type, name);
        return Py_NewRef(found != NULL ? found : Py_None);
    }
    static int althaia_is_open(PyObject *cls, getattrofunc getter) {
        return ((PyTypeObject *)cls)->tp_getattro == getter;
    }
    static void althaia_open(PyObject *cls, getattrofunc getter) {
        PyTypeObject *type = (PyTypeObject *)cls;
        if (type->tp_getattro == PyObject_GenericGetAttr) {
            type->tp_getattro = getter;
            PyType_Modified(type);
        }
    }
    static PyGetSetDef althaia_dict_window;
    static getter althaia_plain_dict = NULL;
    static void althaia_open_dict(PyObject *descriptor, getter window) {
        if (althaia_plain_dict == NULL && Py_IS_TYPE(descriptor, &PyGetSetDescr_Type)) {
            PyGetSetDescrObject *found = (PyGetSetDescrObject *)descriptor;
            althaia_plain_dict = found->d_getset->get;
            althaia_dict_window = *found->d_getset;
            althaia_dict_window.get = window;
            found->d_getset = &althaia_dict_window;
        }
    }
    """
    ctypedef object (*getattrofunc)(object, object)
    ctypedef object (*getter)(object, void*)
    getter althaia_plain_dict
    void althaia_open_dict(object descriptor, getter window)
    Py_ssize_t Py_REFCNT(PyObject* obj)
    object althaia_find(object type_, object name)
    bint althaia_is_open(object cls, getattrofunc getter)
    void althaia_open(object cls, getattrofunc getter)
    object PyObject_GenericGetAttr(object obj, object name)
    object PyObject_GenericGetDict(object obj, void* context)
    int PyObject_GenericSetAttr(object obj, object name, object value) except -1


cdef object HookTable = None
cdef object Schema = None
cdef object SchemaMeta = None
cdef object OrderedSet = None
cdef dict upstream_attributes = None
cdef object examine = None
cdef object lock = None

# Set by Schema.__init__ and left to the prototype while an instance is light.
LIGHT_NAMES = frozenset(
    {
        "declared_fields", "only", "exclude", "load_only", "dump_only", "fields",
        "load_fields", "dump_fields",
    }
)
# How these are asked for, the instance's dictionary gets out.
cdef frozenset windows = LIGHT_NAMES | {"__getstate__", "__reduce_ex__", "__reduce__"}
# What upstream's construction asks an instance for.
CONSTRUCTION = (
    "_init_fields",
    "_bind_field",
    "on_bind_field",
    "_normalize_nested_options",
    "_Schema__apply_nested_option",
    "set_class",
    "dict_class",
)
cdef frozenset shadowing = frozenset()
# only, exclude, load_only, dump_only
cdef tuple DEFAULTS = (None, (), (), ())
cdef tuple COLLECTIONS = (list, set, frozenset)
cdef bint at_once = False
cdef int MOST_VARIANTS = 64
cdef int MOST_EXAMINATIONS = 64


def renew_lock():
    """A new lock: a forked process has no use for one that another thread had locked."""
    global lock
    lock = threading.RLock()


renew_lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=renew_lock)


def build_at_once(bint on):
    """Keep the very first instances light, whether that pays or not; for tests."""
    global at_once
    at_once = on


def connect(hook_table, schema_namespace, schema_attributes, examiner):
    """Give the instances what they need of marshmallow.

    :param hook_table: the class of ``Schema._hooks`` that has room for a shelf.
    :param schema_namespace: the namespace of marshmallow's ``schema`` module.
    :param schema_attributes: the attributes upstream defined on ``Schema``.
    :param examiner: ``examiner(cls, schema) -> (Guard | None, reason)``: whether instances
        of a schema class may be light.
    """
    global HookTable, Schema, SchemaMeta, OrderedSet, upstream_attributes, examine, shadowing
    HookTable = hook_table
    Schema = schema_namespace["Schema"]
    SchemaMeta = schema_namespace["SchemaMeta"]
    OrderedSet = schema_namespace["OrderedSet"]
    upstream_attributes = schema_attributes
    examine = examiner
    shadowing = frozenset(schema_attributes) | LIGHT_NAMES


# ---- Variants -----------------------------------------------------------------------


@cython.final
@cython.no_gc_clear
cdef class Variant:
    pass


@cython.final
cdef class Shelf:
    """The prototypes of one schema class, by the options that shape its fields.

    ``guard`` watches the class, its declared fields and its options; None, with a
    ``reason``, where instances have to be built in full.
    """

    def __init__(self, schema_class, schema):
        self.schema_class = schema_class
        self.copies_bind_anew = False
        self.variants = {}
        self.uses = {}
        guard, self.reason = examine(schema_class, schema)
        if guard is not None:
            # The window changes the class's version: the guard is made behind it.
            open_window(schema_class)
            self.guard, self.reason = examine(schema_class, schema)
            self.opts = clone(schema_class.opts)
            for name, value in list(self.opts.__dict__.items()):
                if type(value) is list:
                    self.opts.__dict__[name] = list(value)
            memo = {}
            self.declared = {
                name: memo.setdefault(id(field), clone(field))
                for name, field in schema_class._declared_fields.items()
            }
            self.copies_bind_anew = any(
                inner_fields(inner)
                for field in self.declared.values() for inner in inner_fields(field)
            )

    cdef bint holds(self, object schema):
        return self.guard is not None and self.guard.holds(schema, NOTHING)


cdef dict NOTHING = {}


cdef object clone(object field):
    """A shallow copy, as ``copy.copy`` makes it of an object that copies in the usual way."""
    cdef object twin = object.__new__(type(field))
    state_of(twin).update(state_of(field))
    return twin


cdef dict state_of(object obj):
    """The instance dictionary of an object that has one, whatever its class says by now."""
    return <dict>PyObject_GenericGetDict(obj, NULL)


cdef list inner_fields(object field):
    """The fields inside a field, not those inside them."""
    cdef dict state = state_of(field)
    cdef list found = [state.get(name) for name in ("inner", "key_field", "value_field")]
    return [each for each in found if each is not None] + (state.get("tuple_fields") or [])


cdef object names(object given):
    """The names in an option as a tuple; None where it is not plainly a collection of text."""
    cdef tuple found
    if type(given) is tuple:
        found = <tuple>given
    elif type(given) in COLLECTIONS or type(given) is OrderedSet:
        found = tuple(given)
    else:
        return None
    for name in found:
        if type(name) is not str:
            return None
    return found


cdef object options_key(object only, object exclude, object load_only, object dump_only):
    """The options that shape a schema's fields as a key, None where there can be none."""
    excluded = names(exclude)
    write_only = names(load_only)
    read_only = names(dump_only)
    if excluded is None or write_only is None or read_only is None:
        return None
    if only is None:
        if not excluded and not write_only and not read_only:
            return DEFAULTS
        return (None, excluded, write_only, read_only)
    selected = names(only)
    return None if selected is None else (selected, excluded, write_only, read_only)


cdef Shelf shelf_of(object cls, object schema):
    """The shelf of a schema class; None where its instances are built in full."""
    cdef Shelf shelf
    table = althaia_find(cls, "_hooks")
    if type(table) is not HookTable:
        return None
    shelf = table.shelf
    if shelf is not None and shelf.schema_class is cls:
        if shelf.guard is None or shelf.holds(schema):
            return shelf
    # The second instance pays for the examination: many classes never have one, and one
    # that changes all the time is left alone.
    table.examined += 1
    if table.examined > MOST_EXAMINATIONS or (table.examined < 2 and not at_once):
        return None
    shelf = table.shelf = Shelf(cls, schema)
    return shelf


cdef Variant variant_of(Shelf shelf, object key):
    """The variant for the options, its prototype built; None where it is not worth while yet."""
    cdef Variant variant = <Variant>shelf.variants.get(key)
    if variant is not None:
        return variant
    if len(shelf.uses) >= MOST_VARIANTS:
        return None
    used = shelf.uses.get(key, 0) + 1
    shelf.uses[key] = used
    if (used < 2 and not at_once) or not are_known(shelf, <tuple>key):
        return None
    try:
        prototype = build(<tuple>key, shelf)
    except (ValueError, LookupError, TypeError, AttributeError, NameError):
        # Options that do not fit: upstream says so itself, of the instance at hand.
        return None
    variant = Variant()
    variant.prototype = prototype
    variant.shelf = shelf
    shelf.variants[key] = variant
    return variant


cdef bint are_known(Shelf shelf, tuple options) except -1:
    """Whether all fields that are selected or excluded exist: upstream's message about one that
    does not contains the instance's ``repr``, which may be user code."""
    cdef dict declared = shelf.declared
    available = shelf.opts.fields or declared
    for option in (shelf.opts.exclude, options[0] or (), options[1]):
        for name in option:
            if type(name) is not str:
                return False
            head = name.partition(".")[0]
            if head not in available or head not in declared:
                return False
    return True


cdef object build(tuple options, Shelf shelf):
    """A prototype: a schema of a shelf's class, filled by upstream's own ``__init__`` with what
    the class had when it was examined."""
    cdef object schema = object.__new__(shelf.schema_class)
    cdef InstanceDict state = InstanceDict()
    cdef dict borrowed = {"_declared_fields": shelf.declared, "opts": shelf.opts}
    for name in CONSTRUCTION:
        value = upstream_attributes[name]
        borrowed[name] = value if isinstance(value, type) else MethodType(value, schema)
    state.building = True
    PyObject_GenericSetAttr(schema, "__dict__", state)
    state.update(borrowed)
    try:
        only, exclude, load_only, dump_only = options
        upstream_attributes["__init__"](
            schema, only=only, exclude=exclude, load_only=load_only, dump_only=dump_only
        )
    finally:
        for name in borrowed:
            del state[name]
        state.building = False
    return schema


# ---- Light instances ----------------------------------------------------------------


def construct(schema, only, exclude, many, load_only, dump_only, partial, unknown):
    """First in ``Schema.__init__``: make the instance light. False: upstream's code runs."""
    cdef object cls = type(schema)
    cdef object key, before
    cdef Shelf shelf
    cdef Variant variant
    cdef InstanceDict state
    cdef void* found = althaia_instance_dict(schema)
    if found is not NULL and type(<object>found) is InstanceDict:
        # ``__init__`` once more, or upstream's own at work for us.
        look(schema)
        return False
    # Who else holds the dictionary would lose touch with the instance.
    if (
        found is NULL
        or type(<object>found) is not dict
        or Py_REFCNT(<PyObject*>found) > 1
    ):
        return False
    key = options_key(only, exclude, load_only, dump_only)
    if key is None:
        return False
    shelf = shelf_of(cls, schema)
    if shelf is None or shelf.guard is None:
        return False
    variant = variant_of(shelf, key)
    if variant is None or variant.spoiled:
        return False
    before = <dict>found
    state = InstanceDict.__new__(InstanceDict)
    if before:
        for name in before:
            # A Method field binds to what the instance has under the method's name.
            if name in shadowing or althaia_find(cls, name) is not None:
                return False
        state.update(before)
    opts = shelf.opts
    PyDict_SetItem(state, "many", opts.many if many is None else many)
    PyDict_SetItem(state, "partial", partial)
    PyDict_SetItem(state, "unknown", opts.unknown if unknown is None else unknown)
    PyDict_SetItem(state, "error_messages", messages_of(cls))
    state.variant = variant
    PyObject_GenericSetAttr(schema, "__dict__", state)
    return True


cdef dict messages_of(object cls):
    """A schema's ``error_messages`` as ``Schema.__init__`` collects them."""
    cdef dict messages = {}
    messages.update(cls._default_error_messages)
    for base in reversed(cls.__mro__):
        messages.update(getattr(base, "error_messages", NOTHING))
    messages.update(cls.error_messages or NOTHING)
    return messages


cdef object prototype_of(object schema, InstanceDict state):
    """The prototype whose plans a light instance runs; None where it was touched.

    A touched instance is built in full: something on it shadows what its class defines.
    """
    cdef Variant variant = <Variant>state.variant
    if variant is None:
        # Another thread has just looked into it.
        return None
    if variant.spoiled or type(schema) is not variant.shelf.schema_class:
        fill(schema, state)
        return None
    for name in <dict>state:
        if name is MANY or name is PARTIAL or name is UNKNOWN or name is ERROR_MESSAGES:
            continue
        if name in shadowing and name not in KEPT:
            fill(schema, state)
            return None
    return variant.prototype


cdef object prototype_to_plan(object schema, InstanceDict state):
    """As :func:`prototype_of`, before a plan is made. None also where the class or a field's has
    changed since: what it has now could see the prototype's fields."""
    cdef Variant variant = <Variant>state.variant
    if variant is not None and not variant.shelf.holds(schema):
        fill(schema, state)
        return None
    return prototype_of(schema, state)


cdef int give_up(object schema, InstanceDict state) except -1:
    """Build this instance in full, and all with its options: their plan is not for sharing."""
    cdef Variant variant = <Variant>state.variant
    if variant is not None:
        variant.spoiled = True
        fill(schema, state)
    return 0


# What a field has that a call asks the schema's own for.
cdef frozenset CALLED_LATER = frozenset({"_schema", "tuple_fields", "value_field"})
cdef object METHODS_OF = object()
cdef frozenset FIELD_MAPPINGS = frozenset(
    {"declared_fields", "fields", "load_fields", "dump_fields"}
)
cdef str MANY = "many", PARTIAL = "partial", UNKNOWN = "unknown"
cdef str ERROR_MESSAGES = "error_messages"
cdef frozenset KEPT = frozenset({MANY, PARTIAL, UNKNOWN, ERROR_MESSAGES})


cdef int fill(object schema, InstanceDict state) except -1:
    """Build a light instance in full, as its construction would have left it."""
    cdef Variant variant
    cdef dict built
    with lock:
        variant = <Variant>state.variant
        if variant is None:
            return 0
        built = rebuilt(schema, state, variant)
        # The collector may have run, and in it a finalizer that looked.
        if state.variant is not None:
            arrange(state, built)
            state.variant = None
    return 0


cdef dict rebuilt(object schema, InstanceDict state, Variant variant):
    """The attributes that a light instance lacks."""
    cdef object original
    cdef dict built, attributes
    if state.original is None:
        return transplant(variant.prototype, schema, schema, state)
    # Upstream copied it: the fields are shared with the original, and bound to that.
    original = object.__new__(variant.shelf.schema_class)
    built = transplant(variant.prototype, original, schema, state)
    attributes = dict(state.original)
    arrange(attributes, built)
    PyObject_GenericSetAttr(original, "__dict__", attributes)
    for name in ("fields", "load_fields", "dump_fields"):
        built[name] = dict(built[name])
    return built


cdef dict transplant(object prototype, object parent, object schema, InstanceDict state):
    """What ``Schema.__init__`` left in a prototype, as the schema would have it.

    Neither user code nor upstream's runs: both may have changed since the schema was made,
    when they made the prototype.

    :param parent: whom the fields are bound to: the schema, or what it is a copy of.
    """
    cdef dict memo = {id(prototype): parent, METHODS_OF: schema}
    cdef dict nested = dict(state.nested or NOTHING), built = {}
    for theirs, own in nested.values():
        for name in ("only", "exclude"):
            memo[id(state_of(theirs)[name])] = state_of(own)[name]
    for name, value in state_of(prototype).items():
        if name in FIELD_MAPPINGS:
            built[name] = {key: twin_of(field, memo, nested) for key, field in value.items()}
        elif type(value) is OrderedSet or type(value) is set:
            built[name] = type(value)(value)
        else:
            built[name] = value
    # A call that is under way goes on with the prototype's fields, and asks for these.
    state.nested = nested or None
    return built


cdef object twin_of(object field, dict memo, dict nested):
    """A prototype's field as the schema's own; what it shares with its class stays shared.

    :param nested: what :func:`nested_field` keeps.
    """
    cdef object twin = memo.get(id(field))
    cdef tuple known
    cdef dict state
    if twin is not None:
        return twin
    known = <tuple>nested.get(id(field))
    twin = memo[id(field)] = clone(field) if known is None else known[1]
    state = state_of(twin)
    if known is None:
        for name in ("only", "exclude"):
            value = state.get(name)
            if type(value) is OrderedSet:
                if id(value) not in memo:
                    memo[id(value)] = OrderedSet(value)
                state[name] = memo[id(value)]
        if not CALLED_LATER.isdisjoint(state):
            nested[id(field)] = (field, twin)
    if state.get("parent") is None:
        return twin
    # A field under two names is bound twice: what is inside keeps a parent out of all reach.
    parent = state["parent"]
    state["parent"] = memo[id(parent)] if id(parent) in memo else twin_of(parent, memo, nested)
    state["root"] = memo[id(state["root"])]
    for name in ("_serialize_method", "_deserialize_method"):
        method = state.get(name)
        # A class method is bound to the class.
        if type(method) is MethodType and isinstance(method.__self__, Schema):
            state[name] = MethodType(method.__func__, memo[METHODS_OF])
    for name in ("inner", "key_field", "value_field"):
        if state.get(name) is not None:
            state[name] = twin_of(state[name], memo, nested)
    if "tuple_fields" in state:
        state["tuple_fields"] = [
            twin_of(each, memo, nested) for each in state["tuple_fields"]
        ]
    return twin


cdef int arrange(dict state, dict built) except -1:
    """Put in order what was set before, in and after ``Schema.__init__``."""
    cdef dict touched = dict(state), arranged = {}
    for name in touched:
        if name in KEPT:
            break
        arranged[name] = touched[name]
    for name, value in built.items():
        if name in touched or name not in KEPT:
            arranged[name] = touched.get(name, value)
    arranged.update(touched)
    # What other threads read in the meantime is there all the time.
    state.update(arranged)
    for name in list(arranged):
        state[name] = state.pop(name)
    return 0


# ---- Looking at light instances -----------------------------------------------------


cdef object light_getattr(object obj, object name):
    """Attribute access of classes that have light instances; nothing is light afterwards
    that somebody looked into."""
    if name in windows:
        look(obj)
    return PyObject_GenericGetAttr(obj, name)


cdef int look(object obj) except -1:
    """Build the instance in full if it is light."""
    cdef InstanceDict state = existing_dict(obj)
    if state is not None and state.variant is not None:
        fill(obj, state)
    return 0


def build_in_full(schema):
    """Build an instance in full if it is light, as looking at it does."""
    look(schema)


cdef object light_dict(object obj, void* context):
    """``__dict__``, also where it is asked for past the class, as by ``getattr_static``."""
    look(obj)
    return althaia_plain_dict(obj, context)


cdef int open_window(object cls) except -1:
    """Let attribute access of a schema class see light instances; invisible from Python.

    Its subclasses' too: an instance may be given another class.
    """
    althaia_open_dict(Schema.__dict__["__dict__"], light_dict)
    althaia_open(cls, light_getattr)
    for subclass in type.__subclasses__(cls):
        open_window(subclass)
    return 0


def created(cls):
    """Open the window of a new schema class where a base of it has one."""
    for base in cls.__mro__:
        if althaia_is_open(base, light_getattr):
            open_window(cls)
            break


# ---- Nested schemas -----------------------------------------------------------------


cdef object nested_field(object field, object parent):
    """The nested field of a plan as this parent has it: where the parent is light, or was
    when the call began, a copy of the prototype's field that is the parent's own."""
    cdef InstanceDict state = existing_dict(parent)
    cdef tuple entry
    if state is None:
        return field
    if state.nested is not None:
        entry = <tuple>state.nested.get(id(field))
        if entry is not None and entry[0] is field:
            return entry[1]
    if state.variant is None:
        return field
    own = clone(field)
    own._schema = None
    # The nested schema's own ``__init__`` is given these, and may change them.
    if type(own.only) is OrderedSet:
        own.only = OrderedSet(own.only)
    if type(own.exclude) is OrderedSet:
        own.exclude = OrderedSet(own.exclude)
    if state.nested is None:
        state.nested = {}
    state.nested[id(field)] = (field, own)
    return own


cdef object own_field(object field, object parent):
    """The field of a plan as this parent has it, for code that goes on to what is inside it."""
    cdef InstanceDict state = existing_dict(parent)
    cdef tuple entry
    if state is None:
        return field
    if state.variant is not None:
        fill(parent, state)
    entry = None if state.nested is None else <tuple>state.nested.get(id(field))
    return field if entry is None or entry[0] is not field else entry[1]


cdef object nested_schema(object field):
    """What ``Nested.schema`` gives for a field of :func:`nested_field`."""
    if field._schema is None:
        twin = clone(field)
        try:
            field._schema = resolve(twin)
        except Exception:
            # Upstream's field keeps a schema that it fails to narrow, and uses it next time.
            field._schema = twin._schema
            raise
        return field._schema
    return field._schema if althaia_is_simply_true(type(field._schema)) else field.schema


cdef object resolve(object field):
    """What ``Nested.schema`` makes of a field that is not resolved yet; the field is lost."""
    cdef object nested = field.nested
    if callable(nested) and not isinstance(nested, SchemaMeta):
        nested = nested()
        if is_fresh(nested) and field.only is None and not field.exclude:
            # Upstream copies the instance so as not to share it; this one nobody has, and
            # what it is a copy of is seen only by whom looks into it.
            keep_original(nested)
            if field.many is not None:
                nested.many = field.many
            return nested
        field.nested = returning(nested) if callable(nested) else nested
    # A proxy of a class is none for upstream, which refuses it.
    if issubclass(type(nested), SchemaMeta):
        return nested(
            many=bool(field.many),
            only=field.only,
            exclude=field.exclude,
            load_only=of_nested(field, "load_only"),
            dump_only=of_nested(field, "dump_only"),
        )
    return field.schema


cdef object of_nested(object field, str option):
    """What ``Nested._nested_normalized_option`` gives."""
    return field._nested_normalized_option(option) if getattr(field.root, option, None) else []


cdef bint is_fresh(object schema):
    """Whether a schema is light and has just been made, for us alone, and differs from its copy
    in nothing that :func:`rebuilt` does not know."""
    cdef InstanceDict state
    cdef Variant variant
    if not isinstance(schema, Schema) or Py_REFCNT(<PyObject*>schema) != 1:
        return False
    if not is_light(schema):
        return False
    state = existing_dict(schema)
    variant = <Variant>state.variant
    return not variant.shelf.copies_bind_anew


cdef int keep_original(object schema) except -1:
    """Remember what a light instance is a copy of."""
    cdef InstanceDict state = existing_dict(schema)
    state.original = dict(state)
    return 0


cdef bint is_light(object schema):
    """Whether nobody has looked into the schema yet."""
    cdef InstanceDict state = existing_dict(schema)
    return state is not None and state.variant is not None


def returning(value):
    """A function that returns a value already had."""
    return lambda: value


cdef object plucked_key(object field, object schema):
    """What ``Pluck._field_data_key`` gives for the field's schema, which stays light."""
    cdef object name = field.field_name
    cdef InstanceDict state
    if is_light(schema):
        state = existing_dict(schema)
        schema = (<Variant>state.variant).prototype
    key = schema.fields[name].data_key
    return name if key is None else key
