"""``String`` and its subclasses."""


@cython.no_gc_clear
cdef class DumpText(DumpStep):
    label = "text"

    cdef convert(self, value, obj, DumpFrame frame):
        if type(value) is str or value is None:
            return value
        if type(value) is int or type(value) is float or type(value) is bool:
            return str(value)
        return self.by_field(value, obj, frame)


@cython.no_gc_clear
cdef class LoadText(LoadStep):
    label = "text"

    cdef convert(self, value, data, LoadFrame frame):
        if type(value) is str:
            return value
        return self.refuse_json("invalid", NO_WORDS, value, data, frame)


# ---- Analysis ----------------------------------------------------------------------


def dump_text(analysis, field, options):
    analysis.fields_helper("ensure_text_type")
    # Before release 4 the class UUID has no _serialize of its own.
    if isinstance(field, analysis.upstream.fields["UUID"]):
        return DumpUUID(field, **options)
    return DumpText(field, **options)


def load_text(analysis, field, options):
    analysis.fields_helper("ensure_text_type")
    return LoadText(field, **options)


KINDS.append(Kind("String", dump=dump_text, load=load_text))
