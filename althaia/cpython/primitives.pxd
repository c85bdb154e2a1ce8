"""Declarations of the C primitives, by the header that defines them."""

from libc.stdint cimport int64_t, uint64_t


cdef extern from "althaia/cpython/layout.h":
    bint ALTHAIA_HAS_GIL
    bint ALTHAIA_KNOWS_INLINE_VALUES
    bint ALTHAIA_KNOWS_DICT_VERSIONS
    bint ALTHAIA_KNOWS_ENTRIES
    bint althaia_knows_gc()
    bint althaia_has_weak_references(object obj)
    void althaia_read_as_dict(object cls)
    void althaia_count(int64_t* counter, int64_t more)
    int64_t althaia_counted "althaia_read"(int64_t* counter)
    int althaia_read_int "althaia_read"(int* place)
    void althaia_write_int "althaia_write"(int* place, int number)
    object althaia_dict_or_none(object obj)
    bint althaia_has_python_dict(object obj, object descriptor)
    object althaia_dict_item(object mapping, object key, object absent)
    object althaia_type_lookup(object type_, object name)
    object althaia_type_lookup_or(object type_, object name, object otherwise)
    unsigned int althaia_type_tag(object type_)
    unsigned int ALTHAIA_TYPE_TAG(object type_)
    bint althaia_lies_in_order(dict mapping, tuple expected)
    uint64_t althaia_dict_version(object mapping)


cdef extern from "althaia/cpython/attributes.h":
    # `key` and `missing` are declared as void*, so that Cython does not count references to objects
    # that all threads share.
    object althaia_get_value(object obj, void* key, void* missing)
    bint althaia_is_simply_true(object cls)


cdef extern from "althaia/cpython/inline_cache.h":
    ctypedef struct althaia_inline_cache:
        unsigned int misses

    void althaia_clear_cache(althaia_inline_cache* cache)
    bint althaia_has_inline_caches(object cls)
    void* althaia_cached_entry(object obj, object name, althaia_inline_cache* cache) except? NULL
    void* althaia_cached_value(althaia_inline_cache* cache, object obj)
    object althaia_look_up(object obj, void* key, void* missing, althaia_inline_cache* cache)
    object althaia_cached_item(dict mapping, void* key, void* absent, althaia_inline_cache* cache)


cdef extern from "althaia/cpython/snapshots.h":
    void althaia_start_watching()
    uint64_t althaia_version_to_note(object mapping)
    uint64_t althaia_epoch
    bint althaia_same_entries(object mapping, tuple keys, tuple values, object any_)
    bint althaia_same_entry(object mapping, object key, object value, object absent)

    ctypedef struct althaia_inline_copy:
        pass

    enum:
        ALTHAIA_DICT
        ALTHAIA_KEYS
        ALTHAIA_VALUES
        ALTHAIA_RECORD_SIZE

    ctypedef struct althaia_watched:
        void* place
        uint64_t version
        althaia_inline_copy* copy

    void althaia_note_version(uint64_t* place, uint64_t version)
    void* althaia_watched_place(object owner, object state)
    bint althaia_has_noted_version(object mapping, uint64_t* place)
    althaia_inline_copy* althaia_copy_inline(object owner, tuple values, object any_)
    bint althaia_all_hold(tuple records, althaia_watched* watched, object any_)
    bint althaia_lists_hold(tuple lists)
    bint althaia_types_hold(tuple types, const unsigned int* tags)


cdef extern from "althaia/cpython/stack.h":
    int althaia_enter() except -1
    void althaia_leave()
    int althaia_tick() except -1
