"""``TimeDelta``: periods of time as numbers."""

# Up to this number of days C doubles hold the microseconds, and each unit, exactly.
cdef int64_t MOST_DAYS = 100_000


# ---- Dump --------------------------------------------------------------------------


@cython.no_gc_clear
cdef class DumpTimeDelta(DumpStep):
    """Dumps a timedelta in units of ``unit`` microseconds, which is below 2**53; if ``whole`` is
    true, without the part of a unit, which is ``truncated`` or else rounded down."""

    label = "timedelta"
    cdef public int64_t unit
    cdef public bint whole, truncated

    cdef convert(self, value, obj, DumpFrame frame):
        cdef int64_t days, microseconds
        if value is None:
            return None
        if PyDelta_CheckExact(value):
            days = PyDateTime_DELTA_GET_DAYS(value)
            if -MOST_DAYS <= days <= MOST_DAYS:
                microseconds = (
                    (days * 86400 + PyDateTime_DELTA_GET_SECONDS(value)) * 1_000_000
                    + PyDateTime_DELTA_GET_MICROSECONDS(value)
                )
                if self.truncated:
                    return <int64_t>((<double>microseconds / 1e6) / (<double>self.unit / 1e6))
                if self.whole:
                    return microseconds // self.unit
                # One correctly rounded division, as Python's int / int.
                return <double>microseconds / <double>self.unit
        return self.by_field(value, obj, frame)


# ---- Load --------------------------------------------------------------------------


@cython.no_gc_clear
cdef class LoadTimeDelta(LoadStep):
    """``made``: the type that the value is converted to first, int or float."""

    label = "timedelta"
    cdef public str precision
    cdef public object made

    cdef convert(self, value, data, LoadFrame frame):
        made = value
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
            return self.refuse("invalid", NO_WORDS, value, data, frame)
        return self.by_field(value, data, frame)


# ---- Analysis ----------------------------------------------------------------------


def dump_timedelta(analysis, field, options):
    analysis.fields_helper("timedelta_to_microseconds")
    made = serialization_type(analysis, field)
    if made is not None:
        if made is not int:
            raise NotPlannable("serialization_type is not int")
        unit = unit_of(plain_precision(analysis, field))
        truncated = analysis.upstream.truncates_timedeltas
        return DumpTimeDelta(field, unit=unit, whole=True, truncated=truncated, **options)
    units = analysis.typed_value(field, "_unit_to_microseconds_mapping", dict)
    precision = analysis.typed_value(field, "precision", str)
    unit = analysis.watch_entry(units, precision)
    if type(unit) is not int or not 0 < unit < 2**53:
        raise NotPlannable(f"the unit {precision!r} is no number of microseconds")
    return DumpTimeDelta(field, unit=unit, **options)


def serialization_type(analysis, field):
    """Return the type of a field's numbers, None in releases where that is no option."""
    if analysis.upstream.has_serialization_type:
        return analysis.field_value(field, "serialization_type")
    return int if analysis.upstream.timedeltas_are_whole else None


def unit_of(precision):
    """Return the number of microseconds of a unit that ``timedelta`` knows."""
    try:
        return timedelta(**{precision: 1}) // timedelta(microseconds=1)
    except TypeError:
        raise NotPlannable(f"the precision {precision!r} is none of upstream's") from None


def load_timedelta(analysis, field, options):
    precision = plain_precision(analysis, field)
    made = serialization_type(analysis, field) or float
    if made is not int and made is not float:
        raise NotPlannable("serialization_type is neither int nor float")
    return LoadTimeDelta(field, precision=precision, made=made, **options)


def plain_precision(analysis, field):
    """Return a field's precision, and make sure that ``datetime.timedelta`` is the original."""
    precision = analysis.typed_value(field, "precision", str)
    analysis.field_function("fields", "dt")
    analysis.watch_original(dt, "timedelta", timedelta)
    return precision


KINDS.append(Kind("TimeDelta", dump=dump_timedelta, load=load_timedelta))
