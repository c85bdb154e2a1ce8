# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""A schema class's hooks: found and called as upstream does."""

from itertools import zip_longest

from cpython.object cimport PyObject

from althaia.calls import three_of
from althaia.plans.primitives cimport althaia_dict_item

cdef extern from "Python.h":
    object PyObject_VectorcallDict(
        object callable_, PyObject** arguments, size_t count, dict keywords
    )


cdef tuple no_hooks(object table, tuple tags):
    """The lists of these tags' hooks where all of them are there and empty, else None."""
    cdef list lists = [althaia_dict_item(table, tag, None) for tag in tags]
    for found in lists:
        if type(found) is not list or found:
            return None
    return tuple(lists)


cdef object call(
    object processor, object data, object original, bint pass_original, dict options
):
    """One hook, called without packing its arguments."""
    cdef PyObject* arguments[2]
    arguments[0] = <PyObject*>data
    arguments[1] = <PyObject*>original
    return PyObject_VectorcallDict(processor, arguments, 2 if pass_original else 1, options)


cdef object invoke(
    object hooks, object schema, bint pass_collection, object data, object original, dict options
):
    """What ``Schema._invoke_processors`` does; ``options`` are the keywords of each call, ``many``
    first."""
    cdef bint each_item
    for hook in hooks:
        if type(hook) is not tuple or len(<tuple>hook) != 3:
            # In the interpreter's words where it cannot be.
            hook = three_of(hook)
        attr_name, hook_many, config = <tuple>hook
        if hook_many != pass_collection:
            continue
        processor = getattr(schema, attr_name)
        pass_original = config.get("pass_original", False)
        each_item = options["many"] and not pass_collection
        if not each_item:
            data = call(processor, data, original, pass_original, options)
        elif pass_original:
            data = [
                call(processor, item, origin, True, options)
                for item, origin in zip_longest(data, original)
            ]
        else:
            data = [call(processor, item, None, False, options) for item in data]
    return data
