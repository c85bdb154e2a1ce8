"""The formats that compiled plans read and write without upstream's code.

A schema selects its format by its render module, whose ``dumps`` and ``loads`` a format's sink and
parser replace. To add a format, add a folder beside ``json`` and ``msgpack``, and its functions
here.
"""

cdef tuple JSON_WRITERS = (DUMPS, json_dumps)
cdef tuple JSON_READERS = (LOADS, json_loads)

# Two formats have functions of these names.
for _function, _of, _name in (
    (json_dumps, "althaia.json", "dumps"),
    (json_loads, "althaia.json", "loads"),
    (msgpack_dumps, "althaia.msgpack", "dumps"),
    (msgpack_loads, "althaia.msgpack", "loads"),
):
    _function.__module__, _function.__name__, _function.__qualname__ = _of, _name, _name


cdef Sink open_sink(object module, dict options):
    """Return a sink that writes what ``module.dumps(..., **options)`` returns; None if that must be
    called."""
    cdef object writer = getattr(module, "dumps", None)
    if writer in JSON_WRITERS:
        return open_json(options)
    return open_msgpack(options) if writer is msgpack_dumps else None


cdef Tape read(object module, object text):
    """Return the tape for what ``module.loads(text)`` returns; None if that must be called.

    It raises what the format's reader raises for invalid text, such as MessagePackDecodeError.
    """
    cdef object reader = getattr(module, "loads", None)
    if reader in JSON_READERS:
        return read_json(text)
    return read_packed(text) if reader is msgpack_loads else None


def writes(module):
    """Return whether plans write the format of this render module without upstream's code."""
    return getattr(module, "dumps", None) in (*JSON_WRITERS, msgpack_dumps)
