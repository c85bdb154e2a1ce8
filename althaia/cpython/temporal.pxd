"""The interpreter's own date and time types, through :file:`datetime.h`.

The attributes of the module ``datetime`` are not read: tests replace them (freezegun,
``unittest.mock``), perhaps before this is imported. A module that uses these declarations must
call :func:`import_temporal` first.
"""

from cpython.object cimport PyObject, PyTypeObject
from cpython.pycapsule cimport PyCapsule_Import


cdef extern from "datetime.h":
    ctypedef struct PyDateTime_CAPI:
        PyTypeObject* DateType
        PyTypeObject* DateTimeType
        PyTypeObject* TimeType
        PyTypeObject* DeltaType
        PyObject* TimeZone_UTC

    PyDateTime_CAPI* PyDateTimeAPI
    const char* PyDateTime_CAPSULE_NAME

    bint PyDateTime_CheckExact(object value)
    bint PyDelta_CheckExact(object value)

    PyObject* PyDateTime_DATE_GET_TZINFO(object value)
    int PyDateTime_DELTA_GET_DAYS(object value)
    int PyDateTime_DELTA_GET_SECONDS(object value)
    int PyDateTime_DELTA_GET_MICROSECONDS(object value)


cdef inline dict import_temporal():
    """Return the classes of the module ``datetime`` by name.

    :raises AttributeError, ImportError: ``datetime`` is not the interpreter's own module.
    """
    global PyDateTimeAPI
    PyDateTimeAPI = <PyDateTime_CAPI*>PyCapsule_Import(PyDateTime_CAPSULE_NAME, 0)
    return {
        "date": <object><PyObject*>PyDateTimeAPI.DateType,
        "datetime": <object><PyObject*>PyDateTimeAPI.DateTimeType,
        "time": <object><PyObject*>PyDateTimeAPI.TimeType,
        "timedelta": <object><PyObject*>PyDateTimeAPI.DeltaType,
        "timezone": type(<object>PyDateTimeAPI.TimeZone_UTC),
    }
