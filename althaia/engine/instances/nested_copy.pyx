"""Lazy copies of a schema instance that is nested: ``Nested(Inner())``.

For each parent upstream's code copies the instance, applies ``only`` and ``exclude`` to the copy
and binds the copy's fields. The copy shares its fields with the instance, so that they are bound
already and do not change. Two such copies therefore differ only in their identity. A *lazy* copy
runs the plans of a prototype, which is a copy that upstream's code made. It gets its mappings of
fields when it is materialised. ``kinds/nested_schema`` calls :func:`own_copy`, and
:func:`record_copy` if upstream's code had to make the copy.
"""

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* obj)

cdef object object_new = object.__new__

# The number of copies that upstream's code makes before an instance is examined, and the number of
# prototypes of one instance.
cdef int COPIES_BEFORE_EXAMINATION = 8
cdef int MOST_PROTOTYPES_OF_COPIES = 16


@cython.final
@cython.no_gc_clear
cdef class CopyBlueprint(Blueprint):
    """What the lazy copies of one nested instance have in common. ``wait`` is the number of copies
    that upstream still makes before the instance is examined; ``prototypes`` has them by the
    options of the nested field that select fields."""

    # How often the instance was examined.
    cdef int examined
    # The instance's attributes when it was examined, and those that a lazy copy gets at once.
    cdef dict attributes, kept
    # The snapshot of the attributes.
    cdef tuple keys, values
    # Pairs of an option that is a collection, and the set of its names.
    cdef tuple contents

    def __init__(self, schema_class):
        self.schema_class = schema_class
        self.prototypes = {}
        self.wait = COPIES_BEFORE_EXAMINATION
        # Upstream's code copies the copy once more if a field nests it.
        self.copies_bind_anew = True

    cdef bint hold(self, nested, InstanceDict state) except -1:
        """Whether upstream's code would copy the instance as it did when it was examined."""
        cdef Py_ssize_t i
        if (
            self.guard is None
            or not self.guard.holds(nested, state)
            or not althaia_same_entries(state, self.keys, self.values, ABSENT)
        ):
            return False
        for i in range(len(self.contents)):
            option, content = <tuple>self.contents[i]
            if len(option) != len(content) or (content and set(option) != content):
                return False
        return True


cdef own_copy(nested, field):
    """Return a nested field's own copy of a schema instance, made without upstream's code; None if
    that must copy it."""
    if is_fresh(nested) and field.only is None and plain_names(field.exclude) == ():
        # Upstream's code copies the instance, because others may use it. Nobody else has this one,
        # so that it serves as its own copy.
        if field.many is not None and upstream.nested_many_overrides:
            nested.many = field.many
        return nested
    return lazy_copy(nested, field)


cdef bint is_fresh(schema):
    """Whether a lazy schema may serve as the copy that upstream's code makes of it.

    It must have been made for this field: no user code has seen it, and neither its attributes nor
    its class have changed since.
    """
    if Py_REFCNT(<PyObject*>schema) != 1:
        return False
    cls = type(schema)
    cdef InstanceDict state = existing_dict(schema)
    if (
        state_now(state) != LAZY
        or althaia_has_weak_references(schema)
        or is_own(cls, INIT)
        # Upstream calls it once more, for the copy.
        or is_own(cls, INIT_FIELDS)
        or althaia_type_lookup(cls, "__new__") is not object_new
        or type(cls) is not upstream.SchemaMeta
        or (<Prototype>state.instance.prototype).blueprint.copies_bind_anew
    ):
        return False
    if materialise_if_touched(schema, state):
        return False
    return prototype_to_plan(schema, state) is not None


cdef lazy_copy(nested, field):
    """Return a lazy copy of a nested field's schema instance; None if there is no prototype for
    it."""
    cdef InstanceDict state = existing_dict(nested), own
    cdef CopyBlueprint blueprint
    cdef Prototype prototype
    cdef bint collecting
    if state is None or state.instance is None or state.instance.copies is None:
        return None
    blueprint = <CopyBlueprint>state.instance.copies
    prototype = <Prototype>blueprint.prototypes.get(
        options_key(field.only, field.exclude, (), ())
    )
    if prototype is None or not blueprint.hold(nested, state):
        return None
    collecting = stop_collecting()
    try:
        own = InstanceDict.__new__(InstanceDict)
        PyDict_Update(own, blueprint.kept)
        if field.many is not None and upstream.nested_many_overrides:
            own["many"] = field.many
        own.instance = new_instance(prototype, LAZY)
        return made_with(blueprint.schema_class, own)
    finally:
        collect_again(collecting)


cdef int record_copy(nested, field, copied):
    """Record a copy that upstream's code has made. After several, one becomes the prototype of
    later ones; until then, and if binding changes the fields, it is compared with a prototype."""
    if ALTHAIA_HAS_GIL and not becomes_prototype(nested, field, copied):
        adopt_copy(nested, copied)


cdef bint becomes_prototype(nested, field, copied):
    """Whether lazy copies can be made from now on, with one like this copy as their prototype."""
    cdef InstanceDict state = instance_dict(nested)
    cdef CopyBlueprint blueprint
    cdef Prototype prototype
    if state is None or state_now(state) != ORDINARY:
        return False
    if state.instance is None:
        state.instance = new_instance(None, ORDINARY)
    prototype = <Prototype>state.instance.prototype
    if prototype is not None and prototype.blueprint.has_hook:
        return False
    if state.instance.copies is None:
        state.instance.copies = CopyBlueprint(type(nested))
    blueprint = <CopyBlueprint>state.instance.copies
    if blueprint.wait > 0 and not everything_at_once:
        blueprint.wait -= 1
        return False
    key = options_key(field.only, field.exclude, (), ())
    if key is None:
        return False
    if vars_of(copied)[FIELDS].keys() - (<dict>state)[FIELDS].keys():
        # A field that the instance has lost is bound to each copy.
        return False
    if not blueprint.hold(nested, state) and not examine_instance(blueprint, nested, state):
        return False
    if len(blueprint.prototypes) >= MOST_PROTOTYPES_OF_COPIES:
        return False
    blueprint.prototypes[key] = prototype_like(copied, blueprint)
    return True


cdef bint examine_instance(CopyBlueprint blueprint, nested, InstanceDict state):
    """Examine an instance and record its attributes. Return False if upstream's code must make its
    copies."""
    cdef list contents = []
    blueprint.examined += 1
    blueprint.wait = COPIES_BEFORE_EXAMINATION << min(blueprint.examined, 10)
    blueprint.guard = None
    blueprint.prototypes = {}
    if shadows_class(state, False):
        return False
    for name in OPTIONS:
        option = (<dict>state).get(name)
        if option is None:
            continue
        content = plain_names(option)
        if content is None:
            return False
        if type(option) is not tuple:
            contents.append((option, set(content)))
    guard, _ = examine_nested(upstream, nested)
    if guard is None or not intercept_watched(type(nested), <Guard>guard):
        return False
    blueprint.attributes = dict(state)
    blueprint.kept = {
        name: value for name, value in blueprint.attributes.items() if name not in late_names
    }
    blueprint.keys, blueprint.values = snapshot(blueprint.attributes)
    blueprint.contents = tuple(contents)
    blueprint.guard = <Guard>guard
    return True


cdef Prototype prototype_like(copied, CopyBlueprint blueprint):
    """Return a prototype with the attributes of a copy that upstream's code made. That copy itself
    is no prototype, because user code may change it."""
    cdef Prototype prototype = Prototype.__new__(Prototype)
    # Its fields are the nested instance's, which may change.
    cdef InstanceDict state = hidden_dict(ORDINARY)
    PyDict_Update(state, vars_of(copied))
    for name in BOUND_MAPPINGS:
        mapping = (<dict>state)[name]
        PyDict_SetItem(state, name, type(mapping)(mapping))
    prototype.schema = made_with(type(copied), state)
    prototype.original = blueprint.attributes
    prototype.blueprint = blueprint
    return prototype
