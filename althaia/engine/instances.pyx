# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""How schema instances are made and copied: at once or lazily, from a prototype.

May import ``plan`` and ``analysis``.

An instance has one state (``State`` in ``plan.pxd``). What leads from one to another:

=============  ======================================================================
new            LAZY; with user code that binds, UNBOUND or ORDINARY (``make_from``);
               ORDINARY: upstream's code makes it
UNBOUND        LAZY: the user's function has called upstream's (``binding``);
               ORDINARY: it has read an attribute, or bound no field (``materialise``)
LAZY           HANDED_OUT: user code got one of its fields (``real_field``);
               ORDINARY: a look, a change, or many calls (``materialise``)
HANDED_OUT     ORDINARY: its next call, or a look (``materialise``)
HIDDEN         stays: a prototype (``hide``, ``prototype_after_hook``)
=============  ======================================================================
"""

from abc import ABCMeta
from collections import OrderedDict
from types import FunctionType, MethodType, SimpleNamespace

cimport cython
from cpython.dict cimport PyDict_Copy, PyDict_Keys, PyDict_Next, PyDict_SetItem, PyDict_Update
from cpython.object cimport PyObject
from cpython.type cimport PyType_IsSubtype
from libc.stdint cimport int64_t, uint64_t

from althaia import seam
from althaia.engine.analysis import (
    CONSTRUCTION, examine, examine_nested, names_left_out, upstreams_binding,
)
from althaia.engine.plan import static

from althaia.cpython.primitives cimport (
    ALTHAIA_HAS_GIL, althaia_count, althaia_dict_or_none, althaia_has_weak_references,
    althaia_same_entries, althaia_type_lookup, althaia_write_int,
)
from althaia.engine.analysis cimport copies_simply
from althaia.engine.plan cimport (
    ABSENT, DUMP, EMPTY, HANDED_OUT, HIDDEN, INNER, LAZY, ORDINARY, UNBOUND, Guard, Instance,
    InstanceDict, State, adopt_instances, collect_again, existing_dict, fields_inside,
    instance_dict, lacks_attributes, new_instance, put_dict, snapshot, state_now, stop_collecting,
    upstream, vars_of,
)

include "instances/blueprint.pyx"
include "instances/prototype.pyx"
include "instances/construction.pyx"
include "instances/hooked.pyx"
include "instances/lazy.pyx"
include "instances/nested_copy.pyx"
