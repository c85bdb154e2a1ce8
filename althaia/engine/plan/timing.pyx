"""How long calls, objects and fields take, while that is measured.

Each call is measured. Inside a call, a :class:`Stopwatch` in the frame measures the first objects
of a class step by step, and then one in many, which counts for all between. The clock leaves out
what reading it costs.
"""

cdef extern from "althaia/cpython/clock.h":
    int64_t althaia_now() noexcept
    void althaia_calibrate_clock() noexcept

# In objects of one class and direction. Prime, so that it is not always the same item of nested
# lists that are equally long.
cdef int AT_FIRST = 64
cdef int ONE_IN = 31

cdef int measured = 0
# How often `measured` was changed.
cdef int64_t changed = 0
# A sample that takes more than so many times the mean is not multiplied.
cdef int FAR_ABOVE = 100


def measure(bint calls, bint steps):
    """Set what is measured from now on."""
    global measured, changed
    changed += 1
    if calls or steps:
        althaia_calibrate_clock()
    measured = (CALLS if calls or steps else 0) | (STEPS if steps else 0)


cdef int64_t now() noexcept:
    return althaia_now()


@cython.final
cdef class Place:
    """A field, hook or validator, and the time spent there."""

    def __cinit__(self, str kind, str name):
        self.kind = kind
        self.name = name

    def counted(self):
        """Return all numbers, by name."""
        return {
            "count": althaia_counted(&self.count),
            "spent": althaia_counted(&self.spent),
            "own": althaia_counted(&self.own),
            "reading": althaia_counted(&self.reading),
        }


@cython.final
cdef class Timing:
    """What was measured of one schema class in one direction, from and to objects or text."""

    def __cinit__(self, bint text):
        self.text = text
        self.places = {}

    cdef Place place(self, str kind, object name):
        """Return the place of this kind and name; create it if it is new."""
        cdef str label = name if type(name) is str else str(name)
        found = self.places.get((kind, label))
        if found is None:
            found = self.places.setdefault((kind, label), Place.__new__(Place, kind, label))
        return <Place>found

    def counted(self):
        """Return all numbers by name, and those of the places by kind and name."""
        return {
            "calls": althaia_counted(&self.calls),
            "nested": althaia_counted(&self.nested),
            "outside": althaia_counted(&self.outside),
            "objects": althaia_counted(&self.objects),
            "spent": althaia_counted(&self.spent),
            "outside_spent": althaia_counted(&self.outside_spent),
            "outside_own": althaia_counted(&self.outside_own),
            "parsing": althaia_counted(&self.parsing),
            "root_objects": althaia_counted(&self.root_objects),
            "root_inside": althaia_counted(&self.root_inside),
            "nested_objects": althaia_counted(&self.nested_objects),
            "nested_own": althaia_counted(&self.nested_own),
            "reading": althaia_counted(&self.reading),
            "writing": althaia_counted(&self.writing),
            "places": {key: place.counted() for key, place in list(self.places.items())},
        }


cdef int64_t weighed(int64_t spent, int weight, int64_t total, int64_t count) noexcept:
    """Return the time of a sample, multiplied by the number of objects that it represents.

    A sample far above the mean is not multiplied: the process was probably interrupted in it, and
    not in the other objects as well.
    """
    if weight > 1 and count > 0 and spent > FAR_ABOVE * (total // count + 1):
        return spent
    return spent * weight


cdef bint start(Stopwatch* watch, Timing timing) except -1:
    """Count one object. Start the watch and return True if it is measured step by step."""
    cdef int64_t number
    if timing.since != changed:
        # A new profile: its first objects are measured, too.
        timing.before = althaia_counted(&timing.objects)
        timing.since = changed
    althaia_count(&timing.objects, 1)
    number = althaia_counted(&timing.objects) - timing.before
    if number > AT_FIRST and number % ONE_IN:
        return False
    watch.weight = 1 if number <= AT_FIRST else ONE_IN
    watch.timing = <void*>timing
    watch.inside = 0
    watch.began = watch.mark = althaia_now()
    return True


cdef int64_t book_reading(Stopwatch* watch, Place place, bint own) noexcept:
    """Book the time since the step before, in which the value was read. Return the time now.

    :param own: whether the user's code has read it.
    """
    cdef int64_t began = althaia_now()
    cdef int64_t spent = weighed(began - watch.mark, watch.weight, place.spent, place.count)
    althaia_count(&place.spent, spent)
    if own:
        althaia_count(&place.own, spent)
    else:
        althaia_count(&place.reading, spent)
        althaia_count(&(<Timing>watch.timing).reading, spent)
    watch.mark = began
    return began


cdef int64_t book_conversion(Stopwatch* watch, Place place, int64_t began, bint nested) noexcept:
    """Book the time in which a step has converted its value, and return it; 0 for a nested schema,
    which books its own."""
    cdef int64_t spent
    watch.mark = althaia_now()
    spent = weighed(watch.mark - began, watch.weight, place.spent, place.count)
    althaia_count(&place.count, watch.weight)
    if nested:
        watch.inside += watch.mark - began
        return 0
    althaia_count(&place.spent, spent)
    return spent


cdef bint is_inside_its_class(Stopwatch* watch) noexcept:
    """Return whether a frame around this one is of the same class and direction."""
    cdef Stopwatch* outer = watch.outer
    while outer is not NULL and outer.counters != watch.counters:
        outer = outer.outer
    return outer is not NULL


cdef int stop(Stopwatch* watch) except -1:
    """Book the measured object."""
    cdef Timing timing = <Timing>watch.timing
    cdef int64_t spent = althaia_now() - watch.began
    cdef int64_t total = timing.root_objects + timing.nested_own + timing.nested_objects
    cdef int64_t own = weighed(spent - watch.inside, watch.weight, total, timing.sampled)
    cdef int64_t inside = weighed(watch.inside, watch.weight, total, timing.sampled)
    watch.timing = NULL
    althaia_count(&timing.sampled, watch.weight)
    if watch.outer is NULL:
        althaia_count(&timing.root_objects, own + inside)
        althaia_count(&timing.root_inside, inside)
        return 0
    althaia_count(&timing.nested_own, own)
    # The time of an object inside one of its own class is in that one's.
    if not is_inside_its_class(watch):
        althaia_count(&timing.nested_objects, own + inside)
    return 0
