"""How long calls, objects and fields take, while that is measured."""

from libc.stdint cimport int64_t

cdef enum:
    # Bits of `measured`. CALLS: the time of each call. STEPS: the time of each field and hook.
    CALLS = 1
    STEPS = 2

# What is measured now; 0 while nothing is.
cdef int measured

cdef int64_t now() noexcept


cdef class Place:
    cdef readonly str kind, name
    # Nanoseconds: in all, in user code, and in reading attributes.
    cdef public int64_t count, spent, own, reading


cdef class Timing:
    cdef readonly bint text
    # Exact numbers: calls answered by a plan, calls by the plan of a schema around this one, calls
    # outside a plan, and objects.
    cdef public int64_t calls, nested, outside, objects
    # The number of objects at the last change of `measured`, and the number of that change.
    cdef int64_t before, since
    # Nanoseconds, measured in each call: calls answered by a plan; calls outside a plan, with and
    # without the calls of other schemas inside them; parsing text and finishing it.
    cdef public int64_t spent, outside_spent, outside_own, parsing
    # Nanoseconds, measured in a sample and multiplied: the objects of calls, and nested schemas in
    # them; nested objects, and these without the schemas inside them; reading values and writing
    # text.
    cdef public int64_t root_objects, root_inside, nested_objects, nested_own, reading, writing
    # The number of objects that the sample stands for.
    cdef int64_t sampled
    cdef public dict places
    cdef Place place(self, str kind, object name)


cdef struct Stopwatch:
    # The Timing of the object at hand, borrowed; NULL if it is not measured.
    void* timing
    # The Counters of its class and direction, borrowed; only compared. NULL until an object is
    # counted.
    void* counters
    # The watch of the frame around this one, borrowed; NULL in the frame of a call.
    Stopwatch* outer
    int64_t began, mark
    # Nanoseconds of the steps with a nested schema, and of the user's validators in this step.
    int64_t inside, validated
    int weight


cdef int64_t weighed(int64_t spent, int weight, int64_t total, int64_t count) noexcept
cdef bint start(Stopwatch* watch, Timing timing) except -1
cdef int64_t book_reading(Stopwatch* watch, Place place, bint own) noexcept
cdef int64_t book_conversion(Stopwatch* watch, Place place, int64_t began, bint nested) noexcept
cdef int stop(Stopwatch* watch) except -1
