# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Reads a schema's class and fields without running user code, and builds the guard of what it
read. Runs once per schema or class.

May import ``plan``.
"""

import abc
import copy
from collections import OrderedDict
from contextlib import contextmanager
from functools import cached_property
from types import FunctionType, GetSetDescriptorType
from typing import Generic

cimport cython
from cpython.object cimport Py_TYPE
from cpython.type cimport PyType_IsSubtype
from libc.stdint cimport uint64_t

from althaia import seam
from althaia.engine.plan import NotPlannable, definers, may_be_put, qualified

from althaia.cpython.primitives cimport (
    althaia_dict_or_none, althaia_has_noted_version, althaia_note_version, althaia_type_tag,
    althaia_version_to_note,
)
from althaia.engine.plan cimport (
    ABSENT, ANY, EMPTY, HIDDEN, INNER, Group, Guard, Upstream, fields_inside, snapshot,
    existing_dict, state_now, state_of as copied_state, static,
)

include "analysis/reader.pyx"
include "analysis/schema_class.pyx"
