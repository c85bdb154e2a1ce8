"""Declarations of :file:`primitives.h`."""

from libc.stdint cimport int64_t, uint64_t


cdef extern from "althaia/plans/primitives.h":
    object althaia_get_value(object obj, str key, object missing)
    void* althaia_instance_dict(object obj)

    bint althaia_has_simple_keys(dict mapping)
    bint althaia_is_simply_true(object cls)
    unsigned int althaia_type_tag(object type_)
    bint althaia_same_entries(object mapping, tuple snapshot, object any_)
    bint althaia_same_items(list items, tuple snapshot)
    bint althaia_same_entry(object mapping, object key, object value, object absent)

    ctypedef struct althaia_inline_copy:
        pass

    ctypedef struct althaia_watched:
        void* object
        void* type
        void* dict
        uint64_t version
        void* snapshot
        althaia_inline_copy* copy

    uint64_t althaia_dict_version(object mapping)
    bint althaia_same_version(object mapping, uint64_t version)
    althaia_inline_copy* althaia_copy_inline(object owner, tuple snapshot, object any_)
    bint althaia_all_hold(althaia_watched* watched, Py_ssize_t count, object any_)

    void* althaia_iso_date(object value) except? NULL
    void* althaia_iso_datetime(object value) except? NULL
    void* althaia_iso_time(object value) except? NULL
    void* althaia_timedelta(object value, int64_t unit) except? NULL
    void* althaia_uuid_text(object number)

    void* althaia_uuid_number(object text)
    bint althaia_email_is_plain(object text)
    bint althaia_url_is_plain(object text)

    int althaia_enter() except -1
    void althaia_leave()
    int althaia_tick() except -1
