"""``DateTime`` and its subclasses, ``Date``, ``Time``."""

cdef extern from "althaia/engine/kinds/moments.h":
    Py_ssize_t althaia_format_date(object value, char* at)
    Py_ssize_t althaia_format_datetime(object value, char* at)
    Py_ssize_t althaia_format_time(object value, char* at)


# ---- Dump --------------------------------------------------------------------------


@cython.final
@cython.no_gc_clear
cdef class DumpIsoDateTime(FixedText):
    kind = "datetime, ISO"

    cdef Py_ssize_t format_into(self, object value, char* at) except -1:
        return althaia_format_datetime(value, at) if PyDateTime_CheckExact(value) else 0


@cython.final
@cython.no_gc_clear
cdef class DumpIsoDate(FixedText):
    kind = "date, ISO"

    cdef Py_ssize_t format_into(self, object value, char* at) except -1:
        if PyDate_CheckExact(value) or PyDateTime_CheckExact(value):
            return althaia_format_date(value, at)
        return 0


@cython.final
@cython.no_gc_clear
cdef class DumpIsoTime(FixedText):
    kind = "time, ISO"

    cdef Py_ssize_t format_into(self, object value, char* at) except -1:
        return althaia_format_time(value, at) if PyTime_CheckExact(value) else 0


@cython.final
@cython.no_gc_clear
cdef class DumpByFunction(DumpStep):
    """Formats the value by a function of ``SERIALIZATION_FUNCS``."""

    kind = "formatting function"
    cdef public object function

    cdef object convert(self, object value, object obj, DumpFrame frame):
        return None if value is None else self.function(value)


@cython.final
@cython.no_gc_clear
cdef class DumpStrftime(DumpStep):
    kind = "strftime"
    cdef public object format

    cdef object convert(self, object value, object obj, DumpFrame frame):
        return None if value is None else value.strftime(self.format)


# ---- Load --------------------------------------------------------------------------


@cython.final
@cython.no_gc_clear
cdef class LoadAwareness(LoadParsed):
    """Loads a datetime that must, or must not, have a time zone."""

    kind = "datetime of known awareness"
    cdef public bint aware

    cdef object convert(self, object value, object data, LoadFrame frame):
        cdef object parsed, zone
        if type(value) is not str:
            return self.by_field(value, data, frame)
        parsed = self.parsed(value, data, frame)
        if PyDateTime_CheckExact(parsed):
            zone = <object>PyDateTime_DATE_GET_TZINFO(parsed)
            if type(zone) is timezone if self.aware else zone is None:
                return parsed
        elif parsed is FAILED:
            return FAILED
        return self.by_field(value, data, frame)


# ---- Analysis ----------------------------------------------------------------------


CONVERTED = (TEMPORAL["datetime"], TEMPORAL["date"], TEMPORAL["time"])
PARSERS = (*[cls.fromisoformat for cls in CONVERTED], email.utils.parsedate_to_datetime)
ISO_STEPS = dict(
    zip(
        [cls.isoformat for cls in CONVERTED],
        [DumpIsoDateTime, DumpIsoDate, DumpIsoTime],
        strict=True,
    )
)


def chosen_format(analysis, field):
    """Return the name of the field's format, or the format itself."""
    chosen = analysis.field_value(field, "format")
    if type(chosen) is not str and chosen is not None:
        raise NotPlannable(f"format is a {type(chosen).__qualname__}")
    chosen = chosen or analysis.field_value(field, "DEFAULT_FORMAT")
    if type(chosen) is not str:
        raise NotPlannable("DEFAULT_FORMAT is no text")
    return chosen


def dump_moment(analysis, field, options):
    functions = analysis.field_value(field, "SERIALIZATION_FUNCS")
    if type(functions) is not dict:
        raise NotPlannable("SERIALIZATION_FUNCS is no plain dictionary")
    chosen = chosen_format(analysis, field)
    function = analysis.watch_entry(functions, chosen)
    if function is ABSENT or not function:
        step = dump_by_format(field, options, chosen)
        return DumpStrftime(field, format=chosen, **options) if step is None else step
    for iso, step in (*ISO_STEPS.items(), *own_iso_steps(analysis)):
        if function is iso:
            return step(field, **options)
    return DumpByFunction(field, function=function, **options)


def own_iso_steps(analysis):
    """Return the functions of this release of marshmallow that format ISO, with their steps."""
    utils = seam.defined["utils"]
    for name, step in OWN_ISO_STEPS.items():
        if name in utils and analysis.upstream.is_known(f"utils.{name}"):
            yield utils[name], step


OWN_ISO_STEPS = {
    "isoformat": DumpIsoDateTime,
    "to_iso_date": DumpIsoDate,
    "to_iso_time": DumpIsoTime,
}
OWN_PARSERS = ("from_iso_datetime", "from_iso_date", "from_iso_time", "from_rfc")


def parsing(analysis, field):
    """Return the standard library's own function that parses the field's format, and what messages
    name, as keyword arguments of a step."""
    functions = analysis.field_value(field, "DESERIALIZATION_FUNCS")
    if type(functions) is not dict:
        raise NotPlannable("DESERIALIZATION_FUNCS is no plain dictionary")
    chosen = chosen_format(analysis, field)
    function = analysis.watch_entry(functions, chosen)
    utils = seam.defined["utils"]
    own = [
        utils[name]
        for name in OWN_PARSERS
        if name in utils and analysis.upstream.is_known(f"utils.{name}")
    ]
    if not any(function == known for known in (*PARSERS, *own)):
        raise NotPlannable(f"the function for format {chosen!r} may do anything")
    analysis.field_function("fields", "dt")
    name = analysis.field_value(field, "OBJ_TYPE")
    if type(name) is not str or analysis.watch_entry(vars(dt), name) not in CONVERTED:
        raise NotPlannable("OBJ_TYPE is none of datetime's own classes")
    return {"parse": function, "words": {"input": None, "obj_type": name}}


def load_moment(analysis, field, options):
    functions = analysis.field_value(field, "DESERIALIZATION_FUNCS")
    chosen = chosen_format(analysis, field)
    if type(functions) is dict and analysis.watch_entry(functions, chosen) is ABSENT:
        step = load_by_format(analysis, field, options, chosen)
        if step is not None:
            return step
    options = options | parsing(analysis, field)
    step = load_own_iso(analysis, field, options)
    return LoadParsed(field, **options) if step is None else step


def load_of_awareness(analysis, field, options, *, name, aware):
    fields = analysis.upstream.fields
    owners = definers(type(field), "_deserialize")
    # Releases of marshmallow without the former class have its methods in the latter.
    base = fields.get("_TemporalField") or fields["DateTime"]
    if owners[:2] != [fields[name], base]:
        raise NotPlannable("_deserialize goes on to a class that is not upstream's")
    analysis.class_method(base, "_deserialize")
    analysis.field_function("fields", "is_aware")
    analysis.fields_helper("is_aware")
    options = options | parsing(analysis, field)
    step = load_own_iso(analysis, field, options, aware)
    return LoadAwareness(field, aware=aware, **options) if step is None else step


cdef tuple MOMENTS = (
    Kind("_TemporalField", dump=dump_moment, load=load_moment),
    Kind("DateTime", dump=dump_moment, load=load_moment),
    Kind("NaiveDateTime", load=partial(load_of_awareness, name="NaiveDateTime", aware=False)),
    Kind("AwareDateTime", load=partial(load_of_awareness, name="AwareDateTime", aware=True)),
)
