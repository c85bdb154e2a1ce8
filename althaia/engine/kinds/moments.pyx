"""``DateTime`` and its subclasses, ``Date``, ``Time``."""

cdef extern from "althaia/engine/kinds/moments.h":
    Py_ssize_t althaia_format_date(object value, char* at)
    Py_ssize_t althaia_format_datetime(object value, char* at)
    Py_ssize_t althaia_format_time(object value, char* at)

cdef dict TEMPORAL = import_temporal()
cdef object timedelta = TEMPORAL["timedelta"]
cdef object timezone = TEMPORAL["timezone"]


# ---- Dump --------------------------------------------------------------------------


@cython.final
@cython.no_gc_clear
cdef class DumpIsoDateTime(FixedText):
    label = "datetime, ISO"

    cdef Py_ssize_t format_into(self, object value, char* at) except -1:
        return althaia_format_datetime(value, at) if PyDateTime_CheckExact(value) else 0


@cython.final
@cython.no_gc_clear
cdef class DumpIsoDate(FixedText):
    label = "date, ISO"

    cdef Py_ssize_t format_into(self, object value, char* at) except -1:
        if PyDate_CheckExact(value) or PyDateTime_CheckExact(value):
            return althaia_format_date(value, at)
        return 0


@cython.final
@cython.no_gc_clear
cdef class DumpIsoTime(FixedText):
    label = "time, ISO"

    cdef Py_ssize_t format_into(self, object value, char* at) except -1:
        return althaia_format_time(value, at) if PyTime_CheckExact(value) else 0


@cython.final
@cython.no_gc_clear
cdef class DumpByFunction(DumpStep):
    """Formats the value by a function of ``SERIALIZATION_FUNCS``, or by ``strftime``."""

    label = "formatting function"
    cdef public object function

    cdef object convert(self, object value, object obj, DumpFrame frame):
        return None if value is None else self.function(value)


# ---- Load --------------------------------------------------------------------------


cdef enum Awareness:
    EITHER
    NAIVE
    AWARE


@cython.final
@cython.no_gc_clear
cdef class LoadMoment(LoadStep):
    """Reads a date or time by a function that upstream would call.

    :param parse: the function, of the standard library or of upstream.
    :param words: what the field's messages name in braces.
    :param awareness: whether a datetime must have a time zone, must have none, or either.
    :param parse_plain: reads text of the commonest form in less time, and returns None for any
        other text; None if there is no such function.
    """

    label = "date or time"
    cdef public object parse, parse_plain
    cdef public dict words
    cdef public int awareness

    cdef object convert(self, object value, object data, LoadFrame frame):
        cdef object moment = None, zone
        if type(value) is str and self.parse_plain is not None:
            moment = self.parse_plain(value)
        if moment is None:
            if not is_of_json(value) or (self.awareness != EITHER and type(value) is not str):
                return self.by_field(value, data, frame)
            try:
                moment = self.parse(value)
            except (TypeError, AttributeError, ValueError):
                moment = FAILED
            # Outside the except block, so that errors of user code have no other __context__.
            if moment is FAILED:
                return self.refuse("invalid", self.words, value, data, frame)
        if self.awareness == EITHER:
            return moment
        if PyDateTime_CheckExact(moment):
            zone = <object>PyDateTime_DATE_GET_TZINFO(moment)
            if type(zone) is timezone if self.awareness == AWARE else zone is None:
                return moment
        return self.by_field(value, data, frame)


# Dates and times as isoformat() writes them. CPython 3.14 reads 24:00 as the next day.
ISO_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
ISO_TIME = r"(?!24)[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?"
ISO_ZONE = "(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})?"


def iso_reader(cls, pattern):
    """Return a function that reads what ``isoformat`` of a class writes as one of marshmallow's own
    functions before release 4 does. These accept other text too, and name time zones:
    ``timezone(timedelta(0), "+0000")``."""
    match, read = re.compile(pattern).fullmatch, cls.fromisoformat

    def parse_plain(text):
        found = match(text)
        if found is None:
            return None
        zone = found.groupdict().get("zone")
        try:
            moment = read(text)
            return moment if zone in (None, "Z") else moment.replace(tzinfo=named_zone(zone))
        except ValueError:
            return None

    return parse_plain


def format_reader(cls, chosen):
    """Return a function that reads text of a ``strptime`` format with all digits present; None for
    a format of more than the common directives.

    The regular expression of ``strptime`` matches such text in the same way first.
    """
    if not PLAIN_FORMAT.fullmatch(chosen):
        return None
    chosen = re.escape(chosen)
    for directive, (name, digits) in DIRECTIVES.items():
        chosen = chosen.replace(f"%{directive}", f"(?P<{name}>[0-9]{{{digits}}})")
    try:
        match = re.compile(chosen).fullmatch
    except re.error:
        # A directive is there twice.
        return None

    def parse_plain(text):
        found = match(text)
        if found is None:
            return None
        parts = {name: int(digits) for name, digits in found.groupdict().items()}
        try:
            return cls(**{"month": 1, "day": 1, **parts})
        except ValueError:
            return None

    return parse_plain


PLAIN_FORMAT = re.compile("(?:%[YmdHMSf]|[-./,:;_TZ ])+")
DIRECTIVES = {
    "Y": ("year", 4), "m": ("month", 2), "d": ("day", 2),
    "H": ("hour", 2), "M": ("minute", 2), "S": ("second", 2), "f": ("microsecond", 6),
}


# The time zones that `utils.from_iso_datetime` makes, by their text. Nothing can change one.
cdef dict ZONES = {}


cdef object named_zone(str text):
    zone = ZONES.get(text)
    if zone is None:
        parse = seam.defined["utils"]["from_iso_datetime"]
        zone = ZONES[text] = parse(f"2000-01-01T00:00:00{text}").tzinfo
    return zone


# ---- Analysis ----------------------------------------------------------------------


CONVERTED = (TEMPORAL["datetime"], TEMPORAL["date"], TEMPORAL["time"])
PARSERS = (*[cls.fromisoformat for cls in CONVERTED], email.utils.parsedate_to_datetime)
# By class: the function of some releases of marshmallow that formats ISO, and the step for it.
ISO_STEPS = {
    "datetime": ("isoformat", DumpIsoDateTime),
    "date": ("to_iso_date", DumpIsoDate),
    "time": ("to_iso_time", DumpIsoTime),
}


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
        return DumpByFunction(field, function=methodcaller("strftime", chosen), **options)
    utils = seam.defined["utils"]
    for cls, (own, step) in ISO_STEPS.items():
        if function is TEMPORAL[cls].isoformat or (
            function is utils.get(own) and analysis.upstream.is_known(f"utils.{own}")
        ):
            return step(field, **options)
    return DumpByFunction(field, function=function, **options)


def load_moment(analysis, field, options, *, awareness=EITHER):
    functions = analysis.field_value(field, "DESERIALIZATION_FUNCS")
    if type(functions) is not dict:
        raise NotPlannable("DESERIALIZATION_FUNCS is no plain dictionary")
    chosen = chosen_format(analysis, field)
    analysis.field_function("fields", "dt")
    name = analysis.field_value(field, "OBJ_TYPE")
    if type(name) is not str or analysis.watch_entry(vars(dt), name) not in CONVERTED:
        raise NotPlannable("OBJ_TYPE is none of datetime's own classes")
    function = analysis.watch_entry(functions, chosen)
    if function is ABSENT:
        parsing = by_format(analysis, field, name, chosen)
    else:
        parsing = parsing_by(analysis, function, chosen)
    return LoadMoment(
        field,
        words={"input": None, "obj_type": name},
        awareness=awareness,
        **parsing,
        **options,
    )


OWNERS = {"datetime": "DateTime", "date": "Date", "time": "Time"}
OWN_CLASSES = ("datetime", "date", "time", "timezone", "timedelta")
# For each of upstream's own functions: the names in its module that it looks up, and the pattern of
# plain text.
OWN_PARSERS = {
    "from_iso_datetime": (
        ("_iso8601_datetime_re", "get_fixed_timezone"), f"{ISO_DATE}[T ]{ISO_TIME}{ISO_ZONE}"
    ),
    "from_iso_date": (("_iso8601_date_re",), ISO_DATE),
    "from_iso_time": (("_iso8601_time_re",), ISO_TIME),
    "from_rfc": ((), None),
}


def by_format(analysis, field, name, chosen):
    """Return how a step parses a ``strptime`` format: by upstream's own function, and plain text
    without ``strptime``."""
    cls = analysis.upstream.fields[OWNERS[name]]
    analysis.field_method(field, "_make_object_from_format", cls)
    make = seam.pristine[cls]["_make_object_from_format"].__func__
    parse = {"parse": partial(make, data_format=chosen)}
    if (
        name == "time"
        # strptime would validate the time of a date, too.
        or (name == "date" and not set(chosen).isdisjoint("HMSf"))
        # Newer Python versions warn if a format has no year.
        or "%Y" not in chosen
    ):
        return parse
    analysis.watch_original(dt, "datetime", TEMPORAL["datetime"])
    return parse | {"parse_plain": format_reader(TEMPORAL[name], chosen)}


def parsing_by(analysis, function, chosen):
    """Return how a step parses what this function of a format does, as keyword arguments.

    :raises NotPlannable: it is neither the standard library's nor upstream's.
    """
    if any(function == known for known in PARSERS):
        return {"parse": function}
    utils = seam.defined["utils"]
    for name, (looked_up, plain) in OWN_PARSERS.items():
        if utils.get(name) is not function or not analysis.upstream.is_known(f"utils.{name}"):
            continue
        if plain is None:
            return {"parse": function}
        analysis.field_function("utils", name, *looked_up, "dt")
        for each in OWN_CLASSES:
            analysis.watch_original(dt, each, TEMPORAL[each])
        cls = TEMPORAL[name.removeprefix("from_iso_")]
        return {"parse": function, "parse_plain": iso_reader(cls, plain)}
    raise NotPlannable(f"the function for format {chosen!r} may do anything")


def load_of_awareness(analysis, field, options, *, name, awareness):
    fields = analysis.upstream.fields
    owners = definers(type(field), "_deserialize")
    # Releases of marshmallow without the former class have its methods in the latter.
    base = fields.get("_TemporalField") or fields["DateTime"]
    if owners[:2] != [fields[name], base]:
        raise NotPlannable("_deserialize goes on to a class that is not upstream's")
    analysis.class_method(base, "_deserialize")
    analysis.field_function("fields", "is_aware")
    analysis.fields_helper("is_aware")
    return load_moment(analysis, field, options, awareness=awareness)


KINDS += [
    Kind("_TemporalField", dump=dump_moment, load=load_moment),
    Kind("DateTime", dump=dump_moment, load=load_moment),
    Kind("NaiveDateTime", load=partial(load_of_awareness, name="NaiveDateTime", awareness=NAIVE)),
    Kind("AwareDateTime", load=partial(load_of_awareness, name="AwareDateTime", awareness=AWARE)),
]
