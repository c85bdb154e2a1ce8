# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""What all floors of the engine rest on: what a plan consists of (guard, template, options), the
served marshmallow's names, and counters. Runs no calls.

May import ``formats`` and ``cpython``.
"""

from types import FunctionType
from weakref import KeyedRef

cimport cython
from cpython.dict cimport PyDict_Copy, PyDict_Update
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyObject, PyObject_GenericGetDict, PyTypeObject
from cpython.ref cimport Py_REFCNT
from cpython.tuple cimport PyTuple_GET_ITEM
from libc.stdint cimport uint64_t

from althaia import seam

from althaia.cpython.primitives cimport (
    ALTHAIA_DICT, ALTHAIA_HAS_GIL, ALTHAIA_KEYS, ALTHAIA_KNOWS_DICT_VERSIONS, ALTHAIA_KNOWS_ENTRIES,
    ALTHAIA_KNOWS_INLINE_VALUES, ALTHAIA_RECORD_SIZE, ALTHAIA_TYPE_TAG, ALTHAIA_VALUES,
    althaia_all_hold, althaia_copy_inline, althaia_counted, althaia_dict_item,
    althaia_dict_or_none, althaia_epoch, althaia_has_noted_version, althaia_has_python_dict,
    althaia_knows_gc, althaia_lies_in_order, althaia_lists_hold, althaia_note_version,
    althaia_read_as_dict, althaia_same_entries, althaia_same_entry, althaia_start_watching,
    althaia_type_lookup, althaia_type_lookup_or, althaia_type_tag, althaia_types_hold,
    althaia_version_to_note, althaia_watched, althaia_watched_place,
)

include "plan/not_plannable.pyx"
include "plan/guard.pyx"
include "plan/instance_dict.pyx"
include "plan/template.pyx"
include "plan/plan.pyx"
include "plan/upstream.pyx"
include "plan/statistics.pyx"
