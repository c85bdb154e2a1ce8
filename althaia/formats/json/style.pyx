"""The options of JSON text, and the keys of objects encoded with them."""

cdef extern from "althaia/formats/json/quoting.h":
    int althaia_put_quoted(
        althaia_buffer* buffer, const char* text, Py_ssize_t length
    ) except -1
    char* althaia_quote_utf8(char* at, uint32_t character) noexcept
    int althaia_put_text(althaia_buffer* buffer, object text, bint ensure_ascii) except -1

cdef extern from "althaia/formats/json/number_text.h":
    int althaia_put_small_integer(althaia_buffer* buffer, object number) except -1
    int althaia_put_double(althaia_buffer* buffer, double number) except -1

# A format forgets all sets of keys when it has remembered this many.
cdef Py_ssize_t MOST_KNOWN = 256
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

    cdef readonly bint ensure_ascii, allow_nan, sort_keys, beyond_ascii
    cdef readonly bytes item_separator, key_separator
    cdef readonly dict options
    cdef dict known

    def __init__(self, dict options):
        item_separator, key_separator = options["separators"]
        self.options = options
        self.ensure_ascii = options["ensure_ascii"]
        self.allow_nan = options["allow_nan"]
        self.sort_keys = options["sort_keys"]
        self.item_separator = utf8(item_separator)
        self.key_separator = utf8(key_separator)
        self.beyond_ascii = not (item_separator + key_separator).isascii()
        self.known = {}

    cdef JSONRecord record_of(self, tuple keys):
        """Return the record for the keys of a dictionary, all of them str.

        Return None for keys that occur for the first time: only if they occur again, a record saves
        more than making it costs.
        """
        found = self.known.get(keys)
        if found is None:
            if len(self.known) >= MOST_KNOWN:
                self.known.clear()
            self.known[keys] = MET_ONCE
            return None
        if found is MET_ONCE:
            found = self.known[keys] = JSONRecord(self, keys)
        return found


@cython.final
cdef class JSONRecord(Record):
    """The keys of an object as text, each with the separators around it, padded at the end."""

    cdef char* text
    cdef Py_ssize_t* ends
    # If keys are sorted: the indexes of the keys in the order of the text. NULL if that is the
    # order of `keys`.
    cdef Py_ssize_t* order
    cdef Py_ssize_t separator
    cdef bint beyond_ascii

    def __cinit__(self, form, tuple keys):
        cdef Format format = form
        cdef althaia_buffer buffer
        cdef Py_ssize_t i, size = len(keys)
        memset(&buffer, 0, sizeof(buffer))
        self.separator = len(format.item_separator)
        self.ends = <Py_ssize_t*>PyMem_Malloc((size + 1) * sizeof(Py_ssize_t))
        if self.ends is NULL:
            raise MemoryError
        try:
            self.ends[0] = 0
            for i in range(size):
                althaia_put_bytes(&buffer, <const char*>format.item_separator, self.separator)
                althaia_put_text(&buffer, keys[i], format.ensure_ascii)
                althaia_put_bytes(
                    &buffer, <const char*>format.key_separator, len(format.key_separator)
                )
                self.ends[i + 1] = buffer.size
            memset(althaia_reserve(&buffer, ALTHAIA_PADDING), 0, ALTHAIA_PADDING)
        finally:
            self.text = buffer.data
            self.beyond_ascii = buffer.beyond_ascii
        if format.sort_keys and list(keys) != sorted(keys):
            self.order = <Py_ssize_t*>PyMem_Malloc(size * sizeof(Py_ssize_t))
            if self.order is NULL:
                raise MemoryError
            for i, key in enumerate(sorted(keys)):
                self.order[i] = keys.index(key)

    def __dealloc__(self):
        PyMem_Free(self.text)
        PyMem_Free(self.ends)
        PyMem_Free(self.order)


cdef Format DEFAULT = Format(OPTIONS)


cdef bint is_plain_option(str name, object value) except -1:
    """Return whether an option of a format has a value that needs no conversion."""
    if name != "separators":
        return type(value) is bool
    return type(value) is tuple and len(value) == 2 and all([type(each) is str for each in value])


cdef Format format_of(dict options):
    """Return the format for these options of ``json.dumps``.

    Return None if ``json.dumps`` must be called, because an option is not supported here or
    ``json`` is patched.
    """
    cdef dict chosen
    if not json_is_as_shipped():
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
