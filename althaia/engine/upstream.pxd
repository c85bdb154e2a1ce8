"""The loaded marshmallow's classes and functions: the only place where the engine gets them."""

from libc.stdint cimport uint64_t

cdef enum:
    # Classes that `Upstream` keeps findings about.
    MOST_CLASSES = 4096


cpdef object static(object cls, object name)


cdef class Helper:
    # The module, its namespace, the name there, and what upstream defined it as.
    cdef readonly str module
    cdef readonly dict namespace
    cdef readonly str name
    cdef readonly object defined
    # What the semantic lock calls it.
    cdef readonly tuple origins
    # Whether all of them have been read in this release.
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
    # The namespaces of its modules as they are now, by short name.
    cdef readonly dict live
    # Three of them as they were when they were defined.
    cdef readonly dict schema
    cdef readonly dict fields
    cdef readonly dict validate
    # What running plans use, as it was when it was defined.
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
    # What Schema was defined with.
    cdef readonly dict schema_attributes
    # For the analysis.
    cdef readonly frozenset unknown
    # What holds of this release and not of every other; see FEATURES_BY_VARIANT in upstream.pyx.
    cdef readonly bint partial_by_data_key
    cdef readonly bint copies_messages
    cdef readonly bint has_processors
    cdef readonly bint nested_many_overrides
    cdef readonly bint empty_key_is_a_key
    cdef readonly bint fragment_follows_host
    cdef readonly bint hooks_get_unknown
    cdef readonly bint checks_unknown
    cdef readonly bint false_is_an_error
    cdef readonly bint nested_has_context
    cdef readonly bint is_ordered_by_option
    cdef readonly bint has_context
    cdef readonly bint infers_fields
    cdef readonly bint functions_take_context
    cdef readonly bint has_serialization_type
    cdef readonly str collection_keyword
    cdef public tuple kinds
    # The helpers that plans watch, by module and name; their entries for guards, by their bits.
    cdef dict helpers, entries
    # By class and name: upstream's method of the class if it means what it meant, else MISSING.
    cdef dict known_methods
    # What `group` has found.
    cdef dict groups
    # By type version, the checks of the analysis that a class has passed, a bit for each.
    cdef dict passed
    # By twice the type version, and one more for loading, the maker of a field class's step.
    cdef dict makers
    # The version of OrderedSet that was found to be as it was defined.
    cdef unsigned int plain_sets_tag

    cdef bint has_plain_sets(self) except -1
    cdef Helper helper(self, str module, str name)
    cdef Group group(self, tuple key)
    cdef bint has_passed(self, object cls, int check) except -1
    cdef int note_passed(self, object cls, int check) except -1
    cdef tuple helper_entries(self, object bits)
    cpdef bint defines(self, cls, name, owner) except -1
    cpdef bint is_read(self, str name) except -1
    cdef int find_features(self, set variants) except -1


# None until the engine is connected.
cdef Upstream marshmallow
