"""The module ``json``, and whether it is unpatched.

Programs replace ``JSONEncoder.default``, the default encoder, a method of the decoder, and so on.
When this module is imported, it checks that these are the interpreter's own, and records them. Each
call compares them with the record.
"""


# marshmallow's own. A program may have replaced ``sys.modules["json"]`` since.
json = seam.defined.get("schema", {}).get("json", standard_json)
# The interpreter's own, which are called if a program has replaced json's functions by ours.
DUMPS, LOADS = json.dumps, json.loads
cdef bint shipped = False
cdef Kept encoder = None, decoder = None
# json's own functions in C: two quote text, in ASCII and not; one reads a string up to its end.
cdef object quote_ascii = None, quote = None
cdef object find_constant = None, scan_once = None
# JSONDecodeError, and an encoder that refuses floats which are not finite.
cdef object decode_error = None, refuse_float = None


@cython.final
cdef class Kept:
    """A class of json's with its default instance, and the attributes of both.

    :param used: what dumps() or loads() look up for it: dictionary, name and value of each.
    """

    cdef object cls, instance, state
    cdef dict methods
    cdef tuple used, attributes, contents
    # A package's, a module's and the instance's.
    cdef tuple dictionaries
    # The type version of the class, and the dict versions, when all was last compared.
    cdef unsigned int version
    cdef uint64_t[3] versions

    def __cinit__(self, instance, *used):
        self.cls, self.instance, self.state = type(instance), instance, vars(instance)
        self.used = used
        self.dictionaries = (used[0][0], used[len(used) - 1][0], self.state)
        self.methods = dict(vars(self.cls))
        self.attributes, self.contents = tuple(self.state), tuple(self.state.values())

    cdef bint holds(self) except -1:
        """Return whether json would still do the same with it as in an interpreter without patches.
        Runs no user code."""
        # Read before anything is compared: another thread may change it meanwhile.
        cdef unsigned int version = (<PyTypeObject*>self.cls).tp_version_tag
        cdef uint64_t[3] now
        cdef bint same = version != 0 and version == self.version
        cdef int i
        for i in range(3):
            mapping = <object>PyTuple_GET_ITEM(self.dictionaries, i)
            now[i] = althaia_dict_version(mapping)
            same = same and althaia_has_noted_version(mapping, &self.versions[i])
        if type(self.instance) is not self.cls or (
            PyObject_GenericGetDict(self.instance, NULL) is not self.state
        ):
            return False
        if not same:
            if not self.compare(version):
                return False
            for i in range(3):
                althaia_note_version(&self.versions[i], now[i])
        return True

    cdef bint compare(self, unsigned int version) except -1:
        """Do so by comparing all of it, except a class that has a type version it had before."""
        for mapping, name, value in self.used:
            if not althaia_same_entry(mapping, name, value, self):
                return False
        if not althaia_same_entries(self.state, self.attributes, self.contents, self):
            return False
        if version == 0 or version != self.version:
            if not seam.has_kept(self.cls, self.methods):
                return False
            self.version = version
        return True


cdef int record():
    """Record the parts of ``json``, and find out whether they are the interpreter's own."""
    global shipped, encoder, decoder
    global quote_ascii, quote, find_constant, scan_once, decode_error, refuse_float
    import _json
    import json.decoder
    import json.encoder
    package, module, reading = vars(json), vars(json.encoder), vars(json.decoder)
    quote_ascii, quote = _json.encode_basestring_ascii, _json.encode_basestring
    encoder = Kept(
        json._default_encoder,
        (package, "JSONEncoder", json.encoder.JSONEncoder),
        (package, "_default_encoder", json._default_encoder),
        (module, "c_make_encoder", _json.make_encoder),
        (module, "encode_basestring", quote),
        (module, "encode_basestring_ascii", quote_ascii),
    )
    decoder = Kept(
        json._default_decoder,
        (package, "_default_decoder", json._default_decoder),
        (package, "detect_encoding", json.detect_encoding),
        (reading, "JSONDecodeError", json.JSONDecodeError),
    )
    decode_error = json.JSONDecodeError
    refuse_float = _json.make_encoder(None, None, quote, None, "", "", False, False, False)
    scan_once = json._default_decoder.scan_once
    find_constant = scan_once.parse_constant
    homes = [id(package), id(module), id(reading)]
    functions = [
        DUMPS, LOADS, json.detect_encoding,
        *filter(callable, (*encoder.methods.values(), *decoder.methods.values())),
    ]
    shipped = (
        all([id(getattr(function, "__globals__", None)) in homes for function in functions])
        and encoder.cls is json.encoder.JSONEncoder
        and decoder.cls is json.decoder.JSONDecoder
        and (encoder.cls.item_separator, encoder.cls.key_separator) == (", ", ": ")
        and vars(json._default_encoder) == vars(encoder.cls())
        and type(json._default_decoder.scan_once) is _json.make_scanner
        and {**vars(json._default_decoder), "scan_once": None}
        == {**vars(decoder.cls()), "scan_once": None}
    )


try:
    record()
except Exception:
    # A program has replaced a part of json by an object of another kind: json is patched.
    pass


cdef standard(present, original):
    """Return the function that ``json`` has now; the interpreter's own where that is ours."""
    return original if getattr(present, "__module__", None) == "althaia.json" else present


def unserializable(value):
    """Raise json's own TypeError; used as ``default`` if there is none."""
    return json.JSONEncoder().default(value)
