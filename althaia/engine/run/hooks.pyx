"""Calls a schema's hooks as upstream does."""

cdef extern from "Python.h":
    object PyObject_VectorcallDict(
        object callable_, PyObject** arguments, size_t count, dict keywords
    )
    object PyObject_Vectorcall(
        object callable_, PyObject** arguments, size_t count, object keywords
    )
    object PyObject_VectorcallMethod(
        object name, PyObject** arguments, size_t count, object keywords
    )


cdef call_own(Plan plan, str name, PyObject** arguments, tuple keywords):
    """Call the schema's own ``_serialize`` or ``_deserialize``.

    :param arguments: the schema, the data, and the values of the keywords.
    """
    if plan.own is None:
        return PyObject_VectorcallMethod(name, arguments, 2, keywords)
    return PyObject_Vectorcall(plan.own, arguments, 2, keywords)


cdef call(
    processor, data, original, bint pass_original, dict options
):
    """Call one hook without packing its arguments into a tuple."""
    cdef PyObject* arguments[2]
    arguments[0] = <PyObject*>data
    arguments[1] = <PyObject*>original
    return PyObject_VectorcallDict(processor, arguments, 2 if pass_original else 1, options)


cdef invoke(
    tuple hooks, schema, bint pass_collection, data, original, dict options
):
    """Do what ``Schema._invoke_processors`` does with a plan's hooks.

    :param options: the keywords of each call, ``many`` first.
    """
    cdef bint done = False
    attr_name = None
    try:
        for attr_name, hook_many, config in hooks:
            if hook_many == pass_collection:
                data = invoke_one(getattr(schema, attr_name), config, pass_collection, data,
                                  original, options)
        done = True
    finally:
        if not done:
            add_to_trail(", in its hook {}", attr_name)
    return data


cdef inline invoke_one(
    processor, config, bint pass_collection, data, original,
    dict options,
):
    """Call one hook with the object, or with each object of a collection."""
    cdef bint pass_original = config.get("pass_original", False)
    cdef bint each_item = options["many"] and not pass_collection
    if not each_item:
        return call(processor, data, original, pass_original, options)
    if pass_original:
        return [
            call(processor, item, origin, True, options)
            for item, origin in (zip_longest if upstream.pads_originals else zip)(data, original)
        ]
    return [call(processor, item, None, False, options) for item in data]


cdef has_hooks(schema, str tag):
    """Return whether a schema has hooks of this tag."""
    if upstream.hooks_by_pair:
        return schema._has_processors(tag)
    return schema._hooks[tag]
