# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Schema instances that cost next to nothing until somebody looks.

Most instances are made for one call and thrown away. All of one class with the same options
are alike, so one of them, the *prototype*, is built in full by upstream's own code and kept
with its plans; the others stay *light*: they hold what the call may change (``many``,
``partial``, ``unknown``, ``error_messages``) and run the prototype's plans with themselves as
``self``. Reading anything else of them (``fields``, ``only``, ``__dict__``, …) builds them in
full, by upstream's own ``__init__``, as they would have been at their construction.

Nothing of a prototype is ever handed to user code.
"""

import os
import threading
from types import MethodType

cimport cython
from cpython.dict cimport PyDict_SetItem
from cpython.object cimport PyObject

from althaia.plans.guards cimport Guard, InstanceDict
from althaia.plans.primitives cimport althaia_instance_dict, althaia_is_simply_true


cdef extern from *:
    """
    static PyObject *althaia_find(PyObject *type, PyObject *name) {
        PyObject *found = _PyType_Lookup((PyTypeObject *)type, name);
        return Py_NewRef(found != NULL ? found : Py_None);
    }
    static void althaia_open(PyObject *cls, getattrofunc getter) {
        PyTypeObject *type = (PyTypeObject *)cls;
        if (type->tp_getattro != getter) {
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
    void althaia_open(object cls, getattrofunc getter)
    object PyObject_GenericGetAttr(object obj, object name)
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
cdef int FEW_LOOKS = 8
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
            self.declared = clone_fields(schema_class._declared_fields)

    cdef bint is_worth_while(self):
        """Whether most light instances stay light: one that is looked into costs more than
        one built in full at once."""
        return self.looked_into < FEW_LOOKS or self.looked_into * 2 < self.made or at_once

    cdef bint holds(self, object schema):
        return self.guard is not None and self.guard.holds(schema, NOTHING)


cdef dict NOTHING = {}


def clone_fields(dict fields):
    """Copies of unbound fields and what is inside them; a field used twice stays one."""
    memo = {}
    return {name: clone_deeply(field, memo) for name, field in fields.items()}


def clone_deeply(field, memo):
    """A copy of a field, of the fields inside it, and of its lists."""
    if id(field) in memo:
        return memo[id(field)]
    twin = memo[id(field)] = clone(field)
    state = twin.__dict__
    for name in ("inner", "key_field", "value_field"):
        inner = state.get(name)
        if inner is not None:
            state[name] = clone_deeply(inner, memo)
    if "tuple_fields" in state:
        state["tuple_fields"] = [clone_deeply(each, memo) for each in state["tuple_fields"]]
    return twin


cdef object clone(object field):
    """A shallow copy, as ``copy.copy`` makes it of an object that copies in the usual way."""
    cdef object twin = object.__new__(type(field))
    twin.__dict__.update(<dict>field.__dict__)
    return twin


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
    if used < 2 and not at_once:
        return None
    try:
        prototype = build(<tuple>key, InstanceDict(), shelf)
    except (ValueError, LookupError, TypeError, AttributeError, NameError):
        # Options that do not fit: upstream says so itself, of the instance at hand.
        return None
    variant = Variant()
    variant.prototype = prototype
    variant.shelf = shelf
    shelf.variants[key] = variant
    return variant


cdef object build(tuple options, InstanceDict state, Shelf shelf):
    """A schema of a shelf's class whose ``__dict__`` is ``state``, filled by upstream's own
    ``__init__`` with what the class had when it was examined."""
    cdef object schema = object.__new__(shelf.schema_class)
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
    if shelf is None or shelf.guard is None or not shelf.is_worth_while():
        return False
    variant = variant_of(shelf, key)
    if variant is None:
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
    state.arguments = key
    state.variant = variant
    PyObject_GenericSetAttr(schema, "__dict__", state)
    shelf.made += 1
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
    if type(schema) is not variant.shelf.schema_class:
        fill(schema, state)
        return None
    if len(state) != 4:
        for name in <dict>state:
            if name in shadowing and name not in KEPT:
                fill(schema, state)
                return None
    return variant.prototype


cdef frozenset KEPT = frozenset({"many", "partial", "unknown", "error_messages"})


cdef int fill(object schema, InstanceDict state) except -1:
    """Build a light instance in full, as its construction would have left it."""
    cdef InstanceDict built
    cdef Variant variant
    with lock:
        variant = <Variant>state.variant
        if variant is None:
            return 0
        variant.shelf.looked_into += 1
        # On a twin, or other threads would meet an instance half built.
        built = InstanceDict.__new__(InstanceDict)
        twin = build(<tuple>state.arguments, built, variant.shelf)
        for name, field in built["declared_fields"].items():
            adopt_field(
                field, variant.prototype.declared_fields[name], twin, schema,
                state.nested or NOTHING,
            )
        arrange(state, built)
        state.variant = None
    return 0


cdef int arrange(InstanceDict state, InstanceDict built) except -1:
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


def adopt_field(own, theirs, twin, schema, dict nested):
    """Make a field of the twin one of the schema's, with what it would have had since its
    construction: the methods its class had then, the nested schema it has resolved.

    :param theirs: the prototype's field.
    :param nested: what :func:`nested_field` keeps.
    """
    if own.parent is twin:
        own.parent = schema
    if own.root is twin:
        own.root = schema
    for name in ("_serialize_method", "_deserialize_method"):
        method = getattr(theirs, name, None)
        if method is not None:
            # A class method is bound to the class, any other to the instance.
            of_class = type(method) is not MethodType or isinstance(method.__self__, type)
            setattr(own, name, method if of_class else MethodType(method.__func__, schema))
    if id(theirs) in nested:
        resolved = nested[id(theirs)][1]
        own._schema, own.only, own.exclude = resolved._schema, resolved.only, resolved.exclude
        # Within reach of user code now.
        if own._schema is not None:
            look(own._schema)
    for name in ("inner", "key_field", "value_field"):
        inner = getattr(theirs, name, None)
        if inner is not None:
            adopt_field(getattr(own, name), inner, twin, schema, nested)
    for own_item, their_item in zip(
        getattr(own, "tuple_fields", ()), getattr(theirs, "tuple_fields", ())
    ):
        adopt_field(own_item, their_item, twin, schema, nested)


# ---- Looking at light instances -----------------------------------------------------


cdef object light_getattr(object obj, object name):
    """Attribute access of classes that have light instances; nothing is light afterwards
    that somebody looked into."""
    if name in windows:
        look(obj)
    return PyObject_GenericGetAttr(obj, name)


cdef int look(object obj) except -1:
    """Build the instance in full if it is light."""
    cdef void* found = althaia_instance_dict(obj)
    cdef InstanceDict state
    if found is NULL or type(<object>found) is not InstanceDict:
        return 0
    # Owned: user code may put another dictionary in its place.
    state = <InstanceDict>found
    if state.variant is not None:
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
    """Let attribute access of a schema class see light instances; invisible from Python."""
    althaia_open_dict(Schema.__dict__["__dict__"], light_dict)
    althaia_open(cls, light_getattr)
    return 0


# ---- Nested schemas -----------------------------------------------------------------


cdef object nested_field(object field, object parent):
    """The nested field of a plan as this parent has it: where the parent is light, or was
    when the call began, a copy of the prototype's field that is the parent's own."""
    cdef void* found = althaia_instance_dict(parent)
    cdef InstanceDict state
    cdef tuple entry
    if found is NULL or type(<object>found) is not InstanceDict:
        return field
    state = <InstanceDict>found
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
            # Upstream copies the instance so as not to share it; this one nobody has.
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
    """Whether a schema is light and has just been made, for us alone."""
    return (
        isinstance(schema, Schema) and Py_REFCNT(<PyObject*>schema) == 1 and is_light(schema)
    )


cdef bint is_light(object schema):
    """Whether nobody has looked into the schema yet."""
    cdef void* found = althaia_instance_dict(schema)
    return (
        found is not NULL
        and type(<object>found) is InstanceDict
        and (<InstanceDict>found).variant is not None
    )


def returning(value):
    """A function that returns a value already had."""
    return lambda: value


cdef object plucked_key(object field, object schema):
    """What ``Pluck._field_data_key`` gives for the field's schema, which stays light."""
    cdef object name = field.field_name
    cdef InstanceDict state
    if is_light(schema):
        state = <InstanceDict>althaia_instance_dict(schema)
        schema = (<Variant>state.variant).prototype
    key = schema.fields[name].data_key
    return name if key is None else key
