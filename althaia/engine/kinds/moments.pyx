"""``DateTime`` and its subclasses, ``Date``, ``Time``."""

cdef extern from "althaia/engine/kinds/moments.h":
    enum: MICROSECOND
    Py_ssize_t althaia_write_iso(object value, PyTypeObject* cls, char* at)
    Py_ssize_t althaia_write_format(object value, object format, char* at)
    Py_ssize_t althaia_read_format(object text, object format, int* numbers)
    object althaia_in_zone(object moment, object zone)
    object althaia_new_moment(const int* numbers, object zone, PyTypeObject* cls)

cdef dict TEMPORAL = import_temporal()
cdef object timedelta = TEMPORAL["timedelta"]
cdef object timezone = TEMPORAL["timezone"]


# ---- Dump --------------------------------------------------------------------------


@cython.no_gc_clear
cdef class DumpMoment(FixedText):
    """Writes what ``isoformat`` of a class does, or ``strftime`` if there is a format."""

    cdef public str label, format
    cdef public object cls

    cdef Py_ssize_t format_into(self, value, char* at) except -1:
        if self.format is not None:
            return althaia_write_format(value, self.format, at)
        return althaia_write_iso(value, <PyTypeObject*>self.cls, at)


@cython.no_gc_clear
cdef class DumpByFunction(DumpStep):
    """Formats the value by a function of ``SERIALIZATION_FUNCS``, or by ``strftime``."""

    label = "formatting function"
    cdef public object function

    cdef convert(self, value, obj, DumpFrame frame):
        return None if value is None else self.function(value)


# ---- Load --------------------------------------------------------------------------


cdef enum Awareness:
    EITHER
    NAIVE
    AWARE


@cython.no_gc_clear
cdef class LoadMoment(LoadStep):
    """Reads a date or time by a function that upstream would call.

    :param parse: the function, of the standard library or of upstream.
    :param words: what the field's messages name in braces.
    :param awareness: whether a datetime must have a time zone, must have none, or either.
    :param zone: the time zone that a datetime of the other sort is moved to, or gets; None if it is
        refused.
    :param awareness_words: what the message of that names in braces.
    :param format: the commonest form of its text, as ``moments.h`` reads it; None if it is not
        known.
    :param cls: the class that is made of such text.
    :param zoned: whether a time zone may follow.
    """

    label = "date or time"
    cdef public object parse, cls, zone
    cdef public str format
    cdef public dict words, awareness_words
    cdef public int awareness
    cdef public bint zoned

    cdef convert(self, value, data, LoadFrame frame):
        cdef object moment = None, given
        if type(value) is str and self.format is not None:
            moment = self.plain_moment(<str>value)
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
        if not PyDateTime_CheckExact(moment):
            return self.by_field(value, data, frame)
        given = <object>PyDateTime_DATE_GET_TZINFO(moment)
        # Another class may say that it knows no offset.
        if given is not None and type(given) is not timezone:
            return self.by_field(value, data, frame)
        if (given is None) == (self.awareness == NAIVE):
            return moment
        if self.zone is None:
            return self.refuse("invalid_awareness", self.awareness_words, value, data, frame)
        if self.awareness == NAIVE:
            if given is not self.zone:
                moment = moment.astimezone(self.zone)
            if not PyDateTime_CheckExact(moment):
                # The zone's code has made it.
                return moment.replace(tzinfo=None)
            return althaia_in_zone(moment, None)
        return althaia_in_zone(moment, self.zone)

    cdef plain_moment(self, str text):
        """Return what ``parse`` makes of text of the commonest form; None for any other text."""
        cdef int numbers[MICROSECOND + 1]
        cdef Py_ssize_t size = althaia_read_format(text, self.format, numbers)
        zone = None
        if size == 0 or (size < len(text) and not (self.zoned and text[size] in "Z+-")):
            return None
        try:
            if size < len(text):
                zone = named_zone(text[size:])
            return althaia_new_moment(numbers, zone, <PyTypeObject*>self.cls)
        except ValueError:
            return None


# The time zones that marshmallow's own function before release 4 makes, by their text. They have a
# name, timezone(timedelta(0), "+0000"). Nothing can change one.
cdef dict ZONES = {}


cdef named_zone(str text):
    zone = ZONES.get(text)
    if zone is None:
        parse = seam.defined["utils"]["from_iso_datetime"]
        zone = ZONES[text] = parse(f"2000-01-01T00:00:00{text}").tzinfo
    return zone


# ---- Analysis ----------------------------------------------------------------------


CONVERTED = (TEMPORAL["datetime"], TEMPORAL["date"], TEMPORAL["time"])
PARSERS = (*[cls.fromisoformat for cls in CONVERTED], email.utils.parsedate_to_datetime)
# By class: the function of some releases of marshmallow that formats ISO.
ISO_FUNCTIONS = {"datetime": "isoformat", "date": "to_iso_date", "time": "to_iso_time"}


def chosen_function(analysis, field, table):
    """Return the name of the field's format, or the format itself; and the function that one of the
    field's tables has for it, or ABSENT."""
    functions = analysis.typed_value(field, table, dict)
    chosen = analysis.typed_value(field, "format", str, True)
    chosen = chosen or analysis.typed_value(field, "DEFAULT_FORMAT", str)
    return chosen, analysis.watch_entry(functions, chosen)


def dump_moment(analysis, field, options):
    chosen, function = chosen_function(analysis, field, "SERIALIZATION_FUNCS")
    if function is ABSENT or not function:
        if PLAIN_FORMATS["datetime"].fullmatch(chosen):
            return DumpMoment(field, label="strftime, plain", format=chosen, **options)
        return DumpByFunction(field, function=methodcaller("strftime", chosen), **options)
    utils = seam.defined["utils"]
    for name, own in ISO_FUNCTIONS.items():
        if function is TEMPORAL[name].isoformat or (
            function is utils.get(own) and analysis.upstream.is_known(f"utils.{own}")
        ):
            return DumpMoment(field, label=f"{name}, ISO", cls=TEMPORAL[name], **options)
    return DumpByFunction(field, function=function, **options)


def load_moment(analysis, field, options, **awareness):
    chosen, function = chosen_function(analysis, field, "DESERIALIZATION_FUNCS")
    analysis.field_function("fields", "dt")
    name = analysis.typed_value(field, "OBJ_TYPE", str)
    if analysis.watch_entry(vars(dt), name) not in CONVERTED:
        raise NotPlannable("OBJ_TYPE is none of datetime's own classes")
    if function is ABSENT:
        parsing = by_format(analysis, field, name, chosen)
    else:
        parsing = parsing_by(analysis, function, chosen)
    return LoadMoment(field, words=WORDS[name], **awareness, **parsing, **options)


OWNERS = {"datetime": "DateTime", "date": "Date", "time": "Time"}
WORDS = {name: {"input": None, "obj_type": name} for name in OWNERS}
# For each of upstream's own functions: the names in its module that it looks up, and the format of
# what isoformat() writes.
OWN_PARSERS = {
    "from_iso_datetime": (
        ("_iso8601_datetime_re", "get_fixed_timezone"), "%Y-%m-%d?%H:%M:%S*"
    ),
    "from_iso_date": (("_iso8601_date_re",), "%Y-%m-%d"),
    "from_iso_time": (("_iso8601_time_re",), "%H:%M:%S*"),
    "from_rfc": ((), None),
}
# By class, whose directives they have: formats of up to LONGEST_TEXT characters, with the same
# result on every platform. No directive is there twice: strptime refuses that.
PLAIN_FORMATS = {
    name: re.compile(rf"(?!.*(%.).*\1)(?:%[{directives}]|[-./,:;_TZ ]){{1,27}}")
    for name, directives in (("datetime", "YmdHMSf"), ("date", "Ymd"), ("time", "HMSf"))
}


def by_format(analysis, field, name, chosen):
    """Return how a step parses a ``strptime`` format: by upstream's own function, and text with all
    digits present without it. The regular expression of ``strptime`` matches such text in the same
    way first."""
    cls = analysis.upstream.fields[OWNERS[name]]
    analysis.field_method(field, "_make_object_from_format", cls)
    if re.search(r"(%[^%]).*\1", chosen):
        # Some releases refuse an empty value before they look at the format.
        raise NotPlannable(f"strptime refuses the format {chosen!r}")
    make = seam.pristine[cls]["_make_object_from_format"].__func__
    parse = {"parse": partial(make, data_format=chosen)}
    # strptime would validate the time of a date and the date of a time, too. Newer Python versions
    # warn if a format has a day and no year.
    if not PLAIN_FORMATS[name].fullmatch(chosen) or ("%d" in chosen and "%Y" not in chosen):
        return parse
    analysis.watch_original(dt, "datetime", TEMPORAL["datetime"])
    return parse | {"cls": TEMPORAL[name], "format": chosen}


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
        for each, cls in TEMPORAL.items():
            analysis.watch_original(dt, each, cls)
        return {
            "parse": function,
            "cls": TEMPORAL[name.removeprefix("from_iso_")],
            "format": plain,
            "zoned": name == "from_iso_datetime",
        }
    raise NotPlannable(f"the function for format {chosen!r} may do anything")


def kind_of_awareness(name, awareness, option):
    """Return the kind of datetimes that need a time zone or must have none. ``option`` is what
    their field may have: the zone of the other sort."""
    return Kind(name, load=partial(load_of_awareness, name, awareness, option))


def load_of_awareness(name, awareness, option, analysis, field, options):
    fields = analysis.upstream.fields
    owners = definers(type(field), "_deserialize")
    # Releases of marshmallow without the former class have its methods in the latter.
    base = fields.get("_TemporalField") or fields["DateTime"]
    if owners[:2] != [fields[name], base]:
        raise NotPlannable("_deserialize goes on to a class that is not upstream's")
    analysis.class_method(base, "_deserialize")
    analysis.field_function("fields", "is_aware")
    analysis.fields_helper("is_aware")
    zone = analysis.field_value(field, option)
    words = {
        "awareness": analysis.field_value(field, "AWARENESS"),
        "obj_type": analysis.field_value(field, "OBJ_TYPE"),
    }
    return load_moment(
        analysis,
        field,
        options,
        awareness=awareness,
        awareness_words=words,
        zone=zone,
        # Converting to another class of time zones runs its code.
        guarded=awareness == NAIVE and zone is not None and type(zone) is not timezone,
    )


KINDS += [
    Kind("_TemporalField", dump=dump_moment, load=load_moment),
    Kind("DateTime", dump=dump_moment, load=load_moment),
    kind_of_awareness("NaiveDateTime", NAIVE, "timezone"),
    kind_of_awareness("AwareDateTime", AWARE, "default_timezone"),
]
