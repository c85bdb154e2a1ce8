"""Copy fields and instance dictionaries without running user code.

Everything in this folder that copies a field calls :func:`clone`.
"""

cdef extern from "Python.h":
    object PyObject_GenericGetDict(object obj, void* context)
    ctypedef struct PyTypeObject:
        pass
    object PyType_GenericAlloc(PyTypeObject* cls, Py_ssize_t items)


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
    # object.__new__ would make a dictionary on CPython 3.11, which is replaced at once.
    cdef object made = PyType_GenericAlloc(<PyTypeObject*>cls, 0)
    put_dict(made, attributes)
    return made


cdef dict vars_of(object obj):
    """Return an object's instance dictionary without asking its class."""
    return <dict>PyObject_GenericGetDict(obj, NULL)
