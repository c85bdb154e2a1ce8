# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Make instances: lazy if their class allows it, otherwise built in full, but quicker.

Two thirds of the time of upstream's ``Schema.__init__`` are spent in ``copy.deepcopy`` and in sets
of names. If no field is left out and all are copied in the default way, :func:`make` does the same
directly. It calls ``_bind_to_schema`` of the fields and ``on_bind_field`` in upstream's order; the
schema has the same attributes as upstream's at each of these calls.
"""

import abc
import copy
import copyreg
from collections import OrderedDict

from althaia import seam
from althaia.engine.instances import lazy as _lazy
from althaia.engine.plan.guard import ABSENT
from althaia.engine.upstream import static

from althaia.cpython.primitives cimport (
    althaia_dict_or_none,
    althaia_type_lookup,
    althaia_type_tag,
)
from althaia.engine.instances.lazy cimport set_messages, warn_of_context
from althaia.engine.instances.prototype cimport PrototypeCache, clone
from althaia.engine.sample cimport is_upstreams_turn, sample
from althaia.engine.upstream cimport marshmallow

cdef extern from "althaia/cpython/layout.h":
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
cdef int MOST_TAGS = 1024


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
    if not is_replaceable(schema):
        return False
    declared = althaia_type_lookup(type(schema), "_declared_fields")
    if type(declared) is not dict:
        return False
    if not copies_simply(<dict>declared):
        note_odd_field(type(schema), <dict>declared)
        return False
    make(schema, copied(<dict>declared), many, load_only, dump_only, partial, unknown, context)
    return True


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


cdef bint is_empty(object names):
    """Whether an option is an empty builtin collection; calls no user code."""
    return type(names) in (tuple, list, set, frozenset) and len(names) == 0


# ---- Conditions ---------------------------------------------------------------------------


cdef bint is_replaceable(object schema) except -1:
    """Whether make() gives the same instance as upstream's construction: the class overrides none
    of it, and no field is selected or left out."""
    cdef object state
    if not is_as_shipped() or not has_upstreams_construction(type(schema)):
        return False
    if althaia_is_bare(schema):
        return True
    state = althaia_dict_or_none(schema)
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
        kind = type(field)
        if althaia_type_tag(kind) not in simply_copied and not has_simple_copies(kind):
            note_odd(cls, kind)
            return 0
    return 0


cdef bint has_upstreams_construction(object cls) except -1:
    """Whether a class overrides nothing that make() does, and its options select no fields."""
    cdef object opts, options
    if overrides_construction(cls):
        note_odd(cls, cls)
        return False
    opts = althaia_type_lookup(cls, "opts")
    options = althaia_dict_or_none(opts)
    return (
        type(options) is dict
        and is_empty((<dict>options).get("exclude"))
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
    """Whether ``copy.deepcopy`` would make a new dictionary with a shallow copy of each field."""
    if (
        marshmallow.live["schema"].get("copy") is not COPY
        or marshmallow.live["fields"].get("copy") is not COPY
        or COPY.deepcopy is not deepcopy
        or COPY.copy is not shallow_copy
    ):
        return False
    for name, field in declared.items():
        if type(name) is not str or not copies_as_object(field):
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


cdef dict copied(dict declared):
    """Copy fields by name as ``copy.deepcopy`` does: a field with two names is copied once."""
    cdef dict memo = {}, copies = {}
    for name, field in declared.items():
        twin = memo.get(id(field))
        if twin is None:
            twin = memo[id(field)] = clone(field)
        copies[name] = twin
    return copies


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
    if (
        althaia_type_lookup(type(schema), "_init_fields")
        is marshmallow.schema_attributes["_init_fields"]
    ):
        bind(schema, list(declared))
    else:
        schema._init_fields()
    return set_messages(schema)


cdef int bind(object schema, list names) except -1:
    """Do what ``Schema._init_fields`` does. Binding may run user code, which gets the schema: each
    attribute of the schema and its fields is read when upstream reads it."""
    cdef object fields = new_mapping(schema), load_fields, dump_fields
    cdef list keys, targets
    for name in names:
        if marshmallow.infers_fields:
            # User code that ran while one field was bound may have removed another.
            field = schema.declared_fields.get(name, ABSENT)
            if field is ABSENT:
                field = marshmallow.live["fields"]["Inferred"]()
        else:
            field = schema.declared_fields[name]
        schema._bind_field(name, field)
        fields[name] = field
    load_fields, dump_fields = new_mapping(schema), new_mapping(schema)
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
    schema.fields = fields
    schema.dump_fields = dump_fields
    schema.load_fields = load_fields
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
