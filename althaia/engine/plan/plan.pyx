# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""What a plan for dumping and a plan for loading have in common."""

cimport cython
from cpython.object cimport PyObject

from althaia.engine.plan.guard cimport Guard, is_as_noted, note_of
from althaia.cpython.primitives cimport (
    ALTHAIA_HAS_GIL,
    althaia_dict_item,
    althaia_dict_or_none,
    althaia_read_note,
    althaia_read_pointer,
    althaia_write_note,
    althaia_write_pointer,
)
from althaia.engine.plan.instance_dict cimport existing_dict

cdef extern from "Python.h":
    # Borrowed: without the GIL threads would wait for each other to count one list of hooks.
    Py_ssize_t PyList_GET_SIZE(PyObject* hooks)
    Py_ssize_t PyTuple_GET_SIZE(PyObject* lists)
    PyObject* PyTuple_GET_ITEM(PyObject* lists, Py_ssize_t i)

cdef enum:
    # How often a plan notes another state of its table of hooks where it keeps all that it noted.
    MOST_NOTED = 100

# No value of any setting or option.
cdef object NOT_KEPT = object()


@cython.no_gc_clear
cdef class Plan:
    """How one schema dumps, or loads; what it says does not change.

    :param steps: what is done for each field, in order.
    :param guard: what the plan rests on.
    :param whole: the plan may stand for all of upstream's ``Schema.dump`` or ``Schema._do_load``,
        hooks included.
    :param nestable: these methods are upstream's, so that a parent may run the plan without
        calling them.
    :param many_allowed: the plan may run over a collection itself (``Schema._serialize`` or
        ``Schema._deserialize`` is upstream's, so that nobody is waiting to be called per item).
    :param declined: why there are no steps and upstream's own code runs, else "".
    :param sites: how many nested sites the steps number.
    :param dict_class: the schema's ``dict_class``.
    :param hooks: the schema class's table of hooks.
    :param statistics: the counters of this direction.
    :param opts: the schema's options where asking them for what this direction needs runs no
        user code, else None.
    :param plain_settings: nothing stands before ``many`` (to load also ``unknown`` and
        ``partial``) in the schema's instance dictionary (the guard watches its class).
    """

    def __init__(
        self, tuple steps, Guard guard, *, schema_class, dict_class, hooks, statistics,
        opts=None, bint plain_settings=False, bint whole=False, bint nestable=False,
        bint many_allowed=False, int sites=0, str declined="",
    ):
        self.steps = steps
        self.guard = guard
        self.whole = whole
        self.nestable = nestable
        self.many_allowed = many_allowed
        self.declined = declined
        self.sites = sites
        self.schema_class = schema_class
        self.dict_class = dict_class
        self.hooks = hooks
        self.statistics = statistics
        self.opts = opts
        self.opts_class = type(opts)
        self.plain_settings = plain_settings
        self.noted_hooks = []

    cdef object hooks_of(self, str tag):
        """The schema's hooks of a tag; like upstream's lookup it leaves an entry."""
        # Borrowed: all threads share it, and would wait for each other to count it.
        cdef PyObject* hooks = <PyObject*>self.hooks
        cdef object found = althaia_dict_item(<object>hooks, tag, None)
        return (<object>hooks)[tag] if found is None else found

    cdef bint has_no_hooks(self) noexcept:
        """Whether the schema has none for this direction; False says nothing."""
        cdef Py_ssize_t i
        cdef PyObject* hooks = <PyObject*>self.hooks  # Borrowed, as in hooks_of.
        # Read before the lists, and stored after them: another thread may be doing so.
        cdef uint64_t note = althaia_read_note(&self.hooks_note)
        cdef PyObject* lists = <PyObject*>althaia_read_pointer(&self.empty_hooks)
        if lists is NULL or not is_as_noted(<object>hooks, note):
            return False
        for i in range(PyTuple_GET_SIZE(lists)):
            if PyList_GET_SIZE(PyTuple_GET_ITEM(lists, i)):
                return False
        return True

    cdef int note_hooks(self, tuple tags) except -1:
        """Remember whether there are hooks of these tags, as long as the table is as it is now."""
        cdef object hooks = self.hooks
        cdef uint64_t note = note_of(hooks)
        cdef object lists
        cdef list before, kept
        if note == althaia_read_note(&self.hooks_note):
            return 0
        with cython.critical_section(hooks):
            note = note_of(hooks)
            lists = no_hooks(hooks, tags)
        with cython.critical_section(self):
            # Of two threads the one that has seen the older table must not come last.
            if note != note_of(hooks):
                return 0
            before = self.noted_hooks
            # Without the GIL another thread may be reading those before, and counts no reference.
            kept = [] if ALTHAIA_HAS_GIL else before
            if len(kept) == MOST_NOTED:
                return 0
            self.noted_hooks = [*kept, lists]
            althaia_write_pointer(&self.empty_hooks, NULL if lists is None else <PyObject*>lists)
            althaia_write_note(&self.hooks_note, note)
        return 0

    def __repr__(self):
        return f"<{type(self).__name__} of {self.schema_class.__name__}: {list(self.steps)!r}>"


cdef object option(Plan plan, str name):
    """An option of the schema where it stands in its options, else ``NOT_KEPT``."""
    # The guard watches the class that they had, not that they have it still.
    cdef PyObject* opts = <PyObject*>plan.opts
    if type(<object>opts) is not plan.opts_class:
        return NOT_KEPT
    return althaia_dict_item(althaia_dict_or_none(<object>opts), name, NOT_KEPT)


cdef object kept_setting(Plan plan, object schema, str name):
    """``getattr(schema, name)`` for one of its settings where upstream keeps it, so that no user
    code is asked for it, else ``NOT_KEPT``."""
    cdef object state = existing_dict(schema) if plan.plain_settings else None
    return NOT_KEPT if state is None else althaia_dict_item(state, name, NOT_KEPT)


cdef tuple no_hooks(object table, tuple tags):
    """The lists of these tags' hooks where all of them are there and empty, else None."""
    cdef list lists = [althaia_dict_item(table, tag, None) for tag in tags]
    for found in lists:
        if type(found) is not list or found:
            return None
    return tuple(lists)
