# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""How schema instances are made and copied: at once or lazily, from a prototype.

May import ``plan`` and ``analysis``.
"""

import copy
from abc import ABCMeta
from collections import OrderedDict
from types import FunctionType, MethodType

cimport cython
from cpython.dict cimport PyDict_Copy, PyDict_Keys, PyDict_Next, PyDict_SetItem, PyDict_Update
from cpython.object cimport PyObject
from cpython.type cimport PyType_IsSubtype
from libc.stdint cimport int64_t, uint64_t

from althaia import seam
from althaia.engine.analysis import (
    CONSTRUCTION, LAZY_NAMES, examine, examine_nested, names_left_out, upstreams_binding,
)
from althaia.engine.plan import definers, static

from althaia.cpython.primitives cimport (
    ALTHAIA_HAS_GIL, althaia_count, althaia_counted, althaia_dict_or_none,
    althaia_has_weak_references, althaia_is_simply_true, althaia_same_entries,
    althaia_type_lookup, althaia_write_int,
)
from althaia.engine.analysis cimport COPIED_AS_OBJECT
from althaia.engine.plan cimport (
    ABSENT, DUMP, EMPTY, INNER, Guard, InstanceDict, adopt_instances, collect_again, existing_dict,
    fields_inside, instance_dict, is_lazy, put_dict, snapshot, stop_collecting, upstream,
)

include "instances/clone.pyx"
include "instances/blueprint.pyx"
include "instances/prototype.pyx"
include "instances/hooked.pyx"
include "instances/lazy.pyx"
include "instances/nested_copy.pyx"
include "instances/nested_schema.pyx"
