"""Whether the module ``json`` is unpatched.

Programs replace ``JSONEncoder.default``, the default encoder, a method of the decoder, and so on.
When this module is imported, it checks that the parts of ``json`` are the interpreter's own, and
records them. Each call compares them with the record.
"""

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        unsigned int tp_version_tag
        const char* tp_name
    object PyObject_GenericGetDict(object owner, void* context)


cdef bint shipped = False
# Global names that dumps() and loads() use; namespace, name and value of each.
cdef tuple NAMESPACES = (), NAMES = (), VALUES = ()
# JSONEncoder and JSONDecoder, and their attributes; their default instances, and their attributes.
cdef tuple CLASSES = (), METHODS = (), INSTANCES = (), STATE_NAMES = (), STATES = ()
# The type versions of the two classes when their attributes were last compared.
cdef unsigned int[2] versions
# json's own functions in C that quote text, in ASCII and not.
cdef object quote_ascii = None, quote = None
cdef object find_constant = None
cdef object ABSENT = object()


cdef bint json_is_as_shipped() except -1:
    """Return whether ``json.dumps`` and ``json.loads`` would do the same now as in an interpreter
    without patches. Runs no user code."""
    cdef Py_ssize_t i
    if not shipped:
        return False
    for i in range(len(NAMES)):
        if PyDict_GetItemWithError(
            <object>PyTuple_GET_ITEM(NAMESPACES, i), <object>PyTuple_GET_ITEM(NAMES, i)
        ) != PyTuple_GET_ITEM(VALUES, i):
            return False
    for i in range(2):
        cls, instance = <object>PyTuple_GET_ITEM(CLASSES, i), <object>PyTuple_GET_ITEM(INSTANCES, i)
        if (
            type(instance) is not cls
            or not has_kept_class(cls, i)
            or not althaia_same_entries(
                PyObject_GenericGetDict(instance, NULL),
                <tuple>PyTuple_GET_ITEM(STATE_NAMES, i),
                <tuple>PyTuple_GET_ITEM(STATES, i),
                ABSENT,
            )
        ):
            return False
    return True


cdef bint has_kept_class(object cls, Py_ssize_t i) except -1:
    """Return whether a class has its original attributes and inherits none."""
    # Read the type version before comparing the class: another thread may change the class
    # meanwhile.
    cdef unsigned int version = (<PyTypeObject*>cls).tp_version_tag
    if version == 0 or version != versions[i]:
        if cls.__bases__ != (object,) or not seam.has_kept(cls, METHODS[i]):
            return False
        versions[i] = version
    return True


cdef int record() except -1:
    """Record the parts of ``json``, and find out whether they are the interpreter's own."""
    global shipped, NAMESPACES, NAMES, VALUES, CLASSES, METHODS, INSTANCES, STATE_NAMES, STATES
    global quote_ascii, quote, find_constant
    import _json
    import json.decoder
    import json.encoder
    package, encoder = vars(json), vars(json.encoder)
    quote_ascii, quote = _json.encode_basestring_ascii, _json.encode_basestring
    entries = [
        *((package, name) for name in (
            "JSONEncoder", "_default_encoder", "_default_decoder", "detect_encoding",
        )),
        *((encoder, name) for name in (
            "c_make_encoder", "encode_basestring", "encode_basestring_ascii",
        )),
    ]
    NAMESPACES = tuple([namespace for namespace, _ in entries])
    NAMES = tuple([name for _, name in entries])
    VALUES = tuple([namespace[name] for namespace, name in entries])
    CLASSES = (json.encoder.JSONEncoder, json.decoder.JSONDecoder)
    METHODS = tuple([dict(vars(cls)) for cls in CLASSES])
    INSTANCES = (package["_default_encoder"], package["_default_decoder"])
    STATE_NAMES = tuple([tuple(vars(instance)) for instance in INSTANCES])
    STATES = tuple([tuple(vars(instance).values()) for instance in INSTANCES])
    find_constant = json._default_decoder.scan_once.parse_constant
    homes = [id(package), id(encoder), id(vars(json.decoder))]
    functions = [
        json.dumps, json.loads, json.detect_encoding,
        *(each for methods in METHODS for each in methods.values() if callable(each)),
    ]
    shipped = (
        all([id(getattr(function, "__globals__", None)) in homes for function in functions])
        and (CLASSES[0].item_separator, CLASSES[0].key_separator) == (", ", ": ")
        and encoder["c_make_encoder"] is _json.make_encoder
        and encoder["encode_basestring"] is quote
        and encoder["encode_basestring_ascii"] is quote_ascii
        and all([
            type(instance) is cls
            and {**vars(instance), "scan_once": None} == {**vars(cls()), "scan_once": None}
            for instance, cls in zip(INSTANCES, CLASSES)
        ])
        and type(json._default_decoder.scan_once) is _json.make_scanner
    )
    return 0


try:
    record()
except Exception:
    # A program has replaced a part of json by an object of another kind: json is patched.
    pass
