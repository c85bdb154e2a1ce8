"""The options of JSON text, and the keys of objects encoded with them."""

cdef extern from "althaia/formats/json/quoting.h":
    int althaia_put_text(althaia_buffer* buffer, object text, bint ensure_ascii) except -1

cdef extern from "althaia/formats/json/number_text.h":
    int ALTHAIA_LONGEST_NUMBER
    int althaia_put_small_integer(althaia_buffer* buffer, object number) except -1
    int althaia_put_double(althaia_buffer* buffer, double number) except -1

# A format forgets all sets of keys when it has remembered this many.
cdef Py_ssize_t MOST_KNOWN = 256
cdef object MET_ONCE = "met once"


cdef bytes utf8(str text):
    return text.encode("utf-8", "surrogatepass")


@cython.final
cdef class Format:
    """The options of ``json.dumps`` except ``default``.

    :param indent: the indentation of one level, or None to write a single line.
    """

    cdef readonly bint ensure_ascii, allow_nan, sort_keys, beyond_ascii
    cdef readonly bytes item_separator, key_separator, indent
    cdef readonly dict options
    cdef dict known

    def __init__(
        self, bint ensure_ascii=True, bint allow_nan=True, bint sort_keys=False,
        str indent=None, tuple separators=(", ", ": "),
    ):
        item_separator, key_separator = separators
        self.ensure_ascii = ensure_ascii
        self.allow_nan = allow_nan
        self.sort_keys = sort_keys
        self.item_separator = utf8(item_separator)
        self.key_separator = utf8(key_separator)
        self.indent = None if indent is None else utf8(indent)
        self.beyond_ascii = not (item_separator + key_separator + (indent or "")).isascii()
        self.known = {}
        self.options = {
            "ensure_ascii": ensure_ascii,
            "allow_nan": allow_nan,
            "sort_keys": sort_keys,
            "indent": indent,
            "separators": separators,
        }

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
    """The keys of an object as text, each with the separators around it."""

    cdef bytes text
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
                if format.indent is None:
                    althaia_put_bytes(
                        &buffer, <const char*>format.item_separator, self.separator
                    )
                althaia_put_text(&buffer, keys[i], format.ensure_ascii)
                althaia_put_bytes(
                    &buffer, <const char*>format.key_separator, len(format.key_separator)
                )
                self.ends[i + 1] = buffer.size
            self.text = PyBytes_FromStringAndSize(buffer.data, buffer.size)
            self.beyond_ascii = buffer.beyond_ascii
        finally:
            althaia_buffer_free(&buffer)
        if format.sort_keys and list(keys) != sorted(keys):
            self.order = <Py_ssize_t*>PyMem_Malloc(size * sizeof(Py_ssize_t))
            if self.order is NULL:
                raise MemoryError
            for i, key in enumerate(sorted(keys)):
                self.order[i] = keys.index(key)

    def __dealloc__(self):
        PyMem_Free(self.ends)
        PyMem_Free(self.order)
