"""Copy fields and instance dictionaries without running user code.

Everything in this folder that copies a field calls :func:`clone`. The seam calls
:func:`copied_fields` in the place of ``copy.deepcopy`` for an instance that upstream's code makes.
"""

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        pass
    object PyType_GenericAlloc(PyTypeObject* cls, Py_ssize_t items)


cdef made_with(cls, dict attributes):
    """Return a new object of a class with this instance dictionary, without calling the class."""
    # object.__new__ would make a dictionary on CPython 3.11, which is replaced at once.
    made = PyType_GenericAlloc(<PyTypeObject*>cls, 0)
    put_dict(made, attributes)
    return made


cdef clone(field):
    """Return a shallow copy, as ``copy.copy`` makes it of an object without copy methods."""
    return made_with(type(field), PyDict_Copy(vars_of(field)))


def copied_fields(declared, deepcopy):
    """Return what ``deepcopy(declared)`` returns, in ``Schema.__init__``: a field with two names is
    copied once."""
    cdef dict memo = {}, copies = {}
    if not copies_simply(upstream, declared, deepcopy):
        return deepcopy(declared)
    for name, field in (<dict>declared).items():
        copied = memo.get(id(field))
        if copied is None and field is not None:
            copied = memo[id(field)] = clone(field)
        copies[name] = copied
    return copies
