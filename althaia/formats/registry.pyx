"""The formats that compiled plans read and write without upstream's code: one row each.

A schema selects its format by its render module. A row lists the ``dumps`` and ``loads`` functions
of render modules that it replaces by its sink and its parser. To add a format, add a folder beside
``json`` and ``msgpack`` and a row here.
"""

# Opens a sink for these options of ``dumps``; None if ``dumps`` must be called with them.
ctypedef Sink (*Opener)(dict options)
# Parses the argument of ``loads``; None if ``loads`` must be called with it.
ctypedef Tape (*Reader)(object text)


@cython.final
cdef class FormatRow:
    """One row: the ``dumps`` functions that ``open`` replaces, and the ``loads`` functions that
    ``read`` replaces."""
    cdef tuple writers, readers
    cdef Opener open
    cdef Reader read


cdef FormatRow row(tuple writers, Opener open, tuple readers, Reader read):
    cdef FormatRow format = FormatRow.__new__(FormatRow)
    format.writers, format.readers = writers, readers
    format.open, format.read = open, read
    return format


# Two formats have functions of these names.
for _function, _of, _name in (
    (json_dumps, "althaia.json", "dumps"),
    (json_loads, "althaia.json", "loads"),
    (msgpack_dumps, "althaia.msgpack", "dumps"),
    (msgpack_loads, "althaia.msgpack", "loads"),
):
    _function.__module__, _function.__name__, _function.__qualname__ = _of, _name, _name

cdef tuple ROWS = (
    row(
        (standard.DUMPS, json_dumps),
        <Opener>open_json,
        (LOADS, json_loads),
        <Reader>read_json,
    ),
    row(
        (msgpack_dumps,),
        <Opener>open_msgpack,
        (msgpack_loads,),
        <Reader>read_packed,
    ),
)


cdef Sink open_sink(object module, dict options):
    """Return a sink that writes what ``module.dumps(..., **options)`` returns; None if that must be
    called."""
    cdef object writer = getattr(module, "dumps", None)
    cdef FormatRow each
    for each in ROWS:
        if writer in each.writers:
            return each.open(options)
    return None


cdef Tape read(object module, object text):
    """Return the tape for what ``module.loads(text)`` returns; None if that must be called.

    It raises what the format's reader raises for invalid text, such as MessagePackDecodeError.
    """
    cdef object reader = getattr(module, "loads", None)
    cdef FormatRow each
    for each in ROWS:
        if reader in each.readers:
            return each.read(text)
    return None


def writes(module):
    """Return whether plans write the format of this render module without upstream's code."""
    cdef object writer = getattr(module, "dumps", None)
    cdef FormatRow each
    return any([writer in each.writers for each in ROWS])
