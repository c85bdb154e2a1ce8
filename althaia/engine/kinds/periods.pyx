"""``TimeDelta``: periods of time as numbers."""

cdef extern from "althaia/engine/kinds/periods.h":
    bint althaia_timedelta(object value, int64_t unit, double* number)
    bint althaia_timedelta_units(object value, int64_t unit, int64_t* number)


# ---- Dump --------------------------------------------------------------------------


@cython.final
@cython.no_gc_clear
cdef class DumpTimeDelta(DumpStep):
    """Dumps a timedelta in units of ``unit`` microseconds.

    In a release whose field has a ``serialization_type``, ``whole`` is true for int, and
    ``seconds`` is the unit in seconds for float; else it is 0.
    """

    kind = "timedelta"
    cdef public int64_t unit
    cdef public double seconds
    cdef public bint whole

    cdef object convert(self, object value, object obj, DumpFrame frame):
        cdef double number
        cdef int64_t units
        if value is None:
            return None
        if PyDelta_CheckExact(value):
            if self.whole:
                if althaia_timedelta_units(value, self.unit, &units):
                    return units
            elif self.seconds:
                if althaia_timedelta(value, 1_000_000, &number):
                    return number / self.seconds
            elif althaia_timedelta(value, self.unit, &number):
                return number
        return self.field._serialize(value, self.attr, obj)


# ---- Load --------------------------------------------------------------------------


@cython.final
@cython.no_gc_clear
cdef class LoadTimeDelta(LoadStep):
    """``made``: the type that the value is converted to first, int or float."""

    kind = "timedelta"
    cdef public str precision
    cdef public object made

    cdef object convert(self, object value, object data, LoadFrame frame):
        cdef object made = value
        cdef bint refused = False
        if type(value) is int or type(value) is float or type(value) is str:
            try:
                made = self.made(value)
                return timedelta(**{self.precision: made})
            except (TypeError, ValueError):
                # A value that could be converted is no number: some releases do not catch that.
                refused = made is value and type(value) is str
            except OverflowError:
                pass
        if refused:
            return self.refuse("invalid", NOTHING, value, data, frame)
        return self.by_field(value, data, frame)


# ---- Analysis ----------------------------------------------------------------------


# Microseconds, as TimeDelta.__init__ allows the precision.
UNITS = {
    "weeks": 604_800_000_000,
    "days": 86_400_000_000,
    "hours": 3_600_000_000,
    "minutes": 60_000_000,
    "seconds": 1_000_000,
    "milliseconds": 1_000,
    "microseconds": 1,
}


def dump_timedelta(analysis, field, options):
    if analysis.upstream.has_serialization_type:
        return dump_by_type(analysis, field, options)
    units = analysis.field_value(field, "_unit_to_microseconds_mapping")
    precision = analysis.field_value(field, "precision")
    if type(units) is not dict or type(precision) is not str:
        raise NotPlannable("its units are not upstream's")
    analysis.fields_helper("timedelta_to_microseconds")
    unit = analysis.watch_entry(units, precision)
    if type(unit) is not int or not 0 < unit < 2**53:
        raise NotPlannable(f"the unit {precision!r} is no number of microseconds")
    return DumpTimeDelta(field, unit=unit, **options)


def dump_by_type(analysis, field, options):
    precision = plain_precision(analysis, field)
    made = serialization_type(analysis, field)
    if precision not in UNITS:
        raise NotPlannable(f"the precision {precision!r} is none of upstream's")
    analysis.fields_helper("timedelta_to_microseconds")
    unit = UNITS[precision]
    return DumpTimeDelta(field, unit=unit, seconds=unit / 10**6, whole=made is int, **options)


def load_timedelta(analysis, field, options):
    precision = plain_precision(analysis, field)
    made = float
    if analysis.upstream.has_serialization_type:
        made = serialization_type(analysis, field)
    return LoadTimeDelta(field, precision=precision, made=made, **options)


def serialization_type(analysis, field):
    made = analysis.field_value(field, "serialization_type")
    if made is not int and made is not float:
        raise NotPlannable("serialization_type is neither int nor float")
    return made


def plain_precision(analysis, field):
    """Return a field's precision, and make sure that ``datetime.timedelta`` is the original."""
    precision = analysis.field_value(field, "precision")
    if type(precision) is not str:
        raise NotPlannable("precision is no text")
    analysis.field_function("fields", "dt")
    analysis.watch_original(dt, "timedelta", timedelta)
    return precision


cdef tuple PERIODS = (Kind("TimeDelta", dump=dump_timedelta, load=load_timedelta),)
