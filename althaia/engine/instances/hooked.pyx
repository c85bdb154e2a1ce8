"""Instances that are built at once, most of them because their class has an ``on_bind_field``.

:func:`init_fields` binds the fields of those that are not made from a prototype. For the others,
``lazy`` gives such an instance copies of the declared fields. :func:`bind` sets what binding has
set on the prototype's fields, and calls the hook, in upstream's order. Most instances are equal
after that, and most are used once. Hence the first of them becomes a second prototype, with the
values that the hook has left. ``planner`` calls :func:`hooked_prototype`, which compares an
instance with it: if they are equal, the call runs the prototype's plan with the instance's fields.
"""

cdef tuple PLAIN_KEYS = (str, type(None))
cdef tuple SORTED_BY = ("dump_only", "load_only", "data_key", "attribute")
cdef tuple PLAIN_TYPES = (str, int, bool, type(None))
# Where a nested field keeps its schema once that is resolved.
cdef str RESOLVED = "_schema"
# The number of instances that are tried as the prototype.
cdef int MOST_HOOKED_ATTEMPTS = 16
hooked_at_once = False


def run_hooked_at_once(bint on):
    """Run the plans of hooked prototypes although every plan is built at once; for tests."""
    global hooked_at_once
    hooked_at_once = on


# ---- Binding ----------------------------------------------------------------------------


cdef int bind(object schema, OwnFields own) except -1:
    """Do what ``Schema._init_fields`` does for an instance that has all other attributes but its
    messages.

    The hook may change the schema. Hence each attribute is read at the moment at which upstream's
    code reads it.
    """
    cdef object fields = schema.dict_class(), copied
    cdef bint are_copies = not fields
    for name, number in <tuple>own.prototype.attributes["fields"]:
        copied = own.by_number[number]
        field = declared_field(schema, name)
        if field is not copied or name in own.prototype.blueprint.binding_themselves:
            schema._bind_field(name, field)
            own.note(number, copied)
        else:
            if name in schema.load_only:
                field.load_only = True
            if name in schema.dump_only:
                field.dump_only = True
            own.bind(name, number, schema)
            schema.on_bind_field(name, field)
        fields[name] = field
        are_copies = are_copies and field is copied
    return set_fields(schema, are_copies, fields)


cdef bint init_fields(object schema) except -1:
    """Do what ``Schema._init_fields`` does for an instance with all its declared fields but those
    in ``exclude``. Return False, having changed nothing, if upstream's code must do it."""
    cdef object declared = schema.declared_fields, exclude = schema.exclude, fields, names
    cdef object set_class = upstream.schema_attributes.get("set_class")
    cdef object made_by = seam.pristine[upstream.Field]["__init__"]
    if (
        # Upstream's own class is what set_fields() leaves to upstream's code.
        type(schema) is upstream.Schema
        or not upstream.is_known("schema.Schema._init_fields")
        # A property in some releases, where nothing comes before it.
        or (static(type(schema), "set_class") if type(set_class) is property else schema.set_class)
        is not set_class
        or type(declared) not in (dict, OrderedDict)
        or schema.only is not None
        or type(exclude) not in (set, set_class)
        or not set(exclude) <= declared.keys()
        or schema.opts.fields
        or (upstream.infers_fields and schema.opts.additional)
        # An __init__ of somebody's own would see the Inferred that upstream makes for each field.
        or (upstream.infers_fields and upstream.Field.__init__ is not made_by)
    ):
        return False
    fields = schema.dict_class()
    cdef bint are_plain = not fields
    if type(set_class) is property:
        # The order is that of a set, made as upstream makes it, unless Meta.ordered is set.
        names = schema.set_class(declared.keys())
        if exclude:
            names = names - exclude
    else:
        names = [name for name in declared if name not in exclude]
    for name in names:
        field = declared_field(schema, name)
        schema._bind_field(name, field)
        fields[name] = field
        are_plain = are_plain and is_read_plainly(field)
    set_fields(schema, are_plain, fields)
    return True


cdef object declared_field(object schema, object name):
    """Return the field that upstream binds for a name."""
    cdef object field = schema.declared_fields.get(name, ABSENT)
    if field is ABSENT:
        if not upstream.infers_fields:
            raise KeyError(name)
        field = upstream.live["fields"]["Inferred"]()
    return field


cdef bint is_read_plainly(object field) except -1:
    """Whether a field has what :func:`sort` reads in its instance dictionary, and no class of its
    own changes how it is read."""
    for name in SORTED_BY:
        if althaia_type_lookup(type(field), name) is not None:
            return False
    return copies_as_object(field)


cdef int set_fields(object schema, bint are_plain, object fields) except -1:
    """Set the attributes that ``Schema._init_fields`` sets, in its order."""
    cdef object load_fields = schema.dict_class(), dump_fields = schema.dict_class()
    sort(are_plain, fields, load_fields, dump_fields)
    schema.fields = fields
    schema.dump_fields = dump_fields
    schema.load_fields = load_fields
    return 0


cdef int sort(bint are_plain, object fields, object load_fields, object dump_fields) except -1:
    """Fill the mappings of loaded and of dumped fields. Upstream's code does it if a field is
    another one than the copy, if it may run user code, or if two names collide, which is its
    error."""
    cdef set keys = set(), targets = set()
    cdef dict state
    for name, field in fields.items():
        if not are_plain:
            break
        state = vars_of(field)
        dump_only, load_only = state.get("dump_only"), state.get("load_only")
        key, target = state.get("data_key", ABSENT), state.get("attribute", ABSENT)
        if (
            type(dump_only) is not bool or type(load_only) is not bool
            or type(key) not in PLAIN_KEYS or type(target) not in PLAIN_KEYS
        ):
            break
        if dump_only is False:
            load_fields[name] = field
            targets.add(target or name)
        if load_only is False:
            dump_fields[name] = field
            keys.add(name if key is None else key)
    else:
        if len(keys) == len(dump_fields) and len(targets) == len(load_fields):
            return 0
    load_fields.clear()
    dump_fields.clear()
    cdef object schema = object.__new__(upstream.Schema)
    schema.__dict__.update(
        declared_fields=fields, only=None, exclude=set(), _bind_field=lambda name, field: None,
        ordered=True,
    )
    upstream.schema_attributes["_init_fields"](schema)
    load_fields.update(schema.load_fields)
    dump_fields.update(schema.dump_fields)
    return 0


# ---- The prototype after the hook --------------------------------------------------------


cdef object hooked_prototype(object schema, InstanceDict state, int direction):
    """Return the prototype, after the hook, whose plan a schema runs in this call; or None."""
    cdef OwnFields own = <OwnFields>state._own_fields
    cdef Prototype before, hooked
    if own is None:
        return None
    before = own.prototype if own.prototype.before is None else own.prototype.before
    if (
        before.attempts > MOST_HOOKED_ATTEMPTS
        or not before.blueprint.holds(schema)
        or not is_untouched(schema, state, vars_of(before.schema))
    ):
        return None
    if before.hooked is None:
        before.hooked = []
    for hooked in before.hooked:
        if is_equal(schema, state, hooked, direction):
            break
    else:
        before.attempts += 1
        hooked = prototype_after_hook(schema, state, before)
        if hooked is None or not is_equal(schema, state, hooked, direction):
            return None
        before.hooked.append(hooked)
    # A call of a field of the prototype finds the instance's by these.
    own.prototype = hooked
    return hooked.schema


cdef int adopt_copy(object nested, object copied) except -1:
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
    if state is None or state.prototype is not None or state.building:
        return 0
    own = own_fields_of(before, None)
    own.origin = nested
    numbers = dict(before.attributes["declared_fields"])
    for name, field in (<dict>state)[FIELDS].items():
        if name not in numbers:
            return 0
        own.note(numbers[name], field)
    state.prototype, state._own_fields = before, own
    return 0


cdef bint is_untouched(object schema, InstanceDict state, dict set_by_init) except -1:
    """Whether the instance dictionary shadows nothing that the class defines."""
    # Marshmallow 3 makes ordered results by it.
    if (<dict>state).get("ordered", ABSENT) is not set_by_init.get("ordered", ABSENT):
        return False
    for name in <dict>state:
        if name not in set_by_init and name not in READ_FROM_CALLERS and (
            type(name) is not str or althaia_type_lookup(type(schema), name) is not None
        ):
            return False
    return True


cdef Prototype prototype_after_hook(object schema, InstanceDict state, Prototype before):
    """Return a prototype with the values of an instance; None if it would keep alive an object that
    is neither plain nor the class's."""
    cdef OwnFields own = <OwnFields>state._own_fields, copies = own_fields_of(before, None)
    cdef Prototype made = Prototype.__new__(Prototype)
    cdef InstanceDict attributes = InstanceDict.__new__(InstanceDict)
    cdef object copied = made_with(type(schema), attributes), number, field
    for number, field in enumerate(own.by_number):
        if field is None:
            continue
        if not has_plain_values(field, before.fields[number], before.changes[number]):
            return None
        copies.by_number[number] = clone(field)
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
    numbers = {
        id(field): number for number, field in enumerate(own.by_number) if field is not None
    }
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
    attributes.hidden = True
    made.schema, made.blueprint, made.before = copied, before.blueprint, before
    made.changes, made.sets = before.changes, before.sets
    made.index = {id(field): number for number, field in enumerate(made.fields)}
    made.attributes = before.attributes
    return made


cdef bint has_plain_values(object field, object before, list changes) except -1:
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


cdef bint is_equal(object schema, InstanceDict state, Prototype hooked, int direction) except -1:
    """Whether an instance has the fields of a prototype, with equal or corresponding values."""
    cdef OwnFields own = <OwnFields>state._own_fields
    cdef Py_ssize_t number
    cdef object field, theirs, mapping
    cdef str name = "dump_fields" if direction == DUMP else "load_fields"
    mapping = (<dict>state).get(name)
    if type(mapping) is OrderedDict:
        # Its own order counts.
        mapping = dict(mapping)
    if not are_equal(mapping, vars_of(hooked.schema)[name], own, hooked, schema):
        return False
    for number in range(len(hooked.fields)):
        field, theirs = own.by_number[number], hooked.fields[number]
        if type(field) is not type(theirs) or (
            field is not None
            and not are_equal(althaia_dict_or_none(field), vars_of(theirs), own, hooked, schema)
        ):
            return False
    return True


cdef bint are_equal(
    object mine, dict theirs, OwnFields own, Prototype hooked, object schema
) except -1:
    """Whether two dictionaries have the same keys in the same order, with equal or corresponding
    values."""
    cdef Py_ssize_t at = 0, their_at = 0
    cdef PyObject *key
    cdef PyObject *value
    cdef PyObject *their_key
    cdef PyObject *their_value
    if type(mine) is not dict or len(<dict>mine) != len(theirs):
        return False
    while PyDict_Next(mine, &at, &key, &value):
        if not PyDict_Next(theirs, &their_at, &their_key, &their_value) or key != their_key or not (
            value == their_value
            or <object>key is RESOLVED
            or corresponds(<object>value, <object>their_value, own, hooked, schema)
        ):
            return False
    return True


cdef bint corresponds(
    object mine, object theirs, OwnFields own, Prototype hooked, object schema
) except -1:
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
            if each is not their and not is_own(each, their, own, hooked):
                return False
        return len(<list>theirs) > 0
    return is_own(mine, theirs, own, hooked)


cdef bint is_own(object mine, object theirs, OwnFields own, Prototype hooked) except -1:
    """Whether a field is the instance's for a field of the prototype."""
    number = hooked.index.get(id(theirs))
    return number is not None and own.by_number[number] is mine and mine is not None
