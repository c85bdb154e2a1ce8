# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Makes the plan of a schema, publishes it and drops it.

May import ``run`` and what lies below it.
"""

from collections import OrderedDict, defaultdict, namedtuple
from types import FunctionType, GetSetDescriptorType

from libc.stdint cimport int64_t

from althaia import seam
from althaia.engine import outside as _outside
from althaia.engine.analysis import METHOD_TYPES, NOT_PLAIN, is_plain_mapping, why_unwatchable
from althaia.engine.instances import materialise_if_lazy
from althaia.engine.objects.known_code import is_known
from althaia.engine.plan import NotPlannable, definers, may_be_put, published_guard
from althaia.engine.run import (
    CallDumpStep, CallLoadStep, DeserializeStep, DumpPlan, LoadPlan, SerializeStep, check_for,
)

from althaia.cpython.primitives cimport (
    ALTHAIA_HAS_GIL, althaia_count, althaia_counted, althaia_read_int, althaia_type_lookup,
    althaia_type_tag, althaia_write_int,
)
from althaia.engine.analysis cimport Analysis, is_data_descriptor
from althaia.engine.instances cimport everything_at_once, hooked_prototype, prototype_to_plan
from althaia.engine.plan cimport (
    ABSENT, DUMP, EMPTY, LOAD, MOST_CLASSES, Counters, InstanceDict, Plan, Upstream,
    counters_of, existing_dict, instance_dict, lacks_attributes, made_dict, static, upstream,
)
from althaia.engine.run cimport (
    ACCESSOR, FIELD_GET_VALUE, KEY, NO_ATTRIBUTE, PATH, SERIALIZE, valid_plan,
)

include "planner/steps.pyx"
include "planner/planner.pyx"
