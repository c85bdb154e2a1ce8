# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""The kinds of field that plans support, one file for each family.

A file contains everything about its kinds: the steps that dump and load them, and the functions
that determine from a field whether a step may replace its own method. To add a kind, add a row to
``KINDS`` at the end of one of them, under the class that defines the method: ``Number`` has the row
for ``Integer``. The files for field classes of other packages have the packages' names and add to
``PACKAGES``.
"""

import datetime as dt
import decimal
import email.utils
import enum
import math
import re
import uuid
from collections import OrderedDict, defaultdict
from functools import partial
from operator import methodcaller
from types import BuiltinFunctionType, FunctionType, MethodType

cimport cython
from cpython.object cimport PyObject, PyObject_GenericSetAttr, PyTypeObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from cpython.type cimport PyType_IsSubtype
from libc.math cimport isfinite
from libc.stdint cimport int64_t

from althaia import seam
from althaia.engine.instances import materialise_if_lazy
from althaia.engine.objects.known_code import is_known
from althaia.engine.plan import NotPlannable, definers
from althaia.engine.planner import (
    Kind, inner_dump_step, inner_load_step, load_conversion,
)
from althaia.engine.run import CallDumpStep, CallLoadStep, LengthCheck, check_for

from althaia.cpython.primitives cimport (
    althaia_count, althaia_counted, althaia_dict_item, althaia_enter, althaia_is_simply_true,
    althaia_leave, althaia_tick, althaia_type_lookup,
)
from althaia.cpython.temporal cimport (
    PyDateTime_CheckExact, PyDateTime_DATE_GET_TZINFO, PyDateTime_DELTA_GET_DAYS,
    PyDateTime_DELTA_GET_MICROSECONDS, PyDateTime_DELTA_GET_SECONDS, PyDelta_CheckExact,
    import_temporal,
)
from althaia.engine.instances cimport (
    has_prototypes_fields, made_with, materialise_if_touched, nested_field, own_copy, rebound,
    record_copy,
)
from althaia.engine.plan cimport (
    ABSENT, DUMP, EMPTY, EXTRAORDINARY, LOAD, Counters, InstanceDict, Plan, althaia_completed,
    existing_dict, lacks_attributes, static, upstream, vars_of,
)
from althaia.engine.planner cimport usable_plan
from althaia.engine.run cimport (
    FAILED, INPUT_WORD, NO_WORDS, Check, DumpFrame, DumpPlan, DumpStep, FixedText, LoadFrame,
    LoadPlan, LoadStep, add_to_trail, constructed, dump_with_hooks, fail, field_deserialize,
    handled_error, is_of_json, is_plain_flag, is_unseen, load_value, load_whole_or_fail, many_of,
    open_dump_frame, open_load_frame, partial_of, unknown_of,
)
from althaia.formats.codec cimport ARRAY, Sink, Tape, after

KINDS = []
PACKAGES = []


def maker_of(step, read=None):
    """Return a maker of one class of step, with what ``read(analysis, field)`` returns as keyword
    arguments."""
    def make(analysis, field, options):
        if read is not None:
            options = options | read(analysis, field)
        return step(field, **options)

    return make


include "kinds/raw.pyx"
include "kinds/identifiers.pyx"
include "kinds/text.pyx"
include "kinds/numbers.pyx"
include "kinds/booleans.pyx"
include "kinds/moments.pyx"
include "kinds/periods.pyx"
include "kinds/enums.pyx"
include "kinds/containers.pyx"
include "kinds/nested_schema.pyx"
include "kinds/nested.pyx"
include "kinds/calls.pyx"
include "kinds/webargs.pyx"
include "kinds/marshmallow_sqlalchemy.pyx"
