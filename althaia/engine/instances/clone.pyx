"""Copy fields and instance dictionaries without running user code.

Everything in this folder that copies a field calls :func:`clone`. The seam calls
:func:`copied_fields` in the place of ``copy.deepcopy`` for an instance that upstream's code makes.
"""

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        pass
    object PyType_GenericAlloc(PyTypeObject* cls, Py_ssize_t items)


cdef object COPY = copy
# Recorded when marshmallow was imported, because a test may have replaced them since.
cdef dict AS_SHIPPED = dict(seam.defined.get("copy", vars(copy)))
cdef object shipped_deepcopy = AS_SHIPPED["deepcopy"]
cdef object shallow_copy = AS_SHIPPED["copy"]
# Methods that ``copy`` looks up on a field's class and ``object.__reduce_ex__`` on the field.
cdef tuple METHODS_OF_COPYING = (
    "__new__", "__reduce_ex__", "__reduce__", "__getstate__", "__getattribute__", "__copy__",
    "__setstate__", "__getnewargs_ex__", "__getnewargs__", "__getattr__",
)


cdef clone(field):
    """Return a shallow copy, as ``copy.copy`` makes it of an object without copy methods."""
    return made_with(type(field), PyDict_Copy(vars_of(field)))


cdef dict copies_by_name(declared):
    """Copy fields by name as ``copy.deepcopy`` does: a field with two names is copied once, and
    None, which marshmallow-sqlalchemy declares for a name that it leaves out, is itself."""
    cdef dict memo = {}, copies = {}
    for name, field in declared.items():
        copied = memo.get(id(field))
        if copied is None and field is not None:
            copied = memo[id(field)] = clone(field)
        copies[name] = copied
    return copies


cdef made_with(cls, dict attributes):
    """Return a new object of a class with this instance dictionary, without calling the class."""
    # object.__new__ would make a dictionary on CPython 3.11, which is replaced at once.
    made = PyType_GenericAlloc(<PyTypeObject*>cls, 0)
    put_dict(made, attributes)
    return made


def copied_fields(declared, deepcopy):
    """Return what ``deepcopy(declared)`` returns, in ``Schema.__init__``."""
    if (
        deepcopy is not shipped_deepcopy
        or type(declared) is not dict
        or not copies_simply(<dict>declared)
    ):
        return deepcopy(declared)
    return copies_by_name(declared)


cdef bint copies_simply(dict declared):
    """Whether ``copy.deepcopy(declared)`` makes a dictionary with a ``copy.copy`` of each field.
    marshmallow-sqlalchemy declares None for a name that ``Meta.exclude`` leaves out."""
    if (
        upstream.live["schema"].get("copy") is not COPY
        or upstream.live["fields"].get("copy") is not COPY
        or COPY.deepcopy is not shipped_deepcopy
        or COPY.copy is not shallow_copy
    ):
        return False
    for name, field in declared.items():
        if type(name) is not str or (field is not None and not copies_as_object(field)):
            return False
    return True


cdef bint copies_as_object(field):
    """Whether ``copy.copy`` copies a field by its class and its instance dictionary."""
    if type(althaia_dict_or_none(field)) is not dict:
        return False
    if not upstream.has_passed(type(field), COPIED_AS_OBJECT):
        if not has_simple_copies(type(field)):
            return False
        upstream.note_passed(type(field), COPIED_AS_OBJECT)
    return True


cdef bint has_simple_copies(cls):
    """Whether no class of a field's MRO defines a copy method or slots."""
    if althaia_type_lookup(cls, "__deepcopy__") is not upstream.raw(
        upstream.Field, "__deepcopy__"
    ):
        return False
    for name in METHODS_OF_COPYING:
        if static(cls, name) is not object.__dict__.get(name, ABSENT) and not (
            # In some releases upstream's own warns of the class that has it, and of no other.
            name == "__new__"
            and definers(cls, name)[0] in seam.pristine
            and name not in cls.__dict__
            and upstream.is_known("fields.Field.__new__")
        ):
            return False
    # clone() does not copy slots.
    return cls.__basicsize__ == upstream.Field.__basicsize__
