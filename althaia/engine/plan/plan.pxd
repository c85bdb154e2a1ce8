"""What a plan for dumping and a plan for loading have in common."""

from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

from althaia.engine.plan.guard cimport Guard
from althaia.engine.plan.template cimport Template


cdef class Plan:
    cdef readonly tuple steps
    cdef readonly Guard guard
    cdef readonly bint whole
    cdef readonly bint nestable
    cdef readonly bint many_allowed
    cdef readonly str declined
    cdef readonly int sites
    cdef readonly object schema_class
    cdef readonly object dict_class
    cdef readonly object hooks
    cdef readonly object statistics
    cdef readonly object opts
    cdef object opts_class
    cdef readonly bint plain_settings
    cdef Template template
    # The lists of hooks, all empty, that were in the table when it was noted; NULL: not all were.
    # Borrowed from the last of those noted.
    cdef PyObject* empty_hooks
    cdef uint64_t hooks_note
    cdef list noted_hooks
    cdef object hooks_of(self, str tag)
    cdef bint has_no_hooks(self) noexcept
    cdef int note_hooks(self, tuple tags) except -1


cdef object option(Plan plan, str name)
# What kept_setting gives where only asking the schema would tell.
cdef object NOT_KEPT
cdef object kept_setting(Plan plan, object schema, str name)
cdef tuple no_hooks(object table, tuple tags)
