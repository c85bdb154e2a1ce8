"""The loaded marshmallow's classes and functions: the only place where the engine gets them."""

from libc.stdint cimport uint64_t

cdef enum:
    # Classes that `Upstream` keeps findings about.
    MOST_CLASSES = 4096


# The attributes of a field that hold one field inside it each.
cdef tuple INNER

cpdef object static(object cls, object name)
cdef list fields_inside(dict state)


cdef class Helper:
    # A module of upstream, its namespace, a name in it, and what upstream defined that as.
    cdef readonly str module
    cdef readonly dict namespace
    cdef readonly str name
    cdef readonly object defined
    # Its names in the semantic lock.
    cdef readonly tuple origins
    # Whether all of them were reviewed in this release.
    cdef bint known
    # 1 << its number.
    cdef readonly object bit


cdef class Group:
    cdef dict namespace
    cdef tuple helpers
    # Their bits together.
    cdef object bits
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
    cdef public bint hooks_pass_many
    cdef readonly str collection_keyword
    # The makers of steps: those for upstream's functions, see `steps.by_function`; those for the
    # functions of a package by its name, see `steps.by_name`, or the name of the module with them.
    cdef public tuple kinds
    cdef public dict packages
    # The helpers that plans watch, by module and name; their entries for guards, by their bits.
    cdef dict helpers, entries
    # By class and name: upstream's method of the class, MISSING if its source was not reviewed.
    cdef dict known_methods
    # The results of `group`.
    cdef dict groups
    # By type version: the checks of the analysis that a class has passed, one bit each.
    cdef dict passed
    # By 2 * type version + direction: the maker of a field class's step.
    cdef dict makers

    cdef Helper helper(self, str module, str name)
    cdef Group group(self, tuple key)
    cdef bint has_passed(self, object cls, int check) except -1
    cdef int note_passed(self, object cls, int check) except -1
    cdef tuple helper_entries(self, object bits)
    cpdef bint defines(self, cls, name, owner) except -1
    cdef int find_features(self, set variants) except -1


# None until the engine is connected.
cdef Upstream marshmallow
