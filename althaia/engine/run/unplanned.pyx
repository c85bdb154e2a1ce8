"""Dumps one object for a schema that has no plan yet.

A schema's first calls, and all calls of a class that lives for one request, have no plan.
Upstream's loop calls four functions to read one value. Here a field's value is read directly if the
field and the schema read it as upstream defined; nothing is kept from call to call, so nothing is
watched.
"""

cdef extern from "althaia/cpython/layout.h":
    PyObject* althaia_dict_there(object obj)

cdef object DECLINED = seam.DECLINED
cdef object METHOD = MethodType
cdef object GETATTRIBUTE = object.__getattribute__

# Names that upstream's functions look up in their modules.
cdef tuple LOOKED_UP = (
    ("schema", "get_value"),
    ("schema", "missing"),
    ("fields", "missing_"),
    ("utils", "_get_value_for_key"),
)

# Whether all of this has been read in the served release; -1 before that was asked.
cdef int known = -1
cdef object get_attribute, serialize, get_value
# The dictionary of a module, a name in it, and what upstream defined it as.
cdef list watched


cdef bint knows_functions() except -1:
    """Return whether the functions mean in this release what :func:`dump_one` does."""
    global known, get_attribute, serialize, get_value, watched
    if known < 0:
        watched = [
            (upstream.live[module], name, seam.defined[module].get(name))
            for module, name in LOOKED_UP
        ]
        get_attribute = seam.pristine[upstream.Schema].get("get_attribute")
        serialize = seam.pristine[upstream.Field].get("serialize")
        get_value = seam.pristine[upstream.Field].get("get_value")
        known = upstream.is_known(*REPLACED) and None not in (
            get_attribute, serialize, get_value, *[entry[2] for entry in watched]
        )
    return known


cdef bint is_untouched() except -1:
    """Return whether the names in upstream's modules are what they were defined as."""
    cdef tuple entry
    for entry in watched:
        if (<dict>entry[0]).get(entry[1]) is not entry[2]:
            return False
    return True


cdef object dump_one(object schema, object obj):
    """Return what ``Schema._serialize`` returns for one object, or ``DECLINED`` before any user
    code has run."""
    cdef object cls = type(schema)
    cdef object accessor, fields, result, name, field, value, key
    if (
        not ALTHAIA_HAS_GIL
        or not knows_functions()
        or not is_untouched()
        or althaia_type_lookup(cls, "__getattribute__") is not GETATTRIBUTE
        or althaia_type_lookup(cls, "get_attribute") is not get_attribute
        or althaia_type_lookup(cls, "dump_fields") is not None
    ):
        return DECLINED
    accessor = schema.get_attribute
    if type(accessor) is not METHOD or accessor.__func__ is not get_attribute:
        return DECLINED
    fields = schema.dump_fields
    if type(fields) is not dict:
        return DECLINED
    result = schema.dict_class()
    althaia_enter()
    try:
        for name, field in (<dict>fields).items():
            value = serialized_by_field(field, name, obj, accessor)
            if value is upstream.missing:
                continue
            # Read twice, as upstream does: it may be computed.
            key = field.data_key if field.data_key is not None else name
            result[key] = value
    finally:
        althaia_leave()
    return result


cdef object serialized_by_field(object field, object name, object obj, object accessor):
    """Return what ``field.serialize`` returns for an object."""
    cdef object value, key
    cdef dict own = own_attributes(field)
    if own is not None:
        key = own["attribute"]
        if key is None:
            key = name
        if type(key) is str:
            if "." in <str>key:
                value = accessor(obj, key, upstream.missing)
            else:
                value = althaia_get_value(obj, <void*>key, <void*>upstream.missing)
            if value is upstream.missing:
                value = field.dump_default
                if callable(value):
                    value = value()
                if value is upstream.missing:
                    return value
            return field._serialize(value, name, obj)
    return field.serialize(name, obj, accessor=accessor)


cdef dict own_attributes(object field):
    """Return a field's dictionary if the field reads its value as upstream defined it and looking
    runs no user code, else None."""
    cdef object cls = type(field)
    cdef PyObject* own
    if (
        althaia_type_lookup(cls, "serialize") is not serialize
        or althaia_type_lookup(cls, "get_value") is not get_value
        or althaia_type_lookup(cls, "__getattribute__") is not GETATTRIBUTE
        or althaia_type_lookup(cls, "_CHECK_ATTRIBUTE") is not True
        or althaia_type_lookup(cls, "attribute") is not None
    ):
        return None
    own = althaia_dict_there(field)
    if (
        own is NULL
        or type(<object>own) is not dict
        or "attribute" not in <dict>own
        or "serialize" in <dict>own
        or "get_value" in <dict>own
        or "_CHECK_ATTRIBUTE" in <dict>own
    ):
        return None
    return <dict>own
