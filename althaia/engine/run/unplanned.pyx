"""Dumps or loads one object for a schema that has no plan, or none yet.

A schema's first calls have no plan, nor have all calls of a class that lives for one request or
whose plan is declined. Upstream's loops call four functions for one value. Here a dumped value is
read directly if the field and the schema read it as upstream defined, and a field's ``deserialize``
is called without the functions around it. Nothing is kept from call to call, so nothing is watched.
"""

cdef extern from "althaia/cpython/layout.h":
    PyObject* althaia_dict_there(object obj)

cdef object DECLINED = seam.DECLINED
cdef object METHOD = MethodType
cdef object GETATTRIBUTE = object.__getattribute__

# Names that upstream's functions look up in their modules.
cdef tuple LOOKED_UP = (
    {"schema": ("get_value", "missing"), "fields": ("missing_",), "utils": ("_get_value_for_key",)},
    {
        "schema": (
            "missing", "Mapping", "is_collection", "ValidationError", "set_value", "EXCLUDE",
            "INCLUDE", "RAISE",
        ),
        "utils": ("is_iterable_but_not_string", "is_generator"),
    },
)
# The functions that are replaced.
cdef tuple REPLACED = (
    (
        "schema.Schema._serialize", "schema.Schema.get_attribute", "fields.Field.get_value",
        "fields.Field.serialize",
    ),
    ("schema.Schema._deserialize", "schema.Schema._call_and_store", "utils.set_value"),
)

cdef object get_attribute, serialize, get_value, call_and_store
# By direction: the dictionary of a module, a name in it, and what upstream defined it as. None
# before that was asked; False if the functions are others in the served release.
cdef list watched = [None, None]


cdef bint knows_functions(int direction):
    """Return whether the functions mean in this release what those of this file do, and the names
    in upstream's modules are what they were defined as."""
    global get_attribute, serialize, get_value, call_and_store
    cdef tuple entry
    entries = watched[direction]
    if entries is None:
        entries = [
            (upstream.live[module], name, seam.defined[module].get(name))
            for module, names in LOOKED_UP[direction].items()
            for name in names
        ]
        get_attribute = seam.pristine[upstream.Schema].get("get_attribute")
        stored = upstream.schema_attributes.get("_call_and_store")
        call_and_store = getattr(stored, "__func__", None)
        serialize = seam.pristine[upstream.Field].get("serialize")
        get_value = seam.pristine[upstream.Field].get("get_value")
        if not upstream.is_known(*REPLACED[direction]) or None in (
            get_attribute, serialize, get_value, call_and_store, *[entry[2] for entry in entries]
        ):
            entries = False
        watched[direction] = entries
    if entries is False:
        return False
    for entry in <list>entries:
        if not althaia_same_entry(entry[0], entry[1], entry[2], ABSENT):
            return False
    return True


cdef dump_one(schema, obj):
    """Return what ``Schema._serialize`` returns for one object, or ``DECLINED`` before any user
    code has run."""
    cls = type(schema)
    cdef object accessor = None, result, name, field, value, key
    cdef bint asked_each = althaia_type_lookup(cls, "__getattribute__") is not GETATTRIBUTE
    cdef bint plain = False
    if (
        not ALTHAIA_HAS_GIL
        or not knows_functions(DUMP)
        or althaia_type_lookup(cls, "dump_fields") is not None
    ):
        return DECLINED
    result = schema.dict_class()
    althaia_enter()
    try:
        for name, field in schema.dump_fields.items():
            if asked_each or accessor is None:
                accessor = schema.get_attribute
                plain = type(accessor) is METHOD and accessor.__func__ is get_attribute
            value = serialized_by_field(field, name, obj, accessor, plain)
            if value is upstream.missing:
                continue
            # Read twice, as upstream does: it may be computed.
            key = field.data_key if field.data_key is not None else name
            result[key] = value
    finally:
        althaia_leave()
    return result


cdef serialized_by_field(
    field, name, obj, accessor, bint plain
):
    """Return what ``field.serialize`` returns. ``plain``: the accessor is upstream's."""
    cdef object value, key = own_attribute(field) if plain else ABSENT
    if key is not ABSENT:
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


cdef own_attribute(field):
    """Return a field's ``attribute`` if the field reads its value as upstream defined it and
    looking runs no user code, else ``ABSENT``."""
    cls = type(field)
    cdef PyObject* own
    if (
        althaia_type_lookup(cls, "serialize") is not serialize
        or althaia_type_lookup(cls, "get_value") is not get_value
        or althaia_type_lookup(cls, "__getattribute__") is not GETATTRIBUTE
        or althaia_type_lookup(cls, "_CHECK_ATTRIBUTE") is not True
        or althaia_type_lookup(cls, "attribute") is not None
    ):
        return ABSENT
    own = althaia_dict_there(field)
    if (
        own is NULL
        or type(<object>own) is not dict
        or "serialize" in <dict>own
        or "get_value" in <dict>own
        or "_CHECK_ATTRIBUTE" in <dict>own
    ):
        return ABSENT
    return althaia_dict_item(<dict>own, "attribute", ABSENT)


cdef load_unplanned(
    schema, dict data, store, partial, unknown, index
):
    """Return what ``Schema._deserialize`` returns for one object, or ``DECLINED`` before any user
    code has run."""
    cls = type(schema)
    cdef LoadFrame frame
    if (
        not ALTHAIA_HAS_GIL
        or not (partial is None or type(partial) is bool)
        or type(unknown) is not str
        or type(store) is not upstream.ErrorStore
        or not knows_functions(LOAD)
        or althaia_type_lookup(cls, "load_fields") is not None
        or schema._call_and_store is not call_and_store
    ):
        return DECLINED
    result = schema.dict_class()
    althaia_enter()
    try:
        for name, field in schema.load_fields.items():
            # Read twice, as upstream does: it may be computed.
            key = field.data_key if field.data_key is not None else name
            value = data.get(key, upstream.missing)
            if value is upstream.missing and partial is True:
                continue
            value = loaded_by_field(field, value, key, data, store, partial, index)
            if value is not upstream.missing:
                upstream.set_value(result, field.attribute or name, value)
        if <str>unknown != "exclude":
            frame = open_load_frame(None, schema, False, partial, unknown)
            frame.store, frame.index = store, index
            known_keys = {
                field.data_key if field.data_key is not None else name
                for name, field in schema.load_fields.items()
            }
            load_unknown(known_keys, data, None, result, frame)
    finally:
        althaia_leave()
    return result


cdef loaded_by_field(
    field, value, key, dict data, store, partial, index
):
    """Return what ``Schema._call_and_store`` returns for a field's ``deserialize``."""
    try:
        if partial is None and not upstream.gives_partial:
            return field.deserialize(value, key, data)
        return field.deserialize(value, key, data, partial=partial)
    except upstream.ValidationError as error:
        store.store_error(error.messages, key, index=index)
        return error.valid_data or upstream.missing
