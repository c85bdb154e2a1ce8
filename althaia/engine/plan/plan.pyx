"""The base class of dump plans and load plans."""

# A marker that is no value of any setting or option.
cdef object EXTRAORDINARY = object()


@cython.no_gc_clear
cdef class Plan:
    """How one schema dumps or loads. What a plan does never changes. It learns how to do that
    faster: its template and what is known of the last results, below the public attributes.

    All but steps and guard are given by name, those that a subclass adds as well.

    :param steps: one step for each field, in order.
    :param guard: the guard of everything that the plan depends on.
    :param around: the plan may replace upstream's ``Schema.dump`` or ``Schema._do_load``, hooks
        included, around the schema's ``_serialize`` or ``_deserialize``.
    :param whole: it may replace them completely: ``around`` and ``many_allowed``.
    :param nestable: these methods are upstream's, so that a parent may run the plan without
        calling them.
    :param many_allowed: the plan may process a collection itself (``Schema._serialize`` or
        ``Schema._deserialize`` is upstream's, so that no override expects a call per item).
    :param declined: the reason why there are no steps and upstream's own code runs, else "".
    :param slots: the number of nested slots in the steps.
    :param dict_class: the schema's ``dict_class``.
    :param pre_hooks: the hooks that run before the fields, as upstream's table lists them; None if
        there are none. The guard watches the table and its lists.
    :param post_hooks: the hooks that run after the fields, in the same form.
    :param has_hooks: whether any hook runs in this direction, validators of the schema included.
    :param own: the class's own ``_serialize`` or ``_deserialize`` if it is a plain function, which
        is called without binding it; else None.
    :param statistics: the counters of this direction.
    :param opts: the schema's options if reading those for this direction runs no user code, else
        None.
    """

    def __init__(self, tuple steps, Guard guard, **what):
        self.steps = steps
        self.guard = guard
        self.declined = ""
        set_attributes(self, what)

    cdef int await_template(self, bint now, Py_ssize_t certain):
        """Make the template now, or when it pays: making it takes as long as it saves in some
        hundred results."""
        self.certain = certain
        self.until_template = FILLED_AFTER
        # Without the GIL another thread may be reading the template while it is made.
        if now or not ALTHAIA_HAS_GIL:
            self.until_template = 1
            self.is_template_due()

    cdef bint is_template_due(self):
        """Count one result without a template. Return whether there is one from now on."""
        self.until_template -= 1
        if self.until_template == 0:
            self.template = template_of(
                tuple([getattr(step, self.key_of_result) for step in self.steps])
            )
            if self.template is not None:
                self.fewest = fewest_keys(self.template)
                self.enough = max(self.fewest, len(self.template) // 2 + 1)
        return self.template is not None

    def named_steps(self):
        """Yield the name and the step of each field, and of each field inside it."""
        for step in self.steps:
            yield from with_inner(str(step.attr), step)


def with_inner(name, step):
    """Yield a step and all inside it, each with its name."""
    yield name, step
    for label, inner in step.inner().items():
        yield from with_inner(f"{name}.{label}", inner)


cdef int set_attributes(obj, dict given):
    """Set the attributes of a new plan, step or check. They are public only for this: nothing
    changes them afterwards."""
    for name, value in given.items():
        setattr(obj, name, value)


cdef option(Plan plan, str name):
    """Return an option from the instance dictionary of the schema's options; ``EXTRAORDINARY`` if
    it was deleted."""
    # Borrowed: all threads share the options.
    cdef PyObject* opts = <PyObject*>plan.opts
    return althaia_dict_item(althaia_dict_or_none(<object>opts), name, EXTRAORDINARY)
