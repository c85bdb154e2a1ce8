# cython: language_level=3, freethreading_compatible=True
"""The check that nobody has patched ``json.loads``.

The parts of ``json`` are recorded when this module is imported, if they are the interpreter's own
at that time. Each call compares them, because programs replace ``json.loads`` or a method of its
decoder.
"""

from types import FunctionType

from althaia import seam

from althaia.cpython.functions cimport althaia_function, althaia_is_unchanged, althaia_note_function

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        unsigned int tp_version_tag
    object PyObject_GenericGetDict(object owner, void* context)

cdef bint standard = False
cdef dict names = None
cdef object loads = None
cdef object detect_encoding = None
cdef object decoder = None
cdef object Decoder = None
cdef dict methods = {}
cdef unsigned int decoder_version = 0
cdef object scan_once = None
cdef object find_constant = None
cdef althaia_function[4] functions


cdef int note_parts() except -1:
    """Record the objects that ``json.loads`` uses."""
    cdef int i
    global standard, names, loads, detect_encoding, decoder, Decoder, methods
    global scan_once, find_constant
    import json.decoder
    names = vars(json)
    loads = json.loads
    detect_encoding = json.detect_encoding
    decoder = names["_default_decoder"]
    Decoder = json.decoder.JSONDecoder
    methods = dict(vars(Decoder))
    decode, raw_decode = methods["decode"], methods["raw_decode"]
    scan_once = decoder.scan_once
    if (
        is_own(loads, json)
        and is_own(detect_encoding, json)
        and is_own(decode, json.decoder)
        and is_own(raw_decode, json.decoder)
        and has_plain_defaults(loads.__kwdefaults__)
        and type(decoder) is Decoder
        and is_plain_scanner(scan_once, json.decoder._CONSTANTS)
    ):
        find_constant = scan_once.parse_constant
        for i, function in enumerate((loads, detect_encoding, decode, raw_decode)):
            althaia_note_function(&functions[i], function)
        standard = True
    return 0


cdef bint is_own(object function, object module) except -1:
    """Return whether a function was defined by a module's own source and is not wrapped."""
    return (
        type(function) is FunctionType
        and function.__globals__ is vars(module)
        and not vars(function)
    )


cdef bint has_plain_defaults(dict defaults) except -1:
    """Return whether all options of ``json.loads`` are None by default."""
    return not any([value is not None for value in defaults.values()])


cdef bint is_plain_scanner(object scanner, object constants) except -1:
    """Return whether a scanner is the interpreter's C scanner with the default options."""
    from _json import make_scanner
    return (
        type(scanner) is make_scanner
        and scanner.strict
        and scanner.parse_float is float
        and scanner.parse_int is int
        and getattr(scanner.parse_constant, "__self__", None) is constants
        and scanner.object_hook is None
        and scanner.object_pairs_hook is None
        and getattr(scanner, "array_hook", None) is None
    )


cdef bint class_is_untouched() except -1:
    """Return whether the decoder's class has its original attributes and inherits none."""
    global decoder_version
    # Read the type version before comparing the class: another thread may change the class
    # meanwhile.
    cdef unsigned int version = (<PyTypeObject*>Decoder).tp_version_tag
    if version != 0 and version == decoder_version:
        return True
    if Decoder.__bases__ != (object,) or not seam.has_kept(Decoder, methods):
        return False
    decoder_version = version
    return True


cdef bint is_untouched() except -1:
    """Return whether ``json.loads(text)`` would do the same now as at import. Runs no user code."""
    cdef dict attributes
    if (
        not standard
        or names.get("loads") is not loads
        or names.get("_default_decoder") is not decoder
        or names.get("detect_encoding") is not detect_encoding
        or type(decoder) is not Decoder
        or not class_is_untouched()
        or not althaia_is_unchanged(&functions[0])
        or not althaia_is_unchanged(&functions[1])
        or not althaia_is_unchanged(&functions[2])
        or not althaia_is_unchanged(&functions[3])
    ):
        return False
    attributes = PyObject_GenericGetDict(decoder, NULL)
    return (
        attributes.get("scan_once") is scan_once
        and "decode" not in attributes
        and "raw_decode" not in attributes
    )


cdef object the_constants():
    """Return the function that returns the values of ``NaN``, ``Infinity`` and ``-Infinity``."""
    return find_constant


try:
    note_parts()
except Exception:
    # A program has replaced a part of json by an object of another kind: json is patched.
    pass
