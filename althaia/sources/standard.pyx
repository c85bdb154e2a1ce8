# cython: language_level=3, freethreading_compatible=True
"""Whether the standard library's ``json`` reads text as it does when nobody has changed it.

Its parts are noted when this module is imported, if they are the interpreter's own then, and
looked at in each call: programs replace ``json.loads``, or a method of its decoder.
"""

import json
import json.decoder
from types import FunctionType

try:
    from _json import make_scanner
except ImportError:
    make_scanner = None

cdef extern from "Python.h":
    void* PyFunction_GET_CODE(object function) noexcept
    object PyObject_GenericGetDict(object owner, void* context)

cdef dict names = vars(json)
cdef object loads = json.loads
cdef object detect_encoding = json.detect_encoding
cdef object decoder = names.get("_default_decoder")
cdef object Decoder = json.decoder.JSONDecoder
cdef object decode = Decoder.decode
cdef object raw_decode = Decoder.raw_decode
cdef object scan_once = getattr(decoder, "scan_once", None)
cdef object find_constant = getattr(scan_once, "parse_constant", None)
cdef bint standard = (
    is_own(loads, json)
    and is_own(detect_encoding, json)
    and is_own(decode, json.decoder)
    and is_own(raw_decode, json.decoder)
    and type(decoder) is Decoder
    and is_plain_scanner(scan_once)
)
cdef void* loads_code = PyFunction_GET_CODE(loads) if standard else NULL
cdef void* detect_code = PyFunction_GET_CODE(detect_encoding) if standard else NULL
cdef void* decode_code = PyFunction_GET_CODE(decode) if standard else NULL
cdef void* raw_decode_code = PyFunction_GET_CODE(raw_decode) if standard else NULL


cdef bint is_own(object function, object module) except -1:
    """Whether a function was defined by a module's own source, and is not wrapped."""
    return (
        type(function) is FunctionType
        and function.__globals__ is vars(module)
        and not vars(function)
    )


cdef bint is_plain_scanner(object scanner) except -1:
    """Whether a scanner is the interpreter's, in C, and makes what a scanner makes by itself."""
    return (
        make_scanner is not None
        and type(scanner) is make_scanner
        and scanner.strict
        and scanner.parse_float is float
        and scanner.parse_int is int
        and getattr(scanner.parse_constant, "__self__", None) is json.decoder._CONSTANTS
        and scanner.object_hook is None
        and scanner.object_pairs_hook is None
        and getattr(scanner, "array_hook", None) is None
    )


cdef bint is_untouched() except -1:
    """Whether ``json.loads(text)`` is now what it was. Runs no user code."""
    cdef dict attributes
    if (
        not standard
        or names.get("loads") is not loads
        or names.get("_default_decoder") is not decoder
        or names.get("detect_encoding") is not detect_encoding
        or type(decoder) is not Decoder
        or Decoder.decode is not decode
        or Decoder.raw_decode is not raw_decode
        or PyFunction_GET_CODE(loads) != loads_code
        or PyFunction_GET_CODE(detect_encoding) != detect_code
        or PyFunction_GET_CODE(decode) != decode_code
        or PyFunction_GET_CODE(raw_decode) != raw_decode_code
    ):
        return False
    attributes = PyObject_GenericGetDict(decoder, NULL)
    return (
        attributes.get("scan_once") is scan_once
        and "decode" not in attributes
        and "raw_decode" not in attributes
    )


cdef object the_constants():
    """``find(name)``: what ``NaN``, ``Infinity`` and ``-Infinity`` are."""
    return find_constant
