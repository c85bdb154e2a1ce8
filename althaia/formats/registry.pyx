"""The formats that compiled plans read and write without upstream's code. A schema selects its
format by its render module.

To add a format, add a folder beside ``json`` and ``msgpack``, and its functions here.
"""

cdef tuple JSON_WRITERS = (DUMPS, json_dumps), JSON_READERS = (LOADS, json_loads)

# Two formats have functions of these names.
for _function, _of, _name in (
    (json_dumps, "althaia.json", "dumps"),
    (json_loads, "althaia.json", "loads"),
    (msgpack_dumps, "althaia.msgpack", "dumps"),
    (msgpack_loads, "althaia.msgpack", "loads"),
):
    _function.__module__, _function.__name__, _function.__qualname__ = _of, _name, _name


cpdef bint writes(module):
    """Return whether plans write what this render module's ``dumps`` returns."""
    return getattr(module, "dumps", None) in JSON_WRITERS


cdef Sink open_sink(module, dict options):
    """Return a sink for what ``module.dumps(..., **options)`` returns; None if that must be
    called."""
    return sink_of(options) if writes(module) else None


cdef Tape parse(module, text):
    """Return the tape for what ``module.loads(text)`` returns; None if that must be called.

    It raises what the format's parser raises for invalid text, such as MessagePackDecodeError.
    """
    loads = getattr(module, "loads", None)
    if loads in JSON_READERS:
        return parse_json(text)
    return parse_msgpack(text) if loads is msgpack_loads else None
