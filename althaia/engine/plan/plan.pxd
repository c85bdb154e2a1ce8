"""The base class of dump plans and load plans."""

from althaia.engine.plan.guard cimport Guard
from althaia.engine.plan.template cimport Template


cdef class Plan:
    cdef readonly tuple steps
    cdef readonly Guard guard
    cdef readonly bint whole
    cdef readonly bint nestable
    cdef readonly bint many_allowed
    cdef readonly str declined
    cdef readonly int slots
    cdef readonly object schema_class
    cdef readonly object dict_class
    cdef readonly tuple before
    cdef readonly tuple behind
    cdef readonly bint has_hooks
    cdef readonly object statistics
    cdef readonly object opts
    cdef object opts_class
    cdef readonly bint plain_settings
    cdef Template template
    # The steps with which an object is measured, see engine/timing.pyx; None until one is.
    cdef tuple timed


cdef object option(Plan plan, str name)
# What option(), plain_setting() and run/settings return if reading a setting might run user code.
cdef object EXTRAORDINARY
cdef object plain_setting(Plan plan, object schema, str name)
