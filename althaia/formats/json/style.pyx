"""The options of JSON text, and the keys of objects encoded with them."""

cdef extern from "althaia/formats/walking.h":
    void* althaia_item(object items, Py_ssize_t index)
    bint althaia_values_by_keys(dict mapping, tuple keys, PyObject** values)

cdef enum:
    # Dictionaries with more keys rarely have the same keys as others.
    MOST_KEYS = 64
    # The number of recent records that are compared with a dictionary.
    FEW_RECORDS = 8
    # A format forgets all sets of keys when it has remembered this many.
    MOST_KNOWN = 256

cdef object MET_ONCE = "met once"
# The options of which a format is made.
cdef dict OPTIONS = {
    "ensure_ascii": True, "allow_nan": True, "sort_keys": False, "separators": (", ", ": "),
}
cdef tuple NONE_OPTIONS = ("cls", "indent", "separators")
# The formats by the values of OPTIONS.
cdef dict FORMATS = {}
cdef int MOST_FORMATS = 64


cdef bytes utf8(str text):
    return text.encode("utf-8", "surrogatepass")


@cython.final
cdef class Format:
    """The options of ``json.dumps`` for text without line breaks, except ``default``."""

    def __init__(self, dict options):
        item_separator, key_separator = options["separators"]
        self.options = options
        self.ensure_ascii = options["ensure_ascii"]
        self.allow_nan = options["allow_nan"]
        self.sort_keys = options["sort_keys"]
        self.item_separator = utf8(item_separator)
        self.key_separator = utf8(key_separator)
        self.known = {}


@cython.final
cdef class Record:
    """The keys of dictionaries, all ``str`` and each once, with the separators around them.

    :param format: only its sinks can use the record.
    """

    def __cinit__(self, Format format, tuple keys):
        cdef Py_ssize_t i, end = 0, size = len(keys)
        order = sorted(range(size), key=keys.__getitem__) if format.sort_keys else range(size)
        quoted = quote_ascii if format.ensure_ascii else quote
        texts = [
            format.item_separator + utf8(quoted(key)) + format.key_separator for key in keys
        ]
        self.format = format
        self.keys = keys
        self.text = b"".join([*texts, bytes(ALTHAIA_PADDING)])
        self.beyond_ascii = not self.text.isascii()
        self.encoded.order = <Py_ssize_t*>PyMem_Calloc(2 * size + 1, sizeof(Py_ssize_t))
        if self.encoded.order is NULL:
            raise MemoryError
        self.encoded.text = PyBytes_AS_STRING(self.text)
        self.encoded.ends = self.encoded.order + size + 1
        self.encoded.count = size
        self.encoded.separator = len(format.item_separator)
        for i in range(size):
            end += len(<bytes>texts[i])
            self.encoded.ends[i] = end
            self.encoded.order[i] = order[i]

    def __dealloc__(self):
        PyMem_Free(self.encoded.order)


cdef Record known_record(Format format, dict mapping, PyObject** values, list recent):
    """Return a record for the keys of a dictionary and take its values. ``recent`` has the
    caller's last ones.

    Return None if there is none, because a key is not str, or because these keys occur for the
    first time: only if they occur again, a record saves more than making it costs.
    """
    cdef Record record
    cdef tuple keys
    if len(mapping) > MOST_KEYS:
        return None
    for record in recent:
        if althaia_values_by_keys(mapping, record.keys, values):
            return record
    # Not by iterating in Python: the GC may run user code that changes the dictionary.
    keys = tuple(PyDict_Keys(mapping))
    if not all([type(key) is str for key in keys]):
        return None
    found = format.known.get(keys)
    if found is None:
        if len(format.known) >= MOST_KNOWN:
            format.known.clear()
        format.known[keys] = MET_ONCE
        return None
    record = Record(format, keys) if found is MET_ONCE else found
    format.known[keys] = record
    # Nothing is allocated once the values are taken, because the caller owns them only then.
    del recent[FEW_RECORDS - 1:]
    recent.insert(0, record)
    if althaia_values_by_keys(mapping, record.keys, values):
        return record
    # The keys are other objects with the same text, or user code that the GC ran has changed
    # the dictionary.
    del recent[0]
    return None


cdef Format DEFAULT = Format(OPTIONS)


cdef bint is_plain_option(str name, value):
    """Return whether an option of a format has a value that needs no conversion."""
    if name != "separators":
        return type(value) is bool
    return type(value) is tuple and len(value) == 2 and all([
        type(each) is str and each.isascii() for each in value
    ])


cdef Format format_of(dict options):
    """Return the format for these options of ``json.dumps``.

    Return None if ``json.dumps`` must be called, because an option is not supported here or
    ``json`` is patched.
    """
    cdef dict chosen
    if not shipped or not encoder.holds():
        return None
    if not options:
        return DEFAULT
    chosen = OPTIONS.copy()
    for name, value in options.items():
        if name == "default" or (value is None and name in NONE_OPTIONS):
            continue
        if name not in chosen or not is_plain_option(name, value):
            return None
        chosen[name] = value
    key = tuple(chosen.values())
    format = FORMATS.get(key)
    if format is None:
        format = Format(chosen)
        if len(FORMATS) < MOST_FORMATS:
            FORMATS[key] = format
    return format
