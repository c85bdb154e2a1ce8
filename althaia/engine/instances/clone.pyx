"""Copy fields, sets of names and instance dictionaries without running user code.

Everything in this folder that copies a field calls :func:`clone`.
"""

cdef extern from "althaia/cpython/layout.h":
    object althaia_new_with_dict(object cls, dict attributes)

cdef extern from "Python.h":
    object PyObject_GenericGetDict(object obj, void* context)


cdef tuple SET_FUNCTIONS = tuple(f"orderedset.OrderedSet.{name}" for name in (
    "__init__", "add", "discard", "__iter__",
))


cdef object clone(object field):
    """Return a shallow copy, as ``copy.copy`` makes it of an object without copy methods."""
    return made_with(type(field), PyDict_Copy(vars_of(field)))


cdef dict copies_by_name(object declared):
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


cdef dict vars_of(object obj):
    """Return an object's instance dictionary without asking its class."""
    return <dict>PyObject_GenericGetDict(obj, NULL)


cdef object copied_names(object names):
    """Return a copy of one of upstream's sets of names.

    Its linked list is built here. ``__init__`` would run Python code of ``collections.abc``, during
    which other threads and the GC may run.
    """
    cdef object copied
    cdef dict links
    cdef list end, link, last
    if not upstream.is_known(*SET_FUNCTIONS):
        return upstream.OrderedSet(names)
    copied = object.__new__(upstream.OrderedSet)
    links, end = {}, []
    end += [None, end, end]
    last = end
    for key in <dict>vars_of(names)["map"]:
        link = [key, last, end]
        last[2] = end[1] = links[key] = link
        last = link
    put_dict(copied, {"end": end, "map": links})
    return copied
