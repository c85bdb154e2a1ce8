# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
# cython: cdivision=True
"""What dumps write to and loads read from: sinks and tapes, JSON and MessagePack.

May import ``cpython`` and ``seam``.
"""

import builtins
import inspect
import json as standard_json
import sys
from contextlib import suppress

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.conversion cimport PyOS_string_to_double
from cpython.dict cimport PyDict_Keys, PyDict_SetItem
from cpython.float cimport PyFloat_AS_DOUBLE
from cpython.list cimport PyList_Append, PyList_AsTuple
from cpython.mapping cimport PyMapping_Items
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Realloc
from cpython.object cimport Py_SIZE, Py_TYPE, PyObject, PyObject_GenericGetDict, PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.sequence cimport PySequence_Fast
from cpython.tuple cimport PyTuple_GET_ITEM
from cpython.unicode cimport (
    PyUnicode_DATA,
    PyUnicode_DecodeLatin1,
    PyUnicode_DecodeUTF8,
    PyUnicode_FromEncodedObject,
    PyUnicode_KIND,
    PyUnicode_New,
    PyUnicode_Substring,
)
from libc.math cimport isfinite
from libc.stdint cimport int64_t, int8_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memchr, memcpy

from althaia import seam

from althaia.cpython.primitives cimport (
    ALTHAIA_HAS_GIL,
    althaia_dict_version,
    althaia_has_noted_version,
    althaia_note_version,
    althaia_same_entries,
    althaia_same_entry,
)

include "tape.pyx"
include "keys.pyx"
include "json/shipped.pyx"
include "json/style.pyx"
include "json/json_parser.pyx"
include "json/json_writer.pyx"
include "msgpack/msgpack_parser.pyx"
include "msgpack/msgpack_writer.pyx"
include "registry.pyx"
