"""Counters per schema class and direction, for ``althaia.stats()``.

They are C integers, so that counting a call costs about a nanosecond. Builds without the GIL add to
them atomically.
"""


@cython.final
cdef class Counters:
    """The counters of one schema class in one direction.

    :ivar calls: calls that a plan answered.
    :ivar unplanned: calls that were left to upstream's code.
    :ivar nested: calls that the plan of a schema around it made.
    :ivar straight: those of ``calls`` that went from or to text without dictionaries.
    :ivar objects: the objects that ``calls`` were given, nested ones not counted.
    :ivar built: plans that were made.
    :ivar declined: those of ``built`` that leave everything to upstream's code.
    :ivar invalidated: plans that were dropped because something had changed.
    :ivar why: the reason why the last plan leaves everything to upstream's code, else "".

    ``logged`` is true if the log has a line about this class. A reset does not set the counters
    back, because the planner needs the number of plans built; it stores their values in ``before``.
    """

    def __cinit__(self):
        self.why = ""

    def as_dict(self):
        """Return the counters by name, since they were last reset."""
        cdef dict before = self.before
        if before is None:
            return self.counted()
        return {name: count - before[name] for name, count in self.counted().items()}

    def reset(self):
        """Count from here."""
        self.before = self.counted()

    def counted(self):
        """Return all that was counted, by name."""
        return {
            "calls": althaia_counted(&self.calls),
            "nested": althaia_counted(&self.nested),
            "straight": althaia_counted(&self.straight),
            "objects": althaia_counted(&self.objects),
            "unplanned": althaia_counted(&self.unplanned),
            "built": althaia_counted(&self.built),
            "declined": althaia_counted(&self.declined),
            "invalidated": althaia_counted(&self.invalidated),
        }


@cython.final
cdef class Statistics:
    """The counters of one schema class, dump and load."""

    cdef readonly Counters dump
    cdef readonly Counters load
    cdef object schema_class

    def __cinit__(self):
        self.dump = Counters.__new__(Counters)
        self.load = Counters.__new__(Counters)

    def as_dict(self):
        """Return the counters by direction and name."""
        return {"dump": self.dump.as_dict(), "load": self.load.as_dict()}


def add_up(total, cls, counters):
    """Add the counters of a class to those of others of its name."""
    counted = counters.as_dict()
    for name, count in counted.items():
        total[name] = total.get(name, 0) + count
    why = counters.why
    if not why and counted["unplanned"] and not counters.counted()["built"]:
        why = why_no_plan(cls)
    total["why"] = why or total["why"]


def why_no_plan(cls):
    """Return why no plan of a class has been made: each instance was used too seldom for one."""
    reason = getattr(getattr(cls.__dict__.get("_hooks"), "blueprint", None), "reason", "")
    built = f", and each is built in full because {reason}" if reason else ""
    return f"no instance was used often enough{built}"


# The key is id(): a metaclass may make its classes unhashable. A weak reference removes the entry.
cdef dict _by_class = {}


cdef enum:
    LATELY = 64

# The counters that were asked for lately, and the type version of their class, which CPython never
# uses twice: at the place of its last bits.
cdef list _lately = [None] * LATELY
cdef unsigned int[LATELY] _versions


# What was counted for classes that are gone: a counter that is exported must not fall.
cdef Statistics of_gone = Statistics.__new__(Statistics)
GONE = "(classes that are gone)"


def forget(gone):
    """Take the entry away of a class that is gone, and keep its counts; its weak reference calls
    this."""
    cdef Statistics statistics = _by_class.pop(gone.key, None)
    cdef int place
    if statistics is not None:
        for place in range(LATELY):
            if _lately[place] is statistics:
                _lately[place], _versions[place] = None, 0
        inherit(of_gone.dump, statistics.dump.as_dict())
        inherit(of_gone.load, statistics.load.as_dict())


cdef int inherit(Counters heir, dict counted):
    """Add counts by name to those of a class."""
    with cython.critical_section(heir):
        for name, count in counted.items():
            setattr(heir, name, getattr(heir, name) + count)


cpdef Statistics statistics_of(schema_class):
    """Return the counters of a schema class; make them if there are none yet."""
    cdef Statistics found = _by_class.get(id(schema_class))
    if found is None:
        found = Statistics.__new__(Statistics)
        found.schema_class = KeyedRef(schema_class, forget, id(schema_class))
        found = _by_class.setdefault(id(schema_class), found)
    return found


cdef Counters counters_of(schema, int direction):
    """Return the counters of a schema's class and a direction."""
    cdef unsigned int version = althaia_type_tag(type(schema)) if ALTHAIA_HAS_GIL else 0
    cdef unsigned int place = version % LATELY
    cdef Statistics statistics
    if version != 0 and _versions[place] == version:
        statistics = <Statistics>_lately[place]
    else:
        statistics = statistics_of(type(schema))
        if version != 0:
            _lately[place], _versions[place] = statistics, version
    return statistics.load if direction == LOAD else statistics.dump


def by_class(bint reset=False):
    """Return all counters by the qualified name of the schema class; classes of the same name are
    added up, and so are those that are gone.

    :param reset: the next answer counts from here.
    """
    result = {}
    for statistics in list(_by_class.values()):
        cls = (<Statistics>statistics).schema_class()
        if cls is not None:
            counted = result.setdefault(seam.full_name(cls), {})
            add_directions(counted, cls, statistics, reset)
    if any(any(counted.values()) for counted in of_gone.as_dict().values()):
        add_directions(result.setdefault(GONE, {}), object, of_gone, reset)
    return dict(sorted(result.items()))


def add_directions(counted, cls, statistics, reset):
    """Add both directions of a class to those of others of its name."""
    for direction in ("dump", "load"):
        add_up(counted.setdefault(direction, {"why": ""}), cls, getattr(statistics, direction))
        if reset:
            getattr(statistics, direction).reset()
