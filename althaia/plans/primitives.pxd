"""Declarations of :file:`primitives.h`."""

from libc.stdint cimport int64_t


cdef extern from "althaia/plans/primitives.h":
    object althaia_getattr(object obj, object name, object missing)
    object althaia_get_value(object obj, str key, object missing)
    void* althaia_instance_dict(object obj)

    unsigned int althaia_type_tag(object type_) 
    bint althaia_same_entries(object mapping, tuple snapshot, object any_)
    bint althaia_same_items(list items, tuple snapshot)
    bint althaia_same_entry(object mapping, object key, object value, object absent)

    void* althaia_iso_date(object value) except? NULL
    void* althaia_iso_datetime(object value) except? NULL
    void* althaia_iso_time(object value) except? NULL
    void* althaia_timedelta(object value, int64_t unit) except? NULL
    void* althaia_uuid_text(object number)

    int althaia_enter() except -1
    void althaia_leave()
    int althaia_tick() except -1
    int64_t althaia_switch_interval
