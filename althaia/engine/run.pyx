# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""What happens in each call: the loops over steps, the frames of a call, the hooks.

May import ``plan``, ``instances``, ``objects``.
"""

import re
import sys
from collections import OrderedDict
from collections.abc import Mapping
from contextvars import ContextVar
from itertools import zip_longest
from types import MethodType

cimport cython
from cpython.dict cimport PyDict_DelItem, PyDict_SetItem
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject, PyObject_IsInstance
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from libc.string cimport memcpy

from althaia import seam
from althaia.engine.plan import NotPlannable, static

from althaia.cpython.primitives cimport (
    ALTHAIA_HAS_GIL, althaia_cached_item, althaia_cached_value, althaia_clear_cache,
    althaia_dict_item, althaia_enter, althaia_get_value, althaia_leave,
    althaia_look_up, althaia_same_entry, althaia_tick, althaia_type_lookup,
)
from althaia.engine.instances cimport (
    everything_at_once, field_of_call, hooked_prototype, prototype_of,
)
from althaia.engine.objects.object_reader cimport (
    NOT_THERE, Reading, Readings, has_no_reader, read_once,
)
from althaia.engine.plan cimport (
    ABSENT, DUMP, EXTRAORDINARY, LOAD, Guard, InstanceDict, Plan, PyDict_GET_SIZE,
    althaia_completed, althaia_put, existing_dict, finished, is_filled, lacks_attributes,
    new_result, option, set_attributes, upstream,
)
from althaia.formats.codec cimport ARRAY, RECORD, Keys, Record, Sink, Tape, after, open_key

include "run/trail.pyx"
include "run/hooks.pyx"
include "run/settings.pyx"
include "run/messages.pyx"
include "run/validators.pyx"
include "run/published.pyx"
include "run/load_step.pyx"
include "run/dump.pyx"
include "run/load.pyx"
include "run/unplanned.pyx"
