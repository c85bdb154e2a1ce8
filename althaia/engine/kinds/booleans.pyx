# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Truth values: ``Boolean``. Newer releases dump them as they are."""

cimport cython
from cpython.object cimport PyObject

from althaia.engine.run.dump cimport DumpFrame, DumpStep
from althaia.engine.run.load_step cimport LoadFrame, LoadStep
from althaia.engine.upstream cimport marshmallow

from althaia.engine.analysis.steps import Kind
from althaia.engine.plan.not_plannable import NotPlannable

cdef extern from "Python.h":
    # Borrowed: without the GIL threads would wait for each other to count references to one set.
    bint PySet_Contains(PyObject* members, object value) except -1
    Py_ssize_t PySet_GET_SIZE(PyObject* members)


@cython.final
@cython.no_gc_clear
cdef class DumpBoolean(DumpStep):
    """What is neither True nor False, or may mean something else, is left to the field."""

    kind = "bool"
    cdef object truthy, falsy

    def __init__(self, field, *, truthy, falsy, **options):
        DumpStep.__init__(self, field, **options)
        self.truthy = truthy
        self.falsy = falsy

    cdef object convert(self, object value, object obj, DumpFrame frame):
        if value is None:
            return None
        if value is True and PySet_Contains(<PyObject*>self.truthy, value):
            return True
        if value is False and not PySet_Contains(<PyObject*>self.truthy, value):
            return False
        return self.field._serialize(value, self.attr, obj)


@cython.final
@cython.no_gc_clear
cdef class LoadBoolean(LoadStep):
    """``truthy`` and ``falsy`` are asked each time: their contents are the user's."""

    kind = "bool"
    cdef object truthy, falsy

    def __init__(self, field, *, truthy, falsy, **options):
        LoadStep.__init__(self, field, **options)
        self.truthy = truthy
        self.falsy = falsy

    cdef object convert(self, object value, object data, LoadFrame frame):
        if (
            (type(value) is bool or type(value) is str or type(value) is int)
            and PySet_GET_SIZE(<PyObject*>self.truthy)
        ):
            try:
                if PySet_Contains(<PyObject*>self.truthy, value):
                    return True
                if PySet_Contains(<PyObject*>self.falsy, value):
                    return False
            except TypeError as error:
                return self.refused(value, error, frame)
            # Not asked again: a member's comparison may be the user's.
            return frame.failed(self.field.make_error("invalid", input=value))
        return self.own(value, data, frame)

    cdef object refused(self, object value, object cause, LoadFrame frame):
        """What is left of ``Boolean._deserialize`` where a member's comparison has raised."""
        try:
            raise self.field.make_error("invalid", input=value) from cause
        except marshmallow.ValidationError as error:
            return frame.failed(error)


def meanings_of(analysis, field):
    """What stands for True and for False, as keyword arguments of a step."""
    truthy = analysis.field_value(field, "truthy")
    falsy = analysis.field_value(field, "falsy")
    if type(truthy) is not set or type(falsy) is not set:
        raise NotPlannable("truthy or falsy is no set")
    return {"truthy": truthy, "falsy": falsy}


def dump_boolean(analysis, field, options):
    return DumpBoolean(field, **meanings_of(analysis, field), **options)


def load_boolean(analysis, field, options):
    return LoadBoolean(field, **meanings_of(analysis, field), **options)


KINDS = (Kind("Boolean", dump=dump_boolean, load=load_boolean),)
