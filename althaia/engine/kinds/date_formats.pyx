"""Dates and times in ``strftime`` formats.

Common values are formatted and parsed here, all others by the functions that upstream calls.
"""

cdef extern from "althaia/engine/kinds/date_formats.h":
    ctypedef struct althaia_moment:
        int year, month, day, hour, minute, second, microsecond

    bint althaia_is_plain_format(object format)
    Py_ssize_t althaia_format_by_pattern(
        const althaia_moment* moment, object format, char* at, Py_ssize_t room
    )
    bint althaia_read_format(object text, object format, althaia_moment* moment)

cdef dict TEMPORAL = import_temporal()
cdef object timedelta = TEMPORAL["timedelta"]
cdef object timezone = TEMPORAL["timezone"]
cdef object utc = <object>PyDateTimeAPI.TimeZone_UTC


# ---- Dump --------------------------------------------------------------------------


@cython.final
@cython.no_gc_clear
cdef class DumpFormat(FixedText):
    """A ``strftime`` format with the same result on every platform, for years of four digits."""

    kind = "strftime, plain"
    cdef public str format

    cdef Py_ssize_t format_into(self, object value, char* at) except -1:
        cdef althaia_moment moment
        if PyDateTime_CheckExact(value):
            # strftime calls methods of any other time zone, which may raise.
            zone = <object>PyDateTime_DATE_GET_TZINFO(value)
            if zone is not None and type(zone) is not timezone:
                return 0
            moment.year, moment.month = PyDateTime_GET_YEAR(value), PyDateTime_GET_MONTH(value)
            moment.day = PyDateTime_GET_DAY(value)
            moment.hour = PyDateTime_DATE_GET_HOUR(value)
            moment.minute = PyDateTime_DATE_GET_MINUTE(value)
            moment.second = PyDateTime_DATE_GET_SECOND(value)
            moment.microsecond = PyDateTime_DATE_GET_MICROSECOND(value)
        elif PyDate_CheckExact(value):
            moment.year, moment.month = PyDateTime_GET_YEAR(value), PyDateTime_GET_MONTH(value)
            moment.day, moment.hour, moment.minute = PyDateTime_GET_DAY(value), 0, 0
            moment.second, moment.microsecond = 0, 0
        elif PyTime_CheckExact(value):
            moment.year, moment.month, moment.day = 1900, 1, 1
            moment.hour = PyDateTime_TIME_GET_HOUR(value)
            moment.minute = PyDateTime_TIME_GET_MINUTE(value)
            moment.second = PyDateTime_TIME_GET_SECOND(value)
            moment.microsecond = PyDateTime_TIME_GET_MICROSECOND(value)
        else:
            return 0
        # C libraries differ in how they format a year of fewer digits.
        if moment.year < 1000:
            return 0
        return althaia_format_by_pattern(&moment, self.format, at, LONGEST_TEXT)


# ---- Load --------------------------------------------------------------------------


@cython.final
@cython.no_gc_clear
cdef class LoadFormat(LoadParsed):
    """Parses text by a plain ``strptime`` format."""

    kind = "strptime, plain"
    cdef public str format
    cdef public str result_type

    cdef object convert(self, object value, object data, LoadFrame frame):
        cdef althaia_moment at
        if type(value) is not str or not althaia_read_format(value, self.format, &at):
            return self.parsed(value, data, frame)
        if self.result_type == "date":
            return PyDateTimeAPI.Date_FromDate(
                at.year, at.month, at.day, PyDateTimeAPI.DateType
            )
        if self.result_type == "time":
            return PyDateTimeAPI.Time_FromTime(
                at.hour, at.minute, at.second, at.microsecond, None, PyDateTimeAPI.TimeType
            )
        return PyDateTimeAPI.DateTime_FromDateAndTime(
            at.year, at.month, at.day, at.hour, at.minute, at.second, at.microsecond, None,
            PyDateTimeAPI.DateTimeType,
        )


# ---- Analysis ----------------------------------------------------------------------


def dump_by_format(field, options, chosen):
    """Return the step for a ``strftime`` format that is implemented here, else None."""
    return DumpFormat(field, format=chosen, **options) if althaia_is_plain_format(chosen) else None


OWNERS = {"datetime": "DateTime", "date": "Date", "time": "Time"}


def load_by_format(analysis, field, options, chosen):
    """Return the step for a ``strptime`` format that is implemented here, else None."""
    # Newer Python versions warn if a format has no year.
    if "%Y" not in chosen or not althaia_is_plain_format(chosen):
        return None
    result_type = analysis.field_value(field, "OBJ_TYPE")
    owner = OWNERS.get(result_type) if type(result_type) is str else None
    if owner is None:
        return None
    analysis.field_method(field, "_make_object_from_format", analysis.upstream.fields[owner])
    analysis.field_function("fields", "dt")
    for name in ("datetime", result_type):
        analysis.watch_original(dt, name, TEMPORAL[name])
    make = seam.pristine[analysis.upstream.fields[owner]]["_make_object_from_format"].__func__
    return LoadFormat(
        field,
        format=chosen,
        result_type=result_type,
        parse=partial(make, data_format=chosen),
        words={"input": None, "obj_type": result_type},
        **options,
    )
