# cython: language_level=3, freethreading_compatible=True
"""The formats that compiled plans read and write without upstream's code: one row each.

A schema selects its format by its render module. A row lists the ``dumps`` and ``loads`` functions
of render modules that it replaces by its sink and its parser. To add a format, add a folder beside
``json`` and ``msgpack`` and a row here.
"""

cimport cython

from althaia.formats.json import json_parser as _json_parser
from althaia.formats.json import json_writer as _json_writer
from althaia.formats.json import shipped_encoder as _shipped_encoder
from althaia.formats.msgpack import msgpack_parser as _msgpack_parser
from althaia.formats.msgpack import msgpack_writer as _msgpack_writer

from althaia.formats.json.json_parser cimport read_json
from althaia.formats.json.json_writer cimport open_json
from althaia.formats.msgpack.msgpack_parser cimport read_packed
from althaia.formats.msgpack.msgpack_writer cimport open_msgpack
from althaia.formats.sink cimport Sink
from althaia.formats.tape cimport Tape

# Opens a sink for these options of ``dumps``; None if ``dumps`` must be called with them.
ctypedef Sink (*Opener)(dict options)
# Parses the argument of ``loads``; None if ``loads`` must be called with it.
ctypedef Tape (*Reader)(object text)


@cython.final
cdef class Format:
    """One row: the ``dumps`` functions that ``open`` replaces, and the ``loads`` functions that
    ``read`` replaces."""
    cdef tuple writers, readers
    cdef Opener open
    cdef Reader read


cdef Format row(tuple writers, Opener open, tuple readers, Reader read):
    cdef Format format = Format.__new__(Format)
    format.writers, format.readers = writers, readers
    format.open, format.read = open, read
    return format


cdef tuple FORMATS = (
    row(
        (_shipped_encoder.DUMPS, _json_writer.dumps),
        <Opener>open_json,
        (_json_parser.LOADS, _json_parser.loads),
        <Reader>read_json,
    ),
    row(
        (_msgpack_writer.dumps,),
        <Opener>open_msgpack,
        (_msgpack_parser.loads,),
        <Reader>read_packed,
    ),
)


cdef Sink open_sink(object module, dict options):
    """Return a sink that writes what ``module.dumps(..., **options)`` returns; None if that must be
    called."""
    cdef object writer = getattr(module, "dumps", None)
    cdef Format each
    for each in FORMATS:
        if writer in each.writers:
            return each.open(options)
    return None


cdef Tape read(object module, object text):
    """Return the tape for what ``module.loads(text)`` returns; None if that must be called.

    It raises what the format's reader raises for invalid text, such as MessagePackDecodeError.
    """
    cdef object reader = getattr(module, "loads", None)
    cdef Format each
    for each in FORMATS:
        if reader in each.readers:
            return each.read(text)
    return None


def writes(module):
    """Return whether plans write the format of this render module without upstream's code."""
    cdef object writer = getattr(module, "dumps", None)
    cdef Format each
    return any([writer in each.writers for each in FORMATS])
