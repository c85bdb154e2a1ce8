"""ISO dates and times as marshmallow read them by its own functions before release 4.

``utils.from_iso_datetime`` and its like accept other text than ``datetime.fromisoformat``, and name
time zones: ``timezone(timedelta(0), "+0000")``. Text that may be invalid is left to them.
"""

cdef extern from "althaia/engine/kinds/own_iso.h":
    bint althaia_read_own_date(object text, althaia_moment* moment)
    bint althaia_read_own_time(object text, althaia_moment* moment)
    bint althaia_read_own_datetime(
        object text, althaia_moment* moment, int* zone, char* letter
    )

cdef extern from "Python.h":
    object PyUnicode_FromFormat(const char* format, ...)


cdef enum Awareness:
    EITHER
    NAIVE
    AWARE


@cython.final
@cython.no_gc_clear
cdef class LoadOwnDate(LoadParsed):
    kind = "date, ISO"

    cdef object convert(self, object value, object data, LoadFrame frame):
        cdef althaia_moment at
        if type(value) is str and althaia_read_own_date(value, &at):
            return PyDateTimeAPI.Date_FromDate(at.year, at.month, at.day, PyDateTimeAPI.DateType)
        return self.parsed(value, data, frame)


@cython.final
@cython.no_gc_clear
cdef class LoadOwnTime(LoadParsed):
    kind = "time, ISO"

    cdef object convert(self, object value, object data, LoadFrame frame):
        cdef althaia_moment at
        if type(value) is str and althaia_read_own_time(value, &at):
            return PyDateTimeAPI.Time_FromTime(
                at.hour, at.minute, at.second, at.microsecond, None, PyDateTimeAPI.TimeType
            )
        return self.parsed(value, data, frame)


@cython.final
@cython.no_gc_clear
cdef class LoadOwnDateTime(LoadParsed):
    """Loads a datetime. ``awareness``: whether it must have a time zone, must have none, or
    either."""

    kind = "datetime, ISO"
    cdef public int awareness

    cdef object convert(self, object value, object data, LoadFrame frame):
        cdef althaia_moment at
        cdef int zone
        cdef char kind
        if (
            type(value) is str
            and althaia_read_own_datetime(value, &at, &zone, &kind)
            and (self.awareness == EITHER or (self.awareness == NAIVE) == (kind == c" "))
        ):
            return PyDateTimeAPI.DateTime_FromDateAndTime(
                at.year, at.month, at.day, at.hour, at.minute, at.second, at.microsecond,
                zone_of(zone, kind), PyDateTimeAPI.DateTimeType,
            )
        parsed = self.parsed(value, data, frame)
        if self.awareness == EITHER or parsed is FAILED:
            return parsed
        return self.by_field(value, data, frame)


cdef dict ZONES = {}


cdef object zone_of(int minutes, char kind):
    """Return the time zone that ``utils.get_fixed_timezone`` makes of an offset.

    One object for each offset: nothing can change a time zone.
    """
    if kind == c" ":
        return None
    if kind == c"Z":
        return utc
    found = ZONES.get(minutes)
    if found is None:
        found = ZONES[minutes] = new_zone(minutes)
    return found


cdef object new_zone(int minutes):
    cdef int size = -minutes if minutes < 0 else minutes
    # The sign of a zero offset is a plus.
    name = PyUnicode_FromFormat(
        "%c%02d%02d", <int>(c"-" if minutes < 0 else c"+"), size // 60, size % 60
    )
    return timezone(timedelta(0, minutes * 60), name)


# ---- Analysis ----------------------------------------------------------------------


# Each function, with the names in its module that it looks up.
OWN_FUNCTIONS = {
    "from_iso_datetime": ("_iso8601_datetime_re", "get_fixed_timezone"),
    "from_iso_date": ("_iso8601_date_re",),
    "from_iso_time": ("_iso8601_time_re",),
}
OWN_CLASSES = ("datetime", "date", "time", "timezone", "timedelta")


def load_own_iso(analysis, field, options, aware=None):
    """Return the step for one of upstream's own functions that parse ISO, else None.

    :param aware: whether a datetime must have a time zone, or must have none; None: either.
    """
    defined = seam.defined["utils"]
    found = [name for name in OWN_FUNCTIONS if defined.get(name) is options["parse"]]
    if not found:
        return None
    name = found[0]
    analysis.field_function("utils", name, *OWN_FUNCTIONS[name], "dt")
    for each in OWN_CLASSES:
        analysis.watch_original(dt, each, TEMPORAL[each])
    if name == "from_iso_datetime":
        awareness = EITHER if aware is None else AWARE if aware else NAIVE
        return LoadOwnDateTime(field, awareness=awareness, **options)
    if aware is not None:
        # The field's own method checks what the other functions return.
        return None
    return (LoadOwnDate if name == "from_iso_date" else LoadOwnTime)(field, **options)
