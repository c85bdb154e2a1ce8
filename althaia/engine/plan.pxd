"""What other floors may use of this one."""

from cpython.dict cimport PyDict_Copy
from libc.stdint cimport int64_t, uint64_t

from althaia.cpython.primitives cimport (
    ALTHAIA_HAS_GIL, althaia_counted, althaia_read_int, althaia_watched,
)


# What a look-up returns that finds nothing, what equals any value in a snapshot, and a dictionary
# that stays empty.
cdef object ABSENT, ANY
cdef dict EMPTY

cdef tuple snapshot(dict mapping)
cpdef dict state_of(obj)


cdef class Guard:
    cdef readonly tuple types
    cdef readonly tuple fields
    cdef readonly tuple lists
    cdef readonly tuple entries
    cdef readonly tuple schema_names
    cdef object schema_type
    cdef object members
    cdef tuple members_keys, members_values
    cdef uint64_t members_version, state_version
    # One for each of `types`, of the objects in `fields`, of `entries`.
    cdef unsigned int* type_tags
    cdef althaia_watched* watched
    cdef uint64_t* entry_versions
    # The address of the schema's instance dictionary when it had its expected contents.
    cdef void* state
    cdef bint holds(self, schema, state, bint fields=*) except -1
    cdef bint watches(self, cls) noexcept
    cdef int watch_class(self, cls)
    cdef bint _same_names(self, state) except -1
    cdef bint _same_members(self) except -1
    cdef bint _same_entries(self) except -1
    cdef int _watch_fields(self, tuple fields, Guard sibling)


cdef extern from "Python.h":
    bint PyGC_Disable()
    bint PyGC_Enable()
    Py_ssize_t PyDict_GET_SIZE(object mapping)


cdef enum Direction:
    DUMP = 0
    LOAD = 1


# What a schema instance has of its own; engine/instances.pyx says what leads from one to another.
# From UNBOUND on it lacks attributes.
cdef enum State:
    ORDINARY  # all that upstream's construction has made
    HIDDEN  # all, and user code gets neither it nor its fields: no guard need watch them
    UNBOUND  # its settings; a user's function runs in the place of `Schema._init_fields`
    HANDED_OUT  # its settings, and fields that user code has got and may have changed
    LAZY  # its settings


cdef class Instance:
    cdef int state
    # For how many look-ups of plans it has been lazy.
    cdef int uses
    # The ``Prototype`` from which it was made, None if upstream's code has made it.
    cdef object prototype
    # Its own fields for the prototype's: those that calls or user code needed, or all. An
    # ``OwnFields``.
    cdef object _own_fields
    # What lazy copies of it share: a ``CopyBlueprint``.
    cdef object copies
    cdef own_fields(self)
    cdef bint exchange_fields(self, before, own_fields)


cdef class InstanceDict(dict):
    cdef object dump_plan
    cdef object load_plan
    # Set once; None for an ordinary instance that upstream's code has made.
    cdef Instance instance
    # By direction: the number of plans dropped so far, and the number of look-ups to wait before
    # the next one is built.
    cdef int[2] drops, waits
    cdef published(self, int direction)
    cdef int publish(self, int direction, plan)


cdef inline int state_now(InstanceDict state) noexcept:
    """The state of an instance."""
    if state is None or state.instance is None:
        return ORDINARY
    return althaia_read_int(&state.instance.state)


cdef inline bint lacks_attributes(InstanceDict state) noexcept:
    """Whether an instance still lacks attributes that its prototype has."""
    return state_now(state) >= UNBOUND


cdef Instance new_instance(prototype, State state)
cdef InstanceDict instance_dict(schema)
cdef InstanceDict existing_dict(schema)
cdef made_dict(schema)
cdef int adopt_instances(cls)
cdef int put_dict(obj, dict state)
cdef dict vars_of(obj)


# Before CPython 3.12 each allocation may run the GC, and with it user code: finalizers and
# ``gc.callbacks``. That code must not see or change an instance that is partly initialized. From
# 3.12 on, and without the GIL, the GC runs only between bytecodes of interpreted code.
cdef inline bint stop_collecting() noexcept:
    """Disable the GC while an instance is created. Every exit must pass the result to
    :func:`collect_again`."""
    return ALTHAIA_HAS_GIL and PyGC_Disable()


cdef inline void collect_again(bint collecting) noexcept:
    """Enable the GC again if it was enabled before."""
    if collecting:
        PyGC_Enable()


cdef extern from "althaia/cpython/templates.h":
    # The key is a borrowed reference.
    int althaia_put(dict mapping, Py_ssize_t n, void* key, object value) except -1


cdef extern from "althaia/cpython/growth.h":
    ctypedef struct althaia_growth:
        pass

    void althaia_completed(althaia_growth* growth, object made)
    void althaia_give_back(althaia_growth* growth)


cdef enum:
    # After how many results a plan gets its template.
    FILLED_AFTER = 100


cdef class Plan:
    cdef readonly tuple steps
    cdef readonly Guard guard
    cdef public bint around, whole, nestable, many_allowed, has_hooks
    cdef public str declined
    cdef public int slots
    cdef public object schema_class, dict_class, statistics, opts
    cdef public tuple pre_hooks, post_hooks
    cdef public object own
    # From here on what a plan learns while it runs. See template_of(). The number of results until
    # there is a template, 0 if there will be none.
    cdef dict template
    cdef int until_template
    # A result with fewer keys than `fewest` takes less than half of a template's room, and one with
    # fewer than `enough` is made faster from an empty dictionary; `certain` steps give a value
    # whatever is in the input.
    cdef Py_ssize_t fewest, enough, certain
    # Whether the last object that is no dict gave fewer keys than enough.
    cdef bint sparse
    cdef int await_template(self, bint now, Py_ssize_t certain)
    cdef bint is_template_due(self)


cdef inline bint is_filled(Plan plan, Py_ssize_t given):
    """Return whether a new result has all keys from the start. Whoever makes a result asks once: a
    result inside it may be the one that is due for the template.

    :param given: the number of keys in the input.
    """
    return (
        plan.template is not None or (plan.until_template > 0 and plan.is_template_due())
    ) and given + plan.certain >= plan.enough


cdef inline new_result(Plan plan, bint full):
    """Return the object to fill: if ``full``, a dictionary that has all keys already."""
    if full:
        return PyDict_Copy(plan.template)
    return {} if plan.dict_class is dict else plan.dict_class()


cdef inline finished(Plan plan, result, bint full, althaia_growth* growth):
    """Return a result to which nothing is added any more, or a copy without the room of the keys
    that it lacks."""
    if full and PyDict_GET_SIZE(result) < plan.fewest:
        copied = PyDict_Copy(result)
        althaia_completed(growth, copied)
        return copied
    if plan.dict_class is dict:
        althaia_completed(growth, result)
    return result


cdef int set_attributes(obj, dict given)
cdef option(Plan plan, str name)

# What option() and run/settings return if upstream's code must read the setting.
cdef object EXTRAORDINARY


cdef enum:
    # Classes that `Upstream` keeps findings about.
    MOST_CLASSES = 4096


# The attributes of a field that hold one field inside it each.
cdef tuple INNER
cpdef static(cls, name)
cdef list fields_inside(dict state)


cdef class Group:
    # The guard's entries for names in one of upstream's modules: its namespace, the name, and what
    # upstream defined it as.
    cdef tuple entries
    cdef dict namespace
    # The dict version at which the module had all of them as upstream defined them.
    cdef uint64_t version


cdef class Upstream:
    # The namespaces of its modules by short name, as they are now.
    cdef readonly dict live
    # Three of these namespaces as they were when upstream had defined them.
    cdef readonly dict schema
    cdef readonly dict fields
    cdef readonly dict validate
    # What running plans use, as upstream defined it.
    cdef readonly object missing
    cdef readonly object Schema
    cdef readonly object Field
    cdef readonly object SchemaMeta
    cdef readonly object OrderedSet
    cdef readonly object ValidationError
    cdef readonly object ErrorStore
    cdef readonly object copy_containers
    cdef readonly object is_collection
    cdef readonly object is_sequence_but_not_string
    cdef readonly object set_value
    # The class of Schema._hooks, which has room for a blueprint.
    cdef readonly object HookTable
    # The attributes with which Schema was defined.
    cdef readonly dict schema_attributes
    # Names of functions whose source was not reviewed in this release.
    cdef readonly frozenset unknown
    # Features in which releases differ; see FEATURES_BY_VARIANT in upstream.pyx, which sets them.
    cdef public bint partial_by_data_key, copies_messages, has_processors, nested_many_overrides
    cdef public bint empty_key_is_a_key, fragment_follows_host, hooks_get_unknown, checks_unknown
    cdef public bint false_is_an_error, nested_has_context, is_ordered_by_option, has_context
    cdef public bint infers_fields, functions_take_context, has_serialization_type
    cdef public bint hooks_pass_many, hooks_by_pair, pads_originals, timedeltas_are_whole
    cdef public bint gives_partial, partial_is_false, many_by_option, context_is_silent
    cdef public bint urls_have_absolute, truncates_timedeltas
    cdef readonly str collection_keyword
    # The makers of steps: those for upstream's functions, see `by_function` in planner/steps.pyx;
    # those for the functions of other packages, see `by_name` there.
    cdef public dict makers_by_function
    cdef public tuple makers_by_name
    # The entries for guards of several groups, by the set of them.
    cdef dict entries
    # By class and name: whether the source of upstream's method of the class was reviewed.
    cdef dict reviewed_methods
    # The results of `group`.
    cdef dict groups
    # By type version: the checks of the analysis that a class has passed, one bit each.
    cdef dict passed
    # By 2 * type version + direction: the maker of a field class's step.
    cdef dict makers_by_type

    cdef Group group(self, tuple key)
    cdef bint has_passed(self, cls, int check)
    cdef int note_passed(self, cls, int check)
    cdef tuple entries_of(self, frozenset groups)
    cpdef bint defines(self, cls, name, owner)
    cdef int find_features(self, set variants)


# None until the engine is connected.
cdef Upstream upstream


cdef class Counters:
    cdef public int64_t calls, nested, straight, objects, unplanned, built, declined, invalidated
    # Calls in a row that looked for a plan once, because upstream's method was not called.
    cdef int unanswered
    cdef public str why
    cdef public bint logged
    cdef dict before


cdef Counters counters_of(schema, int direction)
