"""The options of ``json.dumps``."""

cdef Format DEFAULT = Format()
cdef dict FORMATS = {}
cdef int MOST_FORMATS = 64
cdef int LONGEST_INDENT = 100


cdef tuple plain_separators(object value):
    """Return ``separators`` as a tuple of two str; None if it is anything else."""
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
        return DEFAULT
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
        separators = (", ", ": ") if indent is None else (",", ": ")
    return format_for((ensure_ascii, allow_nan, sort_keys, indent, separators))


cdef Format format_for(tuple key):
    format = FORMATS.get(key)
    if format is None:
        format = Format(*key)
        if len(FORMATS) < MOST_FORMATS:
            FORMATS[key] = format
    return format
