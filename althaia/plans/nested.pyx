# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""The nested fields of a plan and their schemas, also where the parent is lazy.

A plan made for a prototype speaks of the prototype's fields. A lazy parent has a copy of each
nested one that a call has reached, so that its schema is resolved anew for each parent.
"""

from cpython.object cimport PyObject

from althaia.plans.lazy cimport is_lazy
from althaia.plans.primitives cimport (
    ALTHAIA_HAS_GIL,
    althaia_has_weak_references,
    althaia_is_simply_true,
    althaia_type_lookup,
)
from althaia.plans.prototypes cimport Prototype, clone
from althaia.plans.state cimport InstanceDict, adopt, existing_dict
from althaia.plans.upstream cimport marshmallow

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* obj)

cdef object object_new = object.__new__


cdef object nested_field(object field, InstanceDict state):
    """The nested field of a plan as the call's schema has it: where that is lazy, or was when
    the call began, a copy of the prototype's field that is the schema's own.

    :param state: the schema's dictionary as the call began.
    """
    cdef tuple entry
    if state is None:
        return field
    if state.own is not None:
        entry = <tuple>state.own.get(id(field))
        if entry is not None and entry[0] is field:
            return entry[1]
    if state.prototype is None:
        return field
    own = unresolved(field)
    if state.prototype is None or (state.own is not None and id(field) in state.own):
        # Making it may have run the collector, and in it code that looked into the schema.
        return nested_field(field, state)
    if state.own is None:
        state.own = {}
    state.own[id(field)] = (field, own, False)
    return own


cdef object unresolved(object field):
    """A copy of a nested field without its schema."""
    cdef object own = clone(field)
    own._schema = None
    # The nested schema's own ``__init__`` is given these, and may change them.
    if type(own.only) is marshmallow.OrderedSet:
        own.only = marshmallow.OrderedSet(own.only)
    if type(own.exclude) is marshmallow.OrderedSet:
        own.exclude = marshmallow.OrderedSet(own.exclude)
    return own


cdef object nested_schema(object field):
    """What ``Nested.schema`` gives for a field of :func:`nested_field`."""
    if field._schema is None:
        schema = resolved(field)
        if schema is None:
            return field.schema
        field._schema = schema
        return schema
    return field._schema if althaia_is_simply_true(type(field._schema)) else field.schema


cdef object resolved(object field):
    """The schema that ``Nested.schema`` would make of a field, or None: upstream's code shall."""
    cdef object nested = field.nested
    if callable(nested) and not isinstance(nested, marshmallow.SchemaMeta):
        schema = from_callable(field, nested())
    # A proxy of a class is none for upstream, which refuses it.
    elif issubclass(type(nested), marshmallow.SchemaMeta):
        schema = from_class(field, nested)
    elif ALTHAIA_HAS_GIL:
        return None
    else:
        schema = from_twin(field, nested)
    if not ALTHAIA_HAS_GIL:
        adopt(schema)
    return schema


cdef object from_callable(object field, object nested):
    """What upstream makes of what the field's callable has returned."""
    if is_fresh(nested) and field.only is None and not field.exclude:
        # Upstream copies the instance so as not to share it; this one nobody has, and
        # what it is a copy of is seen only by whom looks into it.
        keep_original(nested)
        if field.many is not None:
            nested.many = field.many
        return nested
    if issubclass(type(nested), marshmallow.SchemaMeta):
        return from_class(field, nested)
    return from_twin(field, returning(nested) if callable(nested) else nested)


cdef object from_class(object field, object nested):
    """What upstream makes of a schema class."""
    return nested(
        many=bool(field.many),
        only=field.only,
        exclude=field.exclude,
        load_only=of_nested(field, "load_only"),
        dump_only=of_nested(field, "dump_only"),
    )


cdef object from_twin(object field, object nested):
    """What upstream makes of something else that is nested, on a copy of the field."""
    cdef object twin = clone(field)
    twin.nested = nested
    try:
        return twin.schema
    except Exception:
        # Upstream's field keeps a schema that it fails to narrow, and uses it next time.
        if twin._schema is not None:
            field._schema = twin._schema
        raise


cdef object of_nested(object field, str option):
    """What ``Nested._nested_normalized_option`` gives."""
    own = field.name
    names = getattr(field.root, option, ())
    if type(own) is str and type(names) is set and not names:
        return []
    prefix = f"{own}."
    return [name.split(prefix, 1)[1] for name in names if name.startswith(prefix)]


cdef bint is_fresh(object schema):
    """Whether a schema is lazy and has just been made, for us alone, and differs from its copy
    in nothing that the materialising does not know. Code of its own that saw it being made may
    know it again."""
    cdef InstanceDict state
    cdef object cls = type(schema)
    if not isinstance(schema, marshmallow.Schema) or Py_REFCNT(<PyObject*>schema) != 1:
        return False
    if (
        not is_lazy(schema)
        or althaia_has_weak_references(schema)
        or althaia_type_lookup(cls, "__init__") is not marshmallow.schema_attributes["__init__"]
        or althaia_type_lookup(cls, "__new__") is not object_new
    ):
        return False
    state = existing_dict(schema)
    return not (<Prototype>state.prototype).cache.copies_bind_anew


cdef int keep_original(object schema) except -1:
    """Remember what a lazy instance is a copy of."""
    cdef InstanceDict state = existing_dict(schema)
    state.original = dict(state)
    return 0


def returning(value):
    """A function that returns a value already had."""
    return lambda: value


cdef object plucked_key(object field, object schema):
    """What ``Pluck._field_data_key`` gives for the field's schema, which stays lazy."""
    cdef object name = field.field_name
    cdef InstanceDict state
    if is_lazy(schema):
        state = existing_dict(schema)
        schema = (<Prototype>state.prototype).schema
    key = schema.fields[name].data_key
    return name if key is None else key
