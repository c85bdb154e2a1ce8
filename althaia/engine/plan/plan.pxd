"""The base class of dump plans and load plans."""

from althaia.engine.plan.guard cimport Guard
from althaia.engine.plan.template cimport Template


cdef class Plan:
    cdef readonly tuple steps
    cdef readonly Guard guard
    cdef public bint whole, nestable, many_allowed, has_hooks
    cdef public str declined
    cdef public int slots
    cdef public object schema_class, dict_class, statistics, opts
    cdef public tuple before, behind
    cdef Template template
    # The steps that measure an object (see engine/timing.pyx); None until one is measured.
    cdef tuple timed


cdef int set_attributes(object obj, dict given) except -1
cdef object option(Plan plan, str name)
# What option() and run/settings return if upstream's code must read the setting.
cdef object EXTRAORDINARY
