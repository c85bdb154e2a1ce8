# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""A schema class's hooks: found and called as upstream does."""

from itertools import zip_longest

cimport cython
from cpython.object cimport PyObject

from althaia.calls import three_of
from althaia.formats.tape cimport Tape

cdef extern from "Python.h":
    object PyObject_VectorcallDict(
        object callable_, PyObject** arguments, size_t count, dict keywords
    )


@cython.final
cdef class Unread:
    """The input of a load while it stands in parsed text only."""


cdef object unread(Tape tape, Py_ssize_t at):
    """The input of a load that stands at a slot of a tape."""
    cdef Unread result = Unread.__new__(Unread)
    result.tape = tape
    result.at = at
    return result


cdef object input_of(object original):
    """The input of a load, for code that is given it; made for the first that is."""
    if type(original) is Unread:
        return (<Unread>original).tape.keep((<Unread>original).at)
    return original


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
    first; ``original`` may be unread."""
    cdef bint each_item, with_original
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
        with_original = True if pass_original else False
        if with_original:
            original = input_of(original)
        if not each_item:
            data = call(processor, data, original, with_original, options)
        elif with_original:
            data = [
                call(processor, item, origin, True, options)
                for item, origin in zip_longest(data, original)
            ]
        else:
            data = [call(processor, item, None, False, options) for item in data]
    return data
