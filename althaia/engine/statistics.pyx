# cython: language_level=3, freethreading_compatible=True
"""Counters per schema class and direction, for ``althaia.stats()``.

They are C integers, so that counting a call costs about a nanosecond. Builds without the GIL add to
them atomically.
"""

from weakref import ref

cimport cython

from althaia.cpython.primitives cimport althaia_counted


@cython.final
cdef class Counters:
    """The counters of one schema class in one direction.

    ``calls`` were answered by a plan, ``unplanned`` ones left to upstream's own code; ``nested``
    are those that the plan of a schema around it made;
    ``straight`` is how many of the answered ones went straight to or from text, without
    dictionaries; ``objects`` is how many objects the answered calls were given, nested ones not
    counted;
    ``built``, ``declined`` and ``invalidated`` count plans: those made, those of them that
    leave everything to upstream's code, and those dropped because something had changed. ``why``
    is the reason why the last plan leaves everything, else "".

    ``told`` says that this was logged; ``before`` holds what had been counted when the counters
    were last reset. They go on themselves: the planner goes by how many plans were built.
    """

    def __cinit__(self):
        self.why = ""
        self.before = {}

    def as_dict(self):
        """The counters by name, since they were last reset."""
        cdef dict before = self.before
        return {name: count - before.get(name, 0) for name, count in self.counted().items()}

    def reset(self):
        """Count from here."""
        self.before = self.counted()

    def counted(self):
        """All that was counted, by name."""
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

    def __repr__(self):
        return f"<Counters {self.as_dict()}>"


@cython.final
cdef class Statistics:
    """The counters of one schema class, dump and load."""

    def __cinit__(self):
        self.dump = Counters.__new__(Counters)
        self.load = Counters.__new__(Counters)

    def as_dict(self):
        """The counters by direction and name."""
        return {"dump": self.dump.as_dict(), "load": self.load.as_dict()}


def add_up(total, counters):
    """Add the counters of a class to those of others of its name."""
    for name, count in counters.as_dict().items():
        total[name] = total.get(name, 0) + count
    total["why"] = counters.why or total["why"]


# The key is id(): a metaclass may make its classes unhashable. A weak reference removes the entry.
cdef dict _by_class = {}


def forgets(key):
    """A weak reference's callback that takes the entry away."""
    return lambda _: _by_class.pop(key, None)


cpdef Statistics statistics_of(object schema_class):
    """The counters of a schema class, made where there are none yet."""
    cdef Statistics found = _by_class.get(id(schema_class))
    if found is None:
        found = Statistics.__new__(Statistics)
        found.schema_class = ref(schema_class, forgets(id(schema_class)))
        found = _by_class.setdefault(id(schema_class), found)
    return found


def by_class(bint reset=False):
    """All counters by the qualified name of the schema class; classes of the same name are
    added up.

    :param reset: the next answer counts from here.
    """
    result = {}
    for statistics in list(_by_class.values()):
        cls = (<Statistics>statistics).schema_class()
        if cls is None:
            continue
        counted = result.setdefault(f"{cls.__module__}.{cls.__qualname__}", {})
        for direction in ("dump", "load"):
            add_up(counted.setdefault(direction, {"why": ""}), getattr(statistics, direction))
            if reset:
                getattr(statistics, direction).reset()
    return dict(sorted(result.items()))
