# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Make instances: lazy if their class allows it, otherwise built in full, but quicker.

Two thirds of the time of upstream's ``Schema.__init__`` are spent in ``copy.deepcopy`` and in sets
of names. If no option of the call leaves out a field and all are copied in the default way,
:func:`make` does the same directly. It calls ``_bind_to_schema`` of the fields and
``on_bind_field`` in upstream's order; the schema has the same attributes as upstream's at each of
these calls.
"""

import abc
import copy
import copyreg
from collections import OrderedDict

from althaia import seam
from althaia.engine.analysis.schema_class import watch_construction
from althaia.engine.instances import lazy as _lazy
from althaia.engine.plan.guard import ABSENT
from althaia.engine.upstream import static

from cpython.dict cimport PyDict_SetItem

from althaia.cpython.primitives cimport (
    ALTHAIA_HAS_GIL,
    althaia_dict_or_none,
    althaia_type_lookup,
    althaia_type_tag,
)
from althaia.engine.instances.lazy cimport set_messages, warn_of_context
from althaia.engine.instances.prototype cimport PrototypeCache, copied_fields, vars_of
from althaia.engine.plan.guard cimport Guard
from althaia.engine.plan.instance_dict cimport (
    InstanceDict,
    collect_again,
    existing_dict,
    instance_dict,
    made_dict,
    may_be_put,
    put_dict,
    stop_collecting,
)
from althaia.engine.sample cimport is_upstreams_turn, sample
from althaia.engine.upstream cimport marshmallow

cdef extern from "althaia/cpython/layout.h":
    bint althaia_has_made_dict(object obj)
    bint althaia_is_bare(object obj)

cdef object COPY = copy
# Recorded when marshmallow was imported, because a test may have replaced them since.
cdef dict AS_SHIPPED = dict(seam.defined.get("copy", vars(copy)))
cdef object deepcopy = AS_SHIPPED["deepcopy"]
cdef object shallow_copy = AS_SHIPPED["copy"]
# Methods whose work make() does. If the user overrides one, upstream's construction runs.
cdef tuple REPLACED = ("_normalize_nested_options", "set_class", "dict_class")
cdef tuple SET = (
    "declared_fields", "many", "only", "exclude", "load_only", "dump_only", "partial", "unknown",
    "fields", "load_fields", "dump_fields",
)
cdef tuple UNKNOWN = ("exclude", "include", "raise")
cdef str CHECK_UNKNOWN = "validate_unknown_parameter_value"
cdef object object_getattribute = object.__getattribute__
cdef object object_setattr = object.__setattr__
cdef object object_new = object.__new__
cdef object object_class = object.__dict__["__class__"]
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
cdef tuple ASKED_OF_FIELDS = (
    "__deepcopy__", "__reduce_ex__", "__reduce__", "__getstate__", "__getnewargs_ex__",
    "__getnewargs__", "__class__",
)
cdef tuple METACLASSES = (type, abc.ABCMeta)
# The tables in which ``copy`` looks for a class first. Programs add to them; none replaces them.
cdef tuple dispatch_tables = (copyreg.dispatch_table, *(
    AS_SHIPPED[name] for name in ("_deepcopy_dispatch", "_copy_dispatch") if name in AS_SHIPPED
))
cdef tuple KEYS = ("data_key", "attribute")
cdef tuple PLAIN_KEYS = (str, type(None))
# Type versions of field classes that are copied in the default way. A change of the class changes
# its version, and CPython uses none twice.
cdef set simply_copied = set()
# The same of classes whose fields are bound by setting three attributes, and read where Python
# keeps them.
cdef set plainly_bound = set()
cdef int MOST_TAGS = 1024
# How often the conditions of one class are examined for a guard.
cdef int MOST_EXAMINATIONS = 16
cdef dict NOTHING = {}
cdef str BIND_FIELD = "_bind_field"
cdef str ON_BIND_FIELD = "on_bind_field"
cdef str BIND_TO_SCHEMA = "_bind_to_schema"
cdef str DECLARED_FIELDS = "declared_fields"
cdef str LOAD_ONLY = "load_only"
cdef str DUMP_ONLY = "dump_only"
cdef str DATA_KEY = "data_key"
cdef str ATTRIBUTE = "attribute"
cdef str PARENT = "parent"
cdef str NAME = "name"
cdef str ROOT = "root"
# Attributes of a field that binding sets and :func:`sort` reads.
cdef tuple BOUND = (PARENT, NAME, ROOT, LOAD_ONLY, DUMP_ONLY, DATA_KEY, ATTRIBUTE)


def construct(
    schema, only, exclude, many, load_only, dump_only, partial, unknown, context=None
):
    """Called first in ``Schema.__init__``: make the instance. Return False if upstream's code must
    run, from its check of the options on."""
    if is_upstreams_turn(sample):
        return False
    if marshmallow.has_context and not is_refused_by_none(unknown, context):
        return False
    if _lazy.construct(
        schema, only, exclude, many, load_only, dump_only, partial, unknown, context
    ):
        return True
    if only is not None or not is_empty(exclude) or is_known_to_be_odd(type(schema)):
        return False
    declared = althaia_type_lookup(type(schema), "_declared_fields")
    if type(declared) is not dict:
        return False
    if is_as_examined(schema):
        make_at_once(schema, <dict>declared, many, load_only, dump_only, partial, unknown, context)
        return True
    guard = construction_guard(schema, <dict>declared)
    if not is_replaceable(schema):
        return False
    if not copies_simply(<dict>declared):
        note_odd_field(type(schema), <dict>declared)
        return False
    if guard is not None:
        cache_there(type(schema)).construction = <Guard>guard
    make(schema, copied_fields(declared), many, load_only, dump_only, partial, unknown, context)
    if ALTHAIA_HAS_GIL and althaia_has_made_dict(schema):
        # It was made to ask the conditions above of it. A plain one would say that the instance has
        # had its first call (planner.is_first_call), and no model would be made.
        instance_dict(schema)
    return True


cdef bint is_as_examined(object schema) except -1:
    """Whether the conditions below were found to hold for the class and nothing has changed that
    they rest on. The instance must be new: its own attributes were not examined."""
    cdef PrototypeCache cache = cache_there(type(schema))
    if cache is None or cache.construction is None or not althaia_is_bare(schema):
        return False
    if cache.construction.holds(schema, NOTHING):
        return True
    cache.construction = None
    return False


cdef object construction_guard(object schema, dict declared):
    """Return a guard of all that the conditions below rest on, or None; recorded before they are
    asked. For classes of which nobody knows yet whether they have lazy instances, there is none."""
    cdef PrototypeCache cache = cache_there(type(schema))
    if (
        not ALTHAIA_HAS_GIL or cache is None or cache.guard is not None
        or cache.constructions >= MOST_EXAMINATIONS
        or not althaia_is_bare(schema) or not may_be_put(schema)
        # Upstream's isinstance() asks an instance for its class while it binds each field.
        or althaia_type_lookup(type(schema), "__class__") is not object_class
    ):
        return None
    cache.constructions += 1
    return watch_construction(marshmallow, schema, declared, dispatch_tables)


cdef bint is_refused_by_none(object unknown, object context):
    """Whether upstream's construction does not refuse these two options, and asking a context for
    its truth runs no code."""
    if context is not None and type(context) is not dict:
        return False
    return unknown is None or (
        type(unknown) is str and unknown in UNKNOWN
        and marshmallow.live["schema"].get(CHECK_UNKNOWN)
        is seam.defined["schema"].get(CHECK_UNKNOWN, ABSENT)
    )


cdef bint are_declared(object names, object cls):
    """Whether an option is a builtin list or tuple of names that a class declares: upstream refuses
    others. Calls no user code."""
    cdef object declared = althaia_type_lookup(cls, "_declared_fields")
    if type(names) not in (tuple, list) or type(declared) is not dict:
        return False
    for name in names:
        # A dot separates the names of a nested option.
        if type(name) is not str or "." in <str>name or name not in <dict>declared:
            return False
    return True


cdef bint is_empty(object names):
    """Whether an option is an empty builtin collection; calls no user code."""
    return type(names) in (tuple, list, set, frozenset) and len(names) == 0


# ---- Conditions ---------------------------------------------------------------------------


cdef bint is_replaceable(object schema) except -1:
    """Whether make() gives the same instance as upstream's construction: the class overrides none
    of it, and selects no fields."""
    cdef object state
    if not is_as_shipped() or not has_upstreams_construction(type(schema)):
        return False
    if althaia_is_bare(schema):
        return True
    state = made_dict(schema)
    if state is None:
        return True
    # An InstanceDict: a second call of ``__init__``, or upstream's is building a prototype.
    if type(state) is not dict:
        return False
    for name in (*REPLACED, "_init_fields", "opts", "_declared_fields"):
        if name in <dict>state:
            return False
    return True


cdef bint is_as_shipped() except -1:
    """Whether upstream's functions that make() replaces are known and not replaced by others."""
    for name in REPLACED_FUNCTIONS:
        if name in marshmallow.unknown:
            return False
    for module, name in ASKED_OF_OPTIONS:
        if marshmallow.live[module].get(name) is not seam.defined[module].get(name, ABSENT):
            return False
    return marshmallow.has_plain_sets()


cdef PrototypeCache cache_there(object cls):
    """Return what is kept of a class that was examined, or None."""
    cdef object table = althaia_type_lookup(cls, "_hooks")
    cdef PrototypeCache cache
    if type(table) is not marshmallow.HookTable:
        return None
    cache = table.prototypes
    return cache if cache is not None and cache.schema_class is cls else None


cdef bint is_known_to_be_odd(object cls) except -1:
    """Whether instances of a class could not be made here, and what made that so has not changed
    since. This saves most of the conditions below."""
    cdef PrototypeCache cache = cache_there(cls)
    return (
        cache is not None and cache.odd is not None
        and althaia_type_tag(cache.odd) == cache.odd_tag
    )


cdef int note_odd(object cls, object odd) except -1:
    """Record the class for which instances of a schema class cannot be made here: itself or that of
    a field."""
    cdef PrototypeCache cache = cache_there(cls)
    cdef unsigned int tag = althaia_type_tag(odd)
    if cache is not None and tag != 0:
        cache.odd, cache.odd_tag = odd, tag
    return 0


cdef int note_odd_field(object cls, dict declared) except -1:
    """Record the class of the first field that is not copied in the default way."""
    cdef object kind
    for field in declared.values():
        if field is None:
            continue
        kind = type(field)
        if althaia_type_tag(kind) not in simply_copied and not has_simple_copies(kind):
            note_odd(cls, kind)
            return 0
    return 0


cdef bint has_upstreams_construction(object cls) except -1:
    """Whether a class overrides nothing that make() does, and its options at most leave out
    declared fields."""
    cdef object opts, options
    if overrides_construction(cls):
        note_odd(cls, cls)
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
    """Whether a class, or that of its options, defines something that make() would do otherwise."""
    for name in REPLACED:
        if althaia_type_lookup(cls, name) is not marshmallow.schema_attributes[name]:
            if name != "dict_class" or mapping_of(cls) is None:
                return True
    # make() reads computed attributes less often than upstream does.
    for name in SET:
        if althaia_type_lookup(cls, name) is not None:
            return True
    return (
        althaia_type_lookup(cls, "__getattribute__") is not object_getattribute
        or althaia_type_lookup(cls, "__setattr__") is not object_setattr
        or not has_plain_options(type(althaia_type_lookup(cls, "opts")))
    )


cdef bint infers_nothing(object cls, dict options) except -1:
    """Whether each name has a declared field. Some releases allow names without one."""
    if not marshmallow.has_context:
        return True
    for name in ("ordered", "context"):
        if althaia_type_lookup(cls, name) is not None:
            return False
    return (
        type(options.get("ordered")) is bool
        and is_empty(options.get("additional"))
        and are_made_unnoticed(seam.defined["fields"]["Inferred"])
    )


cdef bint are_made_unnoticed(object inferred) except -1:
    """Whether only upstream's code runs when it makes an inferred field for each name. It discards
    those of names that have a declared field."""
    if marshmallow.live["fields"].get("Inferred") is not inferred:
        return False
    for cls in (inferred, marshmallow.Field):
        if cls.__dict__.get("__init__") is not marshmallow.raw(cls, "__init__"):
            return False
    return althaia_type_lookup(inferred, "__new__") is object_new


cdef bint has_plain_options(object cls) except -1:
    """Whether reading a class's options of field names runs no user code."""
    if althaia_type_lookup(cls, "__getattribute__") is not object_getattribute:
        return False
    for name in ("__getattr__", "__get__", "exclude", "fields"):
        if althaia_type_lookup(cls, name) is not None:
            return False
    return True


cdef bint copies_simply(dict declared) except -1:
    """Whether ``copy.deepcopy`` would make a new dictionary with a shallow copy of each field.
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
    """Whether ``copy.copy`` copies a field in the default way."""
    cdef object cls = type(field), state = althaia_dict_or_none(field)
    cdef unsigned int tag = althaia_type_tag(cls)
    if type(state) is not dict or type(cls) not in METACLASSES:
        return False
    for name in ASKED_OF_FIELDS:
        if name in <dict>state:
            return False
    for name in KEYS:
        # Upstream's check for equal keys would compare keys of a user's class, which runs user
        # code.
        if type((<dict>state).get(name)) not in PLAIN_KEYS:
            return False
    for table in dispatch_tables:
        if cls in table:
            return False
    if tag != 0 and tag in simply_copied:
        return True
    if not has_simple_copies(cls):
        return False
    if len(simply_copied) >= MOST_TAGS:
        simply_copied.clear()
    simply_copied.add(tag)
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


cdef int make(
    object schema, dict declared, object many, object load_only, object dump_only,
    object partial, object unknown, object context,
) except -1:
    """Do what ``Schema.__init__`` does with the copied fields, in its order."""
    schema.declared_fields = declared
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
    return set_messages(schema)


cdef int make_at_once(
    object schema, dict declared, object many, object load_only, object dump_only,
    object partial, object unknown, object context,
) except -1:
    """Do the same for an instance without attributes: give it all of them in one dictionary, which
    is the one that holds plans."""
    cdef object opts = althaia_type_lookup(type(schema), "opts")
    cdef InstanceDict state
    cdef dict fields = copied_fields(declared)
    cdef object excluded, ordered = None
    cdef bint collecting
    # In upstream's order: an option may be computed.
    if many is None:
        many = opts.many
    excluded = set(opts.exclude)
    if marshmallow.has_context:
        ordered = opts.ordered
    load_only = set(load_only) or set(opts.load_only)
    dump_only = set(dump_only) or set(opts.dump_only)
    if unknown is None:
        unknown = opts.unknown
    if context:
        warn_of_context()
    collecting = stop_collecting()
    try:
        state = InstanceDict.__new__(InstanceDict)
        PyDict_SetItem(state, DECLARED_FIELDS, fields)
        PyDict_SetItem(state, "many", many)
        PyDict_SetItem(state, "only", None)
        PyDict_SetItem(state, "exclude", excluded)
        if marshmallow.has_context:
            PyDict_SetItem(state, "ordered", ordered)
        PyDict_SetItem(state, LOAD_ONLY, load_only)
        PyDict_SetItem(state, DUMP_ONLY, dump_only)
        PyDict_SetItem(state, "partial", partial)
        PyDict_SetItem(state, "unknown", unknown)
        if marshmallow.has_context:
            PyDict_SetItem(state, "context", context or {})
        PyDict_SetItem(state, "fields", {})
        PyDict_SetItem(state, "load_fields", {})
        PyDict_SetItem(state, "dump_fields", {})
        put_dict(schema, state)
    finally:
        collect_again(collecting)
    init_fields(schema, declared)
    return set_messages(schema)


cdef int init_fields(object schema, dict declared) except -1:
    """Do what ``_normalize_nested_options`` does. Call the class's ``_init_fields``, or do what
    upstream's does."""
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
    """Do what ``Schema._init_fields`` does. Binding may run user code, which gets the schema: each
    attribute of the schema and its fields is read when upstream reads it."""
    cdef object fields = new_mapping(schema), load_fields, dump_fields
    cdef bint simply = marshmallow.defines(type(schema), BIND_FIELD, marshmallow.Schema)
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
        sort_by_attributes(fields, load_fields, dump_fields)
    schema.fields = fields
    schema.dump_fields = dump_fields
    schema.load_fields = load_fields
    return 0


cdef bint bind_simply(object schema, object name, object field) except -1:
    """Do what ``Schema._bind_field`` does for a field of which ``Field._bind_to_schema`` only sets
    the parents and the name. Return False if upstream's method must run."""
    cdef InstanceDict state = existing_dict(schema)
    cdef dict own
    cdef object hook
    if (
        state is None
        or BIND_FIELD in <dict>state
        or not is_empty_set((<dict>state).get(LOAD_ONLY))
        or not is_empty_set((<dict>state).get(DUMP_ONLY))
        or not binds_plainly(type(field))
    ):
        return False
    own = vars_of(field)
    if (
        type(own) is not dict
        or BIND_TO_SCHEMA in own
        or own.get(PARENT, ABSENT) is not None
        or own.get(NAME, ABSENT) is not None
        or own.get(ROOT, ABSENT) is not None
    ):
        return False
    PyDict_SetItem(own, PARENT, schema)
    PyDict_SetItem(own, NAME, name)
    PyDict_SetItem(own, ROOT, schema)
    hook = althaia_type_lookup(type(schema), ON_BIND_FIELD)
    if (
        hook is not marshmallow.schema_attributes[ON_BIND_FIELD]
        or ON_BIND_FIELD in <dict>state
    ):
        schema.on_bind_field(name, field)
    return True


cdef bint is_empty_set(object names) noexcept:
    return type(names) is set and len(<set>names) == 0


cdef bint binds_plainly(object cls) except -1:
    """Whether a field class binds as ``Field`` does, and its fields' attributes are set and read in
    their dictionaries."""
    cdef unsigned int tag = althaia_type_tag(cls)
    if tag != 0 and tag in plainly_bound:
        return True
    if (
        not issubclass(cls, marshmallow.Field)
        or not marshmallow.defines(cls, BIND_TO_SCHEMA, marshmallow.Field)
        or althaia_type_lookup(cls, "__setattr__") is not object_setattr
        or althaia_type_lookup(cls, "__getattribute__") is not object_getattribute
    ):
        return False
    for name in BOUND:
        if althaia_type_lookup(cls, name) is not None:
            return False
    if len(plainly_bound) >= MOST_TAGS:
        plainly_bound.clear()
    plainly_bound.add(tag)
    return True


cdef bint sort(object fields, object load_fields, object dump_fields) except -1:
    """Fill the mappings of loaded and of dumped fields where no attribute is computed and no names
    collide. Return False, with the mappings empty, if that is not known of all."""
    cdef set keys = set(), targets = set()
    cdef dict own
    for name, field in fields.items():
        if not binds_plainly(type(field)):
            break
        own = vars_of(field)
        dump_only, load_only = own.get(DUMP_ONLY), own.get(LOAD_ONLY)
        key, target = own.get(DATA_KEY, ABSENT), own.get(ATTRIBUTE, ABSENT)
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


cdef int sort_by_attributes(object fields, object load_fields, object dump_fields) except -1:
    """Do the same as upstream does it: reading an attribute may run user code."""
    cdef list keys, targets
    for name, field in fields.items():
        if not field.dump_only:
            load_fields[name] = field
        if not field.load_only:
            dump_fields[name] = field
    keys = [
        field.data_key if field.data_key is not None else name
        for name, field in dump_fields.items()
    ]
    if len(keys) != len(set(keys)):
        refuse(fields)
    targets = [field.attribute or name for name, field in load_fields.items()]
    if len(targets) != len(set(targets)):
        refuse(fields)
    return 0


cdef object mapping_of(object cls):
    """Return a class's own ``dict_class`` if it is one of the two that run no user code."""
    cdef object found = althaia_type_lookup(cls, "dict_class")
    return found if found is dict or found is OrderedDict else None


cdef object new_mapping(object schema):
    """Return what ``schema.dict_class()`` returns."""
    cdef object found = mapping_of(type(schema))
    return schema.dict_class() if found is None else found()


cdef int refuse(object fields) except -1:
    """Let upstream raise its error about names that collide."""
    cdef object schema = object.__new__(marshmallow.Schema)
    schema.__dict__.update(
        declared_fields=fields, only=None, exclude=set(), _bind_field=lambda name, field: None
    )
    if marshmallow.has_context:
        schema.__dict__["ordered"] = False
    marshmallow.schema_attributes["_init_fields"](schema)
    return 0
