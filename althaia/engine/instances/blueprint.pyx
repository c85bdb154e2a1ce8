"""Blueprints: what is known of how instances of a schema class are made.

The first examination of a class makes its :class:`Blueprint`, which is kept in the class's hook
table (``seam.HookTable``). A later examination, after the class has changed, makes another. A
blueprint holds the class's prototypes, which are built by upstream's code. ``construction`` asks
for it.
"""


# Of only, exclude, load_only, dump_only.
cdef tuple DEFAULTS = (None, (), (), ())
cdef int MOST_PROTOTYPES = 64
# What all prototypes have instead of empty sets of names.
cdef set NO_NAMES = set()
# What no prototype has, because it is read only from the schema of the call.
cdef tuple READ_FROM_CALLERS = ("partial", "unknown", "error_messages")
cdef tuple COLLECTIONS = (list, set, frozenset)
# The instance at which a class is examined. Most classes that are made inside a call never
# have so many.
cdef int FIRST_EXAMINATION = 10
cdef int FREE_EXAMINATIONS = 32


everything_at_once = False


def build_at_once(bint on):
    """Build every plan and prototype at its schema's first use, whether that pays or not; for
    tests."""
    global everything_at_once
    everything_at_once = on


cdef class Blueprint:
    """What is known of how instances of one schema class are made.

    ``guard`` watches the class, its declared fields and its options. ``reason`` says why, if
    upstream's code must build the instances; the guard, if there is one, then watches that. If the
    class has an ``on_bind_field``, or a field that binds itself, instances have copies of a
    prototype's fields, but are not lazy.
    """

    cdef readonly object schema_class
    # The result of the examination, and the number of instances before the next one.
    cdef readonly Guard guard
    cdef readonly str reason
    cdef int wait
    # The state of a new instance. It is not LAZY where the class has another ``_init_fields``
    # (UNBOUND), or an ``on_bind_field`` or a field that binds itself.
    cdef State begun
    # Whether it has one of the latter; and the names of these fields, and with an
    # ``on_bind_field``, of fields with two names.
    cdef bint has_hook
    cdef set binding_themselves
    # The class's fields, a dict or OrderedDict, and options, from which prototypes are made.
    cdef readonly object declared
    cdef readonly object opts
    # The settings in `Meta`, for instances that are given none.
    cdef object many, unknown
    # Whether a field has a field inside that has a field inside. When upstream copies an instance,
    # it copies such fields once more.
    cdef bint copies_bind_anew
    # By options: the prototype, or the number of instances so far for which there is none.
    cdef readonly dict prototypes

    def __init__(self, schema_class, Guard guard, str reason):
        self.schema_class, self.guard, self.reason = schema_class, guard, reason
        self.prototypes = {}
        self.binding_themselves = set()
        self.has_hook = is_own(schema_class, "on_bind_field")
        if reason:
            return
        self.opts = althaia_type_lookup(schema_class, "opts")
        self.many = getattr(self.opts, "many", None) if upstream.many_by_option else False
        self.unknown = getattr(self.opts, "unknown", None)
        self.declared = althaia_type_lookup(schema_class, "_declared_fields")
        fields = [id(field) for field in self.declared.values()]
        shared = self.has_hook and len(set(fields)) < len(fields)
        for name, field in self.declared.items():
            if field is None:
                continue
            if shared and fields.count(id(field)) > 1:
                # The hook sees the field for one name before the other name is bound.
                self.binding_themselves.add(name)
            if upstreams_binding(type(field)) is not None:
                self.binding_themselves.add(name)
                self.has_hook = True
            for inner in fields_inside(vars_of(field)):
                if fields_inside(vars_of(inner)):
                    self.copies_bind_anew = True
        if not self.has_hook:
            self.begun = UNBOUND if is_own(schema_class, INIT_FIELDS) else LAZY

    cdef bint holds(self, schema) except -1:
        """Whether the result of the examination, positive or negative, still holds."""
        return self.guard is not None and self.guard.holds(schema, EMPTY)

    cdef Prototype find(self, key):
        """Return the prototype for the options, or None if it does not pay yet."""
        found = self.prototypes.get(key, 0)
        cdef Prototype prototype
        if type(found) is Prototype:
            return <Prototype>found
        if found == 0 and len(self.prototypes) >= MOST_PROTOTYPES:
            return None
        self.prototypes[key] = found + 1
        if (found == 0 and not everything_at_once) or not are_known(self, <tuple>key):
            return None
        try:
            schema = build_prototype(<tuple>key, self)
        except (ValueError, LookupError, TypeError, AttributeError, NameError, RuntimeError):
            # The options do not fit, or another thread is changing the fields: upstream's code
            # raises its error for the instance at hand.
            return None
        if not self.holds(schema):
            # The class changed while its fields were copied.
            return None
        hide(schema)
        prototype = Prototype.__new__(Prototype)
        prototype.schema = schema
        prototype.blueprint = self
        if not ALTHAIA_HAS_GIL:
            # Not by several threads at once.
            prototype.read()
        self.prototypes[key] = prototype
        return prototype


cdef bint is_own(cls, str name):
    """Whether a schema class has another method in the place of upstream's."""
    return althaia_type_lookup(cls, name) is not upstream.schema_attributes[name]


cdef Blueprint blueprint_of(cls):
    """Return the blueprint of a class, or None if the class was not examined."""
    table = althaia_type_lookup(cls, "_hooks")
    cdef Blueprint blueprint
    if type(table) is not upstream.HookTable:
        return None
    blueprint = table.blueprint
    # A class may have inherited the table.
    return blueprint if blueprint is not None and blueprint.schema_class is cls else None


cdef Blueprint valid_blueprint(cls, schema):
    """Return the blueprint of a schema class; make it if enough instances were made. Return None if
    there is none that holds."""
    cdef Blueprint previous = blueprint_of(cls)
    cdef Blueprint blueprint
    if previous is not None:
        if previous.holds(schema):
            return previous
        if previous.wait > 0:
            previous.wait -= 1
            return None
    table = althaia_type_lookup(cls, "_hooks")
    if type(table) is not upstream.HookTable:
        return None
    # Examine the class when it has had some instances: many classes never have so many.
    table.examined += 1
    if table.examined < FIRST_EXAMINATION and not everything_at_once:
        return None
    guard, reason = examine(upstream, schema)
    blueprint = Blueprint(cls, guard, reason)
    if not reason and not blueprint.has_hook and not intercept_watched(cls, <Guard>guard):
        # The class changed during the examination. A later instance starts another.
        return None
    if table.examined > FREE_EXAMINATIONS:
        blueprint.wait = 1 << min(table.examined - FREE_EXAMINATIONS, 10)
    table.blueprint = blueprint
    return blueprint


cdef options_key(only, exclude, load_only, dump_only):
    """Return the options that select a schema's fields as a dict key, or None if they make none."""
    selected = None if only is None else plain_names(only)
    excluded = plain_names(exclude)
    write_only, read_only = plain_names(load_only), plain_names(dump_only)
    if (
        excluded is None or write_only is None or read_only is None
        or (selected is None and only is not None)
    ):
        return None
    return (selected, excluded, write_only, read_only)


cdef plain_names(given):
    """Return the names in an option as a tuple; None unless it is a builtin collection of str."""
    cdef tuple found
    if type(given) is tuple:
        found = <tuple>given
    elif type(given) in COLLECTIONS or type(given) is upstream.OrderedSet:
        found = tuple(given)
    else:
        return None
    for name in found:
        if type(name) is not str:
            return None
    return found


cdef bint are_known(Blueprint blueprint, tuple options):
    """Whether all selected and excluded fields exist. If not, upstream must build the instance: its
    error message contains the instance's ``repr``, which may be user code."""
    declared = blueprint.declared
    available = declared.keys() & (blueprint.opts.fields or declared)
    for option in (blueprint.opts.exclude, options[0] or (), options[1]):
        for name in option:
            if type(name) is not str or name.partition(".")[0] not in available:
                return False
    return True


cdef InstanceDict hidden_dict(State state):
    """Return a prototype's dictionary. Its first plans are due at once, because a prototype is made
    after several instances were used."""
    cdef InstanceDict hidden = InstanceDict.__new__(InstanceDict)
    hidden.instance = new_instance(None, state)
    hidden.waits = [1, 1]
    return hidden


cdef int hide(schema):
    """Leave a prototype, which only the engine has, what its instances do not have themselves. Each
    of them gets copies of the mappings and sets, so that equal ones can be one object."""
    cdef InstanceDict hidden = hidden_dict(HIDDEN)
    cdef dict snapshots = {}
    for name, value in vars_of(schema).items():
        if name in MAPPINGS and type(value) is dict:
            fields = tuple([(key, id(field)) for key, field in (<dict>value).items()])
            value = snapshots.setdefault(fields, value)
        elif type(value) is set and not value:
            value = NO_NAMES
        if name not in READ_FROM_CALLERS:
            (<dict>hidden)[name] = value
    put_dict(schema, hidden)


cdef build_prototype(tuple options, Blueprint blueprint):
    """Return an instance of a blueprint's class, built by upstream's own ``__init__`` from the
    attributes that the class had when it was examined."""
    schema = object.__new__(blueprint.schema_class)
    cdef InstanceDict state = InstanceDict()
    cdef dict borrowed = {"_declared_fields": blueprint.declared, "opts": blueprint.opts}
    for name in CONSTRUCTION:
        value = upstream.schema_attributes[name]
        # A property, as set_class is in some releases, comes before what an instance has.
        if type(value) is not property:
            borrowed[name] = value if isinstance(value, type) else MethodType(value, schema)
    if blueprint.binding_themselves:
        borrowed["_bind_field"] = MethodType(bind_by_upstream, schema)
    # The seam's ``construct`` leaves it to upstream's code.
    state.instance = new_instance(None, ORDINARY)
    put_dict(schema, state)
    state.update(borrowed)
    try:
        only, exclude, load_only, dump_only = options
        upstream.schema_attributes["__init__"](
            schema, only=only, exclude=exclude, load_only=load_only, dump_only=dump_only
        )
    finally:
        for name in borrowed:
            del state[name]
    return schema


def bind_by_upstream(schema, name, field):
    """Do what ``Schema._bind_field`` does for a prototype's field, without the user's binding."""
    binding = upstreams_binding(type(field))
    if binding is None:
        upstream.schema_attributes["_bind_field"](schema, name, field)
    else:
        binding(field, name, schema)
