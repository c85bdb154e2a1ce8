"""``Boolean``. Newer releases of marshmallow dump its values without conversion."""

cdef extern from "Python.h":
    # Borrowed references: without the GIL, changing the reference count of a set that all threads
    # share would make them wait for each other.
    bint PySet_Contains(PyObject* members, object value) except -1
    Py_ssize_t PySet_GET_SIZE(PyObject* members)


@cython.no_gc_clear
cdef class DumpBoolean(DumpStep):
    """Passes values to the field that are neither True nor False, or that ``truthy`` and ``falsy``
    give another meaning."""

    label = "bool"
    cdef public object truthy, falsy

    cdef convert(self, value, obj, DumpFrame frame):
        if value is None:
            return None
        if value is True and PySet_Contains(<PyObject*>self.truthy, value):
            return True
        if value is False and not PySet_Contains(<PyObject*>self.truthy, value):
            return False
        return self.by_field(value, obj, frame)


@cython.no_gc_clear
cdef class LoadBoolean(LoadStep):
    """Reads ``truthy`` and ``falsy`` each time, because user code may change the sets."""

    label = "bool"
    cdef public object truthy, falsy

    cdef convert(self, value, data, LoadFrame frame):
        if (
            (type(value) is bool or type(value) is str or type(value) is int)
            and PySet_GET_SIZE(<PyObject*>self.truthy)
        ):
            if PySet_Contains(<PyObject*>self.truthy, value):
                return True
            if PySet_Contains(<PyObject*>self.falsy, value):
                return False
            return self.refuse("invalid", INPUT_WORD, value, data, frame)
        return self.by_field(value, data, frame)


def meanings_of(analysis, field):
    """Return ``truthy`` and ``falsy`` as keyword arguments of a step."""
    return {name: analysis.typed_value(field, name, set) for name in ("truthy", "falsy")}


KINDS.append(
    Kind(
        "Boolean", dump=maker_of(DumpBoolean, meanings_of), load=maker_of(LoadBoolean, meanings_of)
    )
)
