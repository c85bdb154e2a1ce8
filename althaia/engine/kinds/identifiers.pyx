"""Identifiers: ``UUID``; and the IP addresses, whose own methods convert."""

cdef extern from "althaia/engine/kinds/identifiers.h":
    Py_ssize_t althaia_format_uuid(object number, char* at)
    object althaia_uuid_number(object text)

# Taken from an instance, because a test may have replaced the class in its module by now.
cdef object UUID = type(uuid.NAMESPACE_DNS)
cdef object UNKNOWN_SAFETY = uuid.NAMESPACE_DNS.is_safe


# ---- Dump --------------------------------------------------------------------------


@cython.no_gc_clear
cdef class DumpUUID(FixedText):
    label = "UUID"

    cdef convert(self, value, obj, DumpFrame frame):
        return value if type(value) is str else FixedText.convert(self, value, obj, frame)

    cdef Py_ssize_t format_into(self, value, char* at) except -1:
        if type(value) is UUID:
            number = value.int
            if type(number) is int:
                return althaia_format_uuid(number, at)
        return 0


# ---- Load --------------------------------------------------------------------------


@cython.no_gc_clear
cdef class LoadUUID(LoadStep):
    label = "UUID"

    cdef convert(self, value, data, LoadFrame frame):
        if type(value) is UUID:
            return value
        if type(value) is str:
            number = althaia_uuid_number(value)
            if number is not None:
                return new_uuid(number)
        # uuid.UUID takes 32 digits and whatever is around them.
        if is_of_json(value) and (type(value) is not str or len(<str>value) < 32):
            return self.refuse("invalid_uuid", NO_WORDS, value, data, frame)
        return self.by_field(value, data, frame)


cdef new_uuid(number):
    """Return a UUID with the attributes that ``uuid.UUID.__init__`` sets."""
    result = UUID.__new__(UUID)
    PyObject_GenericSetAttr(result, "int", number)
    PyObject_GenericSetAttr(result, "is_safe", UNKNOWN_SAFETY)
    return result


# ---- Analysis ----------------------------------------------------------------------


def load_uuid(analysis, field, options):
    analysis.field_method(field, "_validated", analysis.upstream.fields["UUID"])
    analysis.field_function("fields", "uuid")
    analysis.watch_original(uuid, "UUID", UUID)
    return LoadUUID(field, **options)


KINDS += [
    Kind("UUID", dump=maker_of(DumpUUID), load=load_uuid),
    *[
        Kind(name, dump=maker_of(CallDumpStep), load=maker_of(CallLoadStep))
        for name in ("IP", "IPInterface")
    ],
]
