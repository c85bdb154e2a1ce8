# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""The options of ``json.dumps``, and the check that nobody has patched ``json``."""

from cpython.dict cimport PyDict_GetItemWithError
from cpython.tuple cimport PyTuple_GET_ITEM

from althaia import seam
from althaia.formats.json import shipped_encoder as standard

from althaia.cpython.functions cimport (
    althaia_function,
    althaia_has_entries,
    althaia_is_unchanged,
    althaia_note_function,
)
from althaia.formats.json.style cimport Format

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        unsigned int tp_version_tag
    object PyObject_GenericGetDict(object owner, void* context)

cdef enum:
    MOST_FUNCTIONS = 8

cdef bint SHIPPED = standard.SHIPPED
cdef tuple NAMESPACES = tuple([entry[0] for entry in standard.ENTRIES])
cdef tuple NAMES = tuple([entry[1] for entry in standard.ENTRIES])
cdef tuple VALUES = tuple([entry[2] for entry in standard.ENTRIES])
cdef object USED = standard.USED
cdef dict STATE_SHIPPED = standard.STATE_SHIPPED
cdef object JSONEncoder = standard.ENCODER
cdef dict METHODS = dict(vars(standard.ENCODER))
cdef unsigned int encoder_version = 0
cdef althaia_function[MOST_FUNCTIONS] functions
cdef int function_count = 0
cdef object ABSENT = object()

cdef Format DEFAULT = Format()
cdef dict FORMATS = {}
cdef int MOST_FORMATS = 64
cdef int LONGEST_INDENT = 100


cdef bint json_is_as_shipped():
    """Return whether ``json.dumps`` would do the same now as in an interpreter without patches."""
    global encoder_version
    cdef Py_ssize_t i
    cdef int k
    cdef unsigned int version
    if not SHIPPED:
        return False
    for i in range(len(NAMES)):
        if PyDict_GetItemWithError(
            <object>PyTuple_GET_ITEM(NAMESPACES, i), <object>PyTuple_GET_ITEM(NAMES, i)
        ) != PyTuple_GET_ITEM(VALUES, i):
            return False
    for k in range(function_count):
        if not althaia_is_unchanged(&functions[k]):
            return False
    # Read the type version before comparing the class: another thread may change the class
    # meanwhile.
    version = (<PyTypeObject*>JSONEncoder).tp_version_tag
    if encoder_version == 0 or version != encoder_version:
        if JSONEncoder.__bases__ != (object,) or not seam.has_kept(JSONEncoder, METHODS):
            return False
        encoder_version = version
    return True


cdef bint encoder_is_as_shipped():
    """Return whether ``json``'s encoder for calls without options has its original attributes."""
    return type(USED) is JSONEncoder and althaia_has_entries(
        PyObject_GenericGetDict(USED, NULL), STATE_SHIPPED
    )


cdef tuple plain_separators(object value):
    """The two texts that ``separators`` holds; None where it is anything else."""
    if type(value) is not tuple and type(value) is not list:
        return None
    separators = tuple(value)
    if len(separators) != 2 or not all([type(each) is str for each in separators]):
        return None
    return separators


cdef Format format_of(dict options):
    """Return the format for these options of ``json.dumps``.

    Return None if ``json.dumps`` must be called, because an option is not supported here or
    ``json`` is patched.
    """
    cdef bint ensure_ascii = True, allow_nan = True, sort_keys = False
    indent = separators = None
    if not json_is_as_shipped():
        return None
    if not options:
        return DEFAULT if encoder_is_as_shipped() else None
    for name, value in options.items():
        if name == "default" or (name == "cls" and value is None):
            continue
        if name == "indent":
            if type(value) is int and value <= LONGEST_INDENT:
                indent = " " * value
            elif type(value) is str or value is None:
                indent = value
            else:
                return None
        elif name == "separators":
            if value is not None:
                separators = plain_separators(value)
                if separators is None:
                    return None
        elif type(value) is not bool:
            return None
        elif name == "ensure_ascii":
            ensure_ascii = value
        elif name == "sort_keys":
            sort_keys = value
        elif name == "allow_nan":
            allow_nan = value
        elif name == "skipkeys":
            if value:
                return None
        elif name != "check_circular" or not value:
            return None
    if separators is None:
        if (
            ensure_ascii and allow_nan and not sort_keys and indent is None
            and options.get("default") is None
        ):
            # These are the defaults, for which json.dumps uses its cached encoder too.
            return DEFAULT if encoder_is_as_shipped() else None
        separators = (", ", ": ") if indent is None else (",", ": ")
    return format_for(ensure_ascii, allow_nan, sort_keys, indent, separators)


cdef Format format_for(
    bint ensure_ascii, bint allow_nan, bint sort_keys, str indent, tuple separators
):
    key = (ensure_ascii, allow_nan, sort_keys, indent, separators)
    format = FORMATS.get(key)
    if format is None:
        format = Format(
            ensure_ascii=ensure_ascii,
            allow_nan=allow_nan,
            sort_keys=sort_keys,
            indent=indent,
            separators=separators,
        )
        if len(FORMATS) < MOST_FORMATS:
            FORMATS[key] = format
    return format


cdef int note_functions() except -1:
    """Record the Python functions that ``json.dumps`` calls."""
    global function_count
    for function in standard.FUNCTIONS:
        althaia_note_function(&functions[function_count], function)
        function_count += 1
    return 0


note_functions()
