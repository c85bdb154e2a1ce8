"""Prototypes for instances whose fields user code has seen while they were bound.

Most of them are equal after that, and most are used once. Hence the first of them becomes a second
prototype, with the values that user code has left. ``planner`` calls :func:`hooked_prototype`,
which compares an instance with it: if they are equal, the call runs the prototype's plan with the
instance's fields. The same is done for a copy that upstream's code makes of a nested instance.
"""

cdef tuple PLAIN_TYPES = (str, int, bool, type(None))
# Where a nested field keeps its schema once that is resolved.
cdef str RESOLVED = "_schema"
# The number of instances that are tried as the prototype.
cdef int MOST_HOOKED_ATTEMPTS = 16
# Whether they are used although every plan is built at once; for tests.
cdef bint hooked_at_once = False


def run_hooked_at_once(bint on):
    """Run the plans of hooked prototypes although every plan is built at once; for tests."""
    global hooked_at_once
    hooked_at_once = on


cdef hooked_prototype(schema, InstanceDict state, int direction):
    """Return the prototype, after the hook, whose plan a schema runs in this call; or None."""
    cdef OwnFields own = None
    cdef Prototype before, hooked
    if state.instance is not None and (hooked_at_once or not everything_at_once):
        own = <OwnFields>state.instance._own_fields
    if own is None:
        return None
    before = own.prototype if own.prototype.before is None else own.prototype.before
    if (
        before.attempts > MOST_HOOKED_ATTEMPTS
        or not before.blueprint.holds(schema)
        or not is_untouched(schema, state, vars_of(before.schema))
    ):
        return None
    for hooked in before.hooked:
        if is_equal(schema, state, own, hooked, direction):
            break
    else:
        before.attempts += 1
        hooked = prototype_after_hook(schema, state, own, before)
        if hooked is None or not is_equal(schema, state, own, hooked, direction):
            return None
        before.hooked.append(hooked)
    # A call of a field of the prototype finds the instance's by these. Two threads that assign at
    # once would both let go of the one before.
    with cython.critical_section(own):
        own.prototype = hooked
    return hooked.schema


cdef int adopt_copy(nested, copied):
    """Let a copy of a nested instance, which upstream's code has made, and which has the fields of
    that instance, run the plans of a prototype with equal fields."""
    cdef Blueprint blueprint = valid_blueprint(type(copied), copied)
    cdef Prototype before = None
    cdef InstanceDict state
    cdef OwnFields own
    if blueprint is not None and not blueprint.reason:
        before = blueprint.find(DEFAULTS)
    if before is None:
        return 0
    state = instance_dict(copied)
    if state is None or state.instance is not None:
        return 0
    own = own_fields_of(before, None)
    own.origin = nested
    numbers = dict(before.attributes["declared_fields"])
    for name, field in (<dict>state)[FIELDS].items():
        if name not in numbers:
            return 0
        own.note(numbers[name], field)
    state.instance = new_instance(before, ORDINARY)
    state.instance._own_fields = own


cdef bint is_untouched(schema, InstanceDict state, dict set_by_init):
    """Whether the instance dictionary shadows nothing that the class defines."""
    # Marshmallow 3 makes ordered results by it.
    if (<dict>state).get("ordered", ABSENT) is not set_by_init.get("ordered", ABSENT):
        return False
    for name in list(<dict>state):  # Another thread may add to it.
        if name not in set_by_init and name not in READ_FROM_CALLERS and (
            type(name) is not str or althaia_type_lookup(type(schema), name) is not None
        ):
            return False
    return True


cdef Prototype prototype_after_hook(
    schema, InstanceDict state, OwnFields own, Prototype before
):
    """Return a prototype with the values of an instance; None if it would keep alive an object that
    is neither plain nor the class's."""
    cdef OwnFields copies = own_fields_of(before, None)
    cdef Prototype made = Prototype.__new__(Prototype)
    cdef InstanceDict attributes = hidden_dict(HIDDEN)
    cdef object copied = made_with(type(schema), attributes), number, field
    cdef dict numbers = {}
    for number, field in enumerate(own.by_number):
        if field is None:
            continue
        if not has_plain_values(field, before.fields[number], before.changes[number]):
            return None
        copies.by_number[number] = clone(field)
        numbers[id(field)] = number
    if own.origin is not None:
        copies.origin = before.schema
    made.fields = list(copies.by_number)
    for number, field in enumerate(made.fields):
        if field is not None:
            copies.change(before.changes[number], vars_of(field), copied)
            if RESOLVED in vars_of(field):
                # Read from the instance's own field.
                vars_of(field)[RESOLVED] = None
    attributes.update(before.build(copies, copied))
    for name in BOUND_MAPPINGS:
        mapping = (<dict>state).get(name)
        if type(mapping) not in (dict, OrderedDict):
            return None
        (<dict>attributes)[name] = kept = {}
        for key, field in mapping.items():
            number = numbers.get(id(field))
            if number is None:
                return None
            kept[key] = copies.by_number[number]
    made.snapshots = [snapshot((<dict>attributes)[name]) for name in ("dump_fields", "load_fields")]
    made.snapshots += [
        snapshot({} if field is None else vars_of(field)) for field in made.fields
    ]
    made.schema, made.blueprint, made.before = copied, before.blueprint, before
    made.changes = before.changes
    made.index = {id(field): number for number, field in enumerate(made.fields)}
    made.attributes = before.attributes
    return made


cdef bint has_plain_values(field, before, list changes):
    """Whether a field's values are plain, the class's, or changed for each instance anyway."""
    cdef dict origin
    if type(field) is not type(before) or type(vars_of(field)) is not dict:
        return False
    origin = vars_of(before)
    changed = {name for name, _, _ in changes}
    for name, value in vars_of(field).items():
        if type(name) is not str or not (
            name in changed or name == RESOLVED
            or type(value) in PLAIN_TYPES or origin.get(name, ABSENT) is value
        ):
            return False
    return True


cdef bint is_equal(
    schema, InstanceDict state, OwnFields own, Prototype hooked, int direction
):
    """Whether an instance has the fields of a prototype, with equal or corresponding values."""
    cdef Py_ssize_t number
    mapping = (<dict>state).get("dump_fields" if direction == DUMP else "load_fields")
    if type(mapping) is OrderedDict:
        # Its own order counts.
        mapping = dict(mapping)
    if not are_equal(mapping, hooked.snapshots[direction], own, hooked, schema):
        return False
    for number in range(len(hooked.fields)):
        field, theirs = own.by_number[number], hooked.fields[number]
        if type(field) is not type(theirs) or (
            field is not None and not are_equal(
                althaia_dict_or_none(field), hooked.snapshots[number + 2], own, hooked, schema
            )
        ):
            return False
    return True


cdef bint are_equal(mine, tuple theirs, OwnFields own, Prototype hooked, schema):
    """Whether a dictionary has the keys of a snapshot in their order, with equal or corresponding
    values."""
    cdef Py_ssize_t position = 0, at = 0
    cdef PyObject *key
    cdef PyObject *value
    cdef tuple keys = <tuple>theirs[0], values = <tuple>theirs[1]
    if type(mine) is not dict:
        return False
    if not ALTHAIA_HAS_GIL:
        # Another thread may replace a value, to which PyDict_Next() only lends a reference.
        mine = PyDict_Copy(mine)
    if len(<dict>mine) != len(keys):
        return False
    while PyDict_Next(mine, &position, &key, &value):
        if <object>key is not keys[at] or not (
            <object>value is values[at]
            or <object>key is RESOLVED
            or corresponds(<object>value, values[at], own, hooked, schema)
        ):
            return False
        at += 1
    return True


cdef bint corresponds(
    mine, theirs, OwnFields own, Prototype hooked, schema
):
    """Whether a value corresponds to the prototype's: the instance, its field, or equal text."""
    if theirs is hooked.schema:
        return mine is schema
    if theirs is hooked.before.schema:
        return mine is own.origin
    if type(theirs) is str:
        return type(mine) is str and <str>mine == <str>theirs
    if type(theirs) is int:
        return type(mine) is int and mine == theirs
    if type(theirs) is MethodType:
        return (
            type(mine) is MethodType
            and mine.__func__ is theirs.__func__
            and mine.__self__ is schema
            and theirs.__self__ is hooked.schema
        )
    if type(theirs) is upstream.OrderedSet:
        return type(mine) is upstream.OrderedSet and plain_names(mine) == plain_names(theirs)
    if type(theirs) is list and type(mine) is list and len(<list>mine) == len(<list>theirs):
        # The fields of a Tuple. Any other list is the one that the class was declared with.
        for each, their in zip(<list>mine, <list>theirs):
            if each is not their and not is_fields_own(each, their, own, hooked):
                return False
        return len(<list>theirs) > 0
    return is_fields_own(mine, theirs, own, hooked)


cdef bint is_fields_own(mine, theirs, OwnFields own, Prototype hooked):
    """Whether a field is the instance's for a field of the prototype."""
    number = hooked.index.get(id(theirs))
    return number is not None and own.by_number[number] is mine and mine is not None
