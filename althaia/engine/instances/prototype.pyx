# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Prototypes: one instance that represents all instances of a class with the same options.

Upstream's own code builds a *prototype* in full. It is kept together with its plans, which all
:mod:`~althaia.engine.instances.lazy` instances run. User code never gets a prototype or one of its
fields.
"""

from types import MethodType

cimport cython
from cpython.dict cimport PyDict_Copy, PyDict_Next, PyDict_SetItem
from cpython.object cimport PyObject

from althaia.engine.analysis.schema_class import CONSTRUCTION

from althaia.engine.plan.guard cimport Guard
from althaia.cpython.primitives cimport althaia_type_lookup
from althaia.engine.plan.instance_dict cimport InstanceDict, put_dict
from althaia.engine.upstream cimport marshmallow

cdef extern from "althaia/cpython/layout.h":
    object althaia_new_with_dict(object cls, dict attributes)

cdef extern from "Python.h":
    object PyObject_GenericGetDict(object obj, void* context)


# Of only, exclude, load_only, dump_only.
cdef tuple DEFAULTS = (None, (), (), ())
cdef tuple COLLECTIONS = (list, set, frozenset)
cdef tuple SET_FUNCTIONS = tuple(f"orderedset.OrderedSet.{name}" for name in (
    "__init__", "add", "discard", "__iter__",
))
cdef int MOST_PROTOTYPES = 64
cdef dict NOTHING = {}


at_once = False


def build_at_once(bint on):
    """Build every plan and prototype at its schema's first use, whether that pays or not; for
    tests."""
    global at_once
    at_once = on


@cython.final
@cython.no_gc_clear
cdef class Prototype:
    """One instance that represents all with the same options."""


@cython.final
cdef class PrototypeCache:
    """The prototypes of one schema class, by the options that shape its fields.

    ``guard`` watches the class, its declared fields and its options. It is None, and ``reason``
    says why, if instances must be built in full.
    """

    def __init__(self, schema_class, Guard guard, str reason):
        self.schema_class = schema_class
        self.guard = guard
        self.reason = reason
        self.copies_bind_anew = False
        self.prototypes = {}
        self.uses = {}
        if guard is not None:
            self._copy_class()

    cdef int _copy_class(self) except -1:
        """Copy the attributes of the class from which instances and prototypes are made."""
        cdef object init_fields = althaia_type_lookup(self.schema_class, "_init_fields")
        self.opts = clone(althaia_type_lookup(self.schema_class, "opts"))
        options = vars_of(self.opts)
        for name, value in list(options.items()):
            if type(value) is list:
                options[name] = list(value)
        self.many = getattr(self.opts, "many", None)
        self.unknown = getattr(self.opts, "unknown", None)
        self.declared = althaia_type_lookup(self.schema_class, "_declared_fields")
        if init_fields is not marshmallow.schema_attributes["_init_fields"]:
            # A user's _init_fields may change the class before it reads the instance, so copies are
            # needed. Otherwise the guard watches the originals; copies would only take memory.
            self.declared = copied_fields(self.declared)
        self.copies_bind_anew = any(
            inner_fields(inner)
            for field in self.declared.values() if field is not None
            for inner in inner_fields(field)
        )
        return 0

    cdef bint holds(self, object schema) except -1:
        return self.guard is not None and self.guard.holds(schema, NOTHING)

    cdef bint still_holds(self, object schema) except -1:
        """Whether the result of the examination, positive or negative, still holds."""
        if self.guard is not None:
            return self.guard.holds(schema, NOTHING)
        return self.refusal is not None and self.refusal.holds(schema, NOTHING)

    cdef Prototype find(self, object key):
        """Return the prototype for the options, or None if it does not pay yet."""
        cdef Prototype prototype = <Prototype>self.prototypes.get(key)
        if prototype is not None:
            return prototype
        if len(self.uses) >= MOST_PROTOTYPES:
            return None
        used = self.uses.get(key, 0) + 1
        self.uses[key] = used
        if (used < 2 and not at_once) or not are_known(self, <tuple>key):
            return None
        try:
            schema = build(<tuple>key, self, True)
        except (ValueError, LookupError, TypeError, AttributeError, NameError, RuntimeError):
            # The options do not fit, or another thread is changing the fields: upstream's code
            # raises its error for the instance at hand.
            return None
        if not self.holds(schema):
            # The class changed while its fields were copied.
            return None
        prototype = Prototype.__new__(Prototype)
        prototype.schema = schema
        prototype.cache = self
        prototype.options = <tuple>key
        self.prototypes[key] = prototype
        return prototype

    cdef dict unbound(self, tuple options):
        """Return the attributes that an instance has just before upstream binds its fields."""
        schema = build(options, self, False)
        attributes = vars_of(schema)
        del attributes["error_messages"]
        return plain_copy(attributes)


cdef object clone(object field):
    """Return a shallow copy, as ``copy.copy`` makes it of an object without copy methods."""
    return made_with(type(field), plain_copy(vars_of(field)))


cdef dict copied_fields(object declared):
    """Copy fields by name as ``copy.deepcopy`` does: a field with two names is copied once, and
    None, which marshmallow-sqlalchemy declares for a name that it leaves out, is itself."""
    cdef dict memo = {}, copies = {}
    for name, field in declared.items():
        copied = memo.get(id(field))
        if copied is None and field is not None:
            copied = memo[id(field)] = clone(field)
        copies[name] = copied
    return copies


cdef object made_with(object cls, dict attributes):
    """Return a new object of a class with this instance dictionary, without calling the class."""
    cdef object made = althaia_new_with_dict(cls, attributes)
    if made is None:
        made = object.__new__(cls)
        put_dict(made, attributes)
    return made


cdef dict plain_copy(dict state):
    """Return a copy as a plain dict; calls no method of a subclass."""
    cdef dict copied
    cdef Py_ssize_t at = 0
    cdef PyObject *name
    cdef PyObject *value
    if type(state) is dict:
        return PyDict_Copy(state)
    copied = {}
    while PyDict_Next(state, &at, &name, &value):
        PyDict_SetItem(copied, <object>name, <object>value)
    return copied


cdef dict vars_of(object obj):
    """Return an object's instance dictionary without asking its class."""
    return <dict>PyObject_GenericGetDict(obj, NULL)


cdef list inner_fields(object field):
    """Return the fields directly inside a field."""
    cdef dict state = vars_of(field)
    cdef list found = [state.get(name) for name in ("inner", "key_field", "value_field")]
    return [each for each in found if each is not None] + (state.get("tuple_fields") or [])


cdef object names(object given):
    """Return the names in an option as a tuple; None unless it is a builtin collection of str."""
    cdef tuple found
    if type(given) is tuple:
        found = <tuple>given
    elif type(given) in COLLECTIONS or (
        type(given) is marshmallow.OrderedSet and marshmallow.has_plain_sets()
    ):
        found = tuple(given)
    else:
        return None
    for name in found:
        if type(name) is not str:
            return None
    return found


cdef object copied_names(object names):
    """Return a copy of one of upstream's sets of names.

    Its linked list is built here. ``__init__`` would run Python code of ``collections.abc``, during
    which other threads and the GC may run.
    """
    cdef object copied
    cdef dict links
    cdef list end, link, last
    if not marshmallow.is_known(*SET_FUNCTIONS):
        return marshmallow.OrderedSet(names)
    copied = object.__new__(marshmallow.OrderedSet)
    links, end = {}, []
    end += [None, end, end]
    last = end
    for key in <dict>vars_of(names)["map"]:
        link = [key, last, end]
        last[2] = end[1] = links[key] = link
        last = link
    put_dict(copied, {"end": end, "map": links})
    return copied


cdef object options_key(object only, object exclude, object load_only, object dump_only):
    """Return the options that select a schema's fields as a dict key, or None if they make none."""
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


cdef bint are_known(PrototypeCache cache, tuple options) except -1:
    """Whether all selected and excluded fields exist. If not, upstream must build the instance: its
    error message contains the instance's ``repr``, which may be user code."""
    cdef dict declared = cache.declared
    available = cache.opts.fields or declared
    additional = cache.opts.additional if marshmallow.infers_fields else ()
    for option in (cache.opts.exclude, options[0] or (), options[1]):
        for name in option:
            if type(name) is not str:
                return False
            head, dot, _ = name.partition(".")
            if head not in available and (cache.opts.fields or head not in additional):
                return False
            # A name may do without a declared field where that is inferred, and nothing nested.
            if head not in declared and (dot or not marshmallow.infers_fields):
                return False
    return True


def bind_none():
    """Replaces ``Schema._init_fields`` on a prototype: leave the fields unbound."""


cdef object build(tuple options, PrototypeCache cache, bint bound):
    """Return an instance of a cache's class, built by upstream's own ``__init__`` from the
    attributes that the class had when it was examined.

    :param bound: whether its fields are bound.
    """
    cdef object schema = object.__new__(cache.schema_class)
    cdef InstanceDict state = InstanceDict()
    cdef dict borrowed = {"_declared_fields": cache.declared, "opts": cache.opts}
    for name in CONSTRUCTION:
        value = marshmallow.schema_attributes[name]
        borrowed[name] = value if isinstance(value, type) else MethodType(value, schema)
    if not bound:
        borrowed["_init_fields"] = bind_none
    state.building = True
    put_dict(schema, state)
    state.update(borrowed)
    try:
        only, exclude, load_only, dump_only = options
        marshmallow.schema_attributes["__init__"](
            schema, only=only, exclude=exclude, load_only=load_only, dump_only=dump_only
        )
    finally:
        for name in borrowed:
            del state[name]
        state.building = False
    return schema
