# cython: language_level=3, freethreading_compatible=True
"""Text as the render module of a schema would load it, parsed into a tape."""

import json
from types import ModuleType

from althaia.formats.json import json_parser as _json
from althaia.formats.msgpack import msgpack_parser as _msgpack

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE

from althaia.formats.json.json_parser cimport read_json
from althaia.formats.msgpack.msgpack_parser cimport is_msgpack, read_msgpack
from althaia.formats.tape cimport Tape

cdef object json_loads = _json.loads
cdef object msgpack_loads = _msgpack.loads


cdef Tape read(object module, object text):
    """The tape of what ``module.loads(text)`` returns, or None where it is to be called.

    The standard library's ``json`` and our own two modules are known.

    :raises MessagePackDecodeError: as ``althaia.msgpack.loads``.
    """
    if module is json:
        return read_json(text)
    if type(module) is not ModuleType:
        return None
    loads = (<dict>module.__dict__).get("loads")
    if loads is json_loads:
        return read_json(text)
    if loads is not msgpack_loads or type(text) is not bytes:
        return None
    if is_msgpack(<const unsigned char*>PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text)):
        return read_msgpack(text)
    return read_json(text)
