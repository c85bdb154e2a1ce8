"""How long calls, objects and fields take, while that is measured."""

from libc.stdint cimport int64_t

cdef enum:
    # Bits of `measured`: how long each call takes; also what is inside.
    CALLS = 1
    STEPS = 2

# What is measured now; 0 while nobody asked.
cdef int measured

cdef int64_t now() noexcept


cdef class Place:
    cdef readonly str kind, name
    # Nanoseconds: all, in user code, in reading attributes.
    cdef public int64_t count, spent, own, reading


cdef class Timing:
    cdef readonly bint text
    # Counted exactly: calls by a plan, by the plan of a schema around it, outside a plan; objects.
    cdef public int64_t calls, nested, outside, objects
    # The objects before the last change of `measured`, and which that was.
    cdef int64_t before, since
    # Nanoseconds, measured exactly: calls by a plan; outside one, of which the second is what no
    # other schema's calls took; parsing, and finishing text.
    cdef public int64_t spent, outside_spent, outside_own, parsing
    # Nanoseconds, measured in a sample and multiplied: objects of calls and what nested schemas
    # took of them; nested objects; what of those no schema inside them took; by what was done.
    cdef public int64_t root_objects, root_inside, nested_objects, nested_own, reading, writing
    # How many objects those are.
    cdef int64_t sampled
    cdef public dict places
    cdef Place place(self, str kind, object name)


cdef struct Stopwatch:
    # The Timing of the object at hand, borrowed; NULL if it is not measured.
    void* timing
    # The Counters of its class and direction, borrowed; only compared. NULL until an object is
    # counted.
    void* counters
    # The watch of the frame around this one, borrowed; NULL for a call.
    Stopwatch* outer
    int64_t began, mark
    # What steps with a nested schema took, and user's validators in the step at hand.
    int64_t inside, validated
    int weight


cdef int64_t weighed(int64_t spent, int weight, int64_t total, int64_t count) noexcept
cdef bint start(Stopwatch* watch, Timing timing) except -1
cdef int64_t arrived(Stopwatch* watch, Place place, bint own) except -1
cdef int64_t left(Stopwatch* watch, Place place, int64_t began, bint nested) except -1
cdef int stop(Stopwatch* watch) except -1
