# cython: language_level=3, freethreading_compatible=True
"""The formats of text and bytes that plans read and write themselves: one row each.

A schema names its format by its render module. A row says which ``dumps`` and ``loads`` of a
module its two functions stand for. A further format is a folder beside ``json`` and ``msgpack``
and a row here.
"""

import json
from types import ModuleType

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

# Opens a sink for these options of ``dumps``; None where ``dumps`` has to judge them itself.
ctypedef Sink (*Opener)(dict options)
# Parses what ``loads`` is given; None where ``loads`` has to be called.
ctypedef Tape (*Reader)(object text)


@cython.final
cdef class Format:
    """One row: the ``dumps`` functions that ``open`` stands for, and the ``loads`` functions and
    whole modules that ``read`` stands for."""
    cdef tuple writers, readers, modules
    cdef Opener open
    cdef Reader read


cdef Format row(tuple writers, Opener open, tuple readers, tuple modules, Reader read):
    cdef Format made = Format.__new__(Format)
    made.writers, made.readers, made.modules = writers, readers, modules
    made.open, made.read = open, read
    return made


cdef tuple FORMATS = (
    row(
        (_shipped_encoder.DUMPS, _json_writer.dumps),
        <Opener>open_json,
        (_json_parser.loads,),
        # Its parser asks itself whether the module's functions are as they were shipped.
        (json,),
        <Reader>read_json,
    ),
    row(
        (_msgpack_writer.dumps,),
        <Opener>open_msgpack,
        (_msgpack_parser.loads,),
        (),
        <Reader>read_packed,
    ),
)


cdef bint has(tuple functions, object function):
    """Return whether this very function is among some."""
    for each in functions:
        if each is function:
            return function is not None
    return False


cdef object function_of(object module, str name):
    """Return a function of a render module; None where that is no module, whose attributes may be
    computed."""
    return (<dict>module.__dict__).get(name) if type(module) is ModuleType else None


cdef Sink open_sink(object module, dict options):
    """Return a sink for what ``module.dumps(..., **options)`` writes, or None where that is to be
    called."""
    cdef object writer = function_of(module, "dumps")
    cdef Format each
    for each in FORMATS:
        if has(each.writers, writer):
            return each.open(options)
    return None


cdef Tape read(object module, object text):
    """Return the tape of what ``module.loads(text)`` returns, or None where that is to be called.

    :raises MessagePackDecodeError: as ``althaia.msgpack.loads``.
    """
    cdef object reader = function_of(module, "loads")
    cdef Format each
    for each in FORMATS:
        if has(each.modules, module) or has(each.readers, reader):
            return each.read(text)
    return None


def writes(module):
    """Return whether plans write the format of a render module themselves."""
    cdef object writer = getattr(module, "dumps", None)
    cdef Format each
    return any([has(each.writers, writer) for each in FORMATS])
