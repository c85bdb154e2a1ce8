"""Prototypes, and how their fields become those of an instance.

A *prototype* is one instance whose plans all others with the same options run. User code never gets
a prototype or one of its fields, and these fields never change. Which of their attributes differ
from instance to instance is read once, and stored as a list of changes for each field. An
instance's *own field* is a copy of the prototype's field with these changes.
"""

# How an attribute of a field is made for an instance.
cdef enum Change:
    PARENT  # the schema to which the fields are bound
    OWN_FIELD  # the instance's field for a field of the prototype
    METHOD  # a method, bound to the instance
    NAMES  # a copy of a set of names
    OWN_FIELDS  # a list in which the prototype's fields are replaced by the instance's
    INFERRED  # copies of the fields that an Inferred field has made

# The mappings that binding creates, and all mappings of fields.
cdef tuple BOUND_MAPPINGS = ("fields", "load_fields", "dump_fields")
cdef tuple MAPPINGS = ("declared_fields", *BOUND_MAPPINGS)
cdef tuple METHODS = ("_serialize_method", "_deserialize_method")
cdef tuple SELECTIONS = ("only", "exclude")
cdef str FIELD_CACHE = "_field_cache"
cdef object ordered_dict = OrderedDict
cdef object ZERO = 0


@cython.final
@cython.no_gc_clear
cdef class Prototype:
    """One instance that represents all with the same options."""

    cdef readonly object schema
    cdef readonly Blueprint blueprint
    # The attributes of the nested instance of which it is a copy, and whose fields it has; or None.
    cdef dict original
    # If the class has an ``on_bind_field``: the prototype after the hook (see instances/hooked),
    # how many instances were tried as that; and for such a one, the prototype before the hook.
    cdef Prototype hooked, before
    cdef int attempts

    # Read when the first instance needs a field of its own: the fields by number, the number of
    # each by id(field), the changes by number, and the sets of names in the fields, each once.
    cdef list fields
    cdef dict index
    cdef list changes
    cdef list sets
    # All attributes, and the names of those that each instance has of its own. For a mapping of own
    # fields: the names in it with the numbers of their fields.
    cdef dict template
    cdef dict attributes
    # By name: what binding has set on a field, other than its changes.
    cdef dict bindings

    cdef int read(self) except -1:
        """Read how the attributes of an instance are made."""
        cdef dict attributes = {}, template = plain_copy(vars_of(self.schema))
        cdef tuple entries, before = None
        cdef object kind = None
        self.fields, self.index, self.changes, self.sets, self.bindings = [], {}, [], [], {}
        for name, value in template.items():
            if self.original is not None:
                if name in lazy_names and value is not self.original.get(name):
                    attributes[name] = None
            elif name in MAPPINGS:
                entries = tuple([
                    (key, number_of(self, field, self.schema)) for key, field in value.items()
                ])
                if entries != before or type(value) is not kind:
                    before, kind = entries, type(value)
                attributes[name] = before
            elif type(value) is upstream.OrderedSet or type(value) is set:
                attributes[name] = None
        self.template, self.attributes = template, attributes
        return 0

    cdef dict build(self, OwnFields own_fields, object parent, object schema):
        """Return the attributes that ``Schema.__init__`` would have set on an instance.

        Neither user code nor upstream's code runs, because both may have changed since the instance
        was made.

        :param own_fields: the schema's own fields so far. The missing ones are added.
        :param parent: the schema to which the fields are bound: the instance, or the schema of
            which it is a copy.
        """
        # The template has all keys in their order, so that storing a value adds none.
        cdef dict built = PyDict_Copy(self.template)
        cdef object value = None, last = None
        for name, numbers in self.attributes.items():
            if numbers is None or numbers is not last:
                value = self.attribute(name, own_fields, parent, schema)
            else:
                # The same fields as in the mapping before, which is of the same type.
                value = value.copy()
            last = numbers
            PyDict_SetItem(built, name, value)
        return built

    cdef object attribute(self, object name, OwnFields own_fields, object parent, object schema):
        """Return one attribute of an instance; see :func:`build`."""
        cdef object value = self.template[name], numbers = self.attributes.get(name)
        if numbers is not None:
            fields = own_fields.by_name(<tuple>numbers, parent, schema)
            return ordered_dict(fields) if type(value) is ordered_dict else fields
        if type(value) is upstream.OrderedSet:
            return copied_names(value)
        return value if value is None else type(value)(value)

    cdef dict unbound(self, OwnFields own_fields, object schema):
        """Return the attributes that an instance has just before upstream binds its fields, which
        are copies of the declared ones."""
        cdef dict built = PyDict_Copy(self.template), declared = self.blueprint.declared
        for name, number in <tuple>self.attributes["fields"]:
            if own_fields.by_number[number] is None:
                field = declared.get(name)
                own_fields.by_number[number] = clone(
                    self.fields[number] if field is None else field
                )
                # Upstream applies the options of the call to nested fields before it binds any.
                own_fields.change_names(number, vars_of(own_fields.by_number[number]))
        for name in self.attributes:
            built[name] = (
                {} if name in BOUND_MAPPINGS
                else self.attribute(name, own_fields, schema, schema)
            )
        del built["error_messages"]
        return built

    cdef list binding(self, str name, object number):
        """Return the attributes that binding has set on a field to the same values for each
        instance."""
        cdef dict before
        cdef list found = <list>self.bindings.get(name)
        if found is None:
            declared = self.blueprint.declared.get(name)
            before = {} if declared is None else vars_of(declared)
            changed = {name for name, _, _ in self.changes[number]}
            found = self.bindings[name] = [
                (name, value) for name, value in vars_of(self.fields[number]).items()
                if name not in changed and before.get(name, self) is not value
            ]
        return found


@cython.final
@cython.no_gc_clear
cdef class OwnFields:
    """An instance's own fields by the number of the prototype's field; None for one that was not
    made yet."""

    cdef Prototype prototype
    # The instance's fields and sets by number; None for those that were not made yet.
    cdef list by_number
    cdef list sets
    # One bit for each nested field of which calls needed only the schema: its attributes are still
    # the prototype's, apart from its sets of names. User code does not get it.
    cdef object loose

    cdef object find(self, object field):
        """Return the own field for a prototype's field, or None."""
        number = self.prototype.index.get(id(field))
        return None if number is None else self.by_number[number]

    cdef bint is_loose(self, object number) except -1:
        return self.loose is not ZERO and self.loose >> number & 1

    cdef object find_bound(self, object field):
        """Return the own field for a prototype's field if it is as construction would have left it;
        else None."""
        number = self.prototype.index.get(id(field))
        return None if number is None or self.is_loose(number) else self.by_number[number]

    cdef object add_loose(self, object field):
        """Make the own field for a nested field of the prototype, for calls that need its schema.
        Return a field that upstream never binds as it is: all instances share it."""
        cdef dict state
        number = self.prototype.index.get(id(field))
        if number is None:
            return field
        own = clone(field)
        state = vars_of(own)
        PyDict_SetItem(state, "_schema", None)
        # The nested schema's own ``__init__`` is given its sets of names, and may change them.
        self.change_names(number, state)
        self.loose |= 1 << number
        self.by_number[number] = own
        return own

    cdef int change_names(self, object number, dict state) except -1:
        """Give a field with these attributes its own sets of names, which the fields around it
        share."""
        cdef int kind
        for change in <list>self.prototype.changes[number]:
            kind = change[1]
            # They come first.
            if kind != NAMES:
                break
            self.change([change], state, None, None)
        return 0

    cdef int bind(self, str name, object number, object schema) except -1:
        """Bind one of the fields of :func:`Prototype.unbound`: set what binding has set on the
        prototype's field."""
        cdef dict state = vars_of(self.by_number[number])
        for key, value in self.prototype.binding(name, number):
            PyDict_SetItem(state, key, value)
        return self.change(<list>self.prototype.changes[number], state, schema, schema)

    cdef object make(self, object number, object parent, object schema):
        """Return the own field of this number. If there is none, make it, with those inside and
        around it. Return None for None."""
        cdef object field
        if number is None:
            return None
        field = self.by_number[number]
        if field is None:
            field = self.by_number[number] = clone(self.prototype.fields[number])
        elif self.is_loose(number):
            self.loose ^= 1 << number
        else:
            return field
        self.change(<list>self.prototype.changes[number], vars_of(field), parent, schema)
        return field

    cdef dict by_name(self, tuple numbers, object parent, object schema):
        """Return the own fields by name. Make those that are missing.

        :param numbers: pairs of a name and the number of its field.
        """
        cdef dict fields = {}
        for name, number in numbers:
            PyDict_SetItem(fields, name, self.make(number, parent, schema))
        return fields

    cdef int change(self, list changes, dict state, object parent, object schema) except -1:
        cdef int kind
        for name, kind, value in changes:
            if kind == PARENT:
                value = parent
            elif kind == OWN_FIELD:
                value = self.make(value, parent, schema)
            elif kind == METHOD:
                value = MethodType(value, schema)
            elif kind == NAMES:
                if self.sets[value] is None:
                    self.sets[value] = copied_names(self.prototype.sets[value])
                value = self.sets[value]
            elif kind == INFERRED:
                value = {cls: bound_copy(made, state) for cls, made in (<dict>value).items()}
            else:
                value = [
                    self.make(each, parent, schema) if type(each) is int else each
                    for each in <list>value
                ]
            PyDict_SetItem(state, name, value)
        return 0


cdef object bound_copy(object field, dict to):
    """Return a copy of a field that has the parent and the root in these attributes."""
    cdef object copied = clone(field)
    vars_of(copied).update(parent=to["parent"], root=to["root"])
    return copied


cdef OwnFields own_fields_of(Prototype prototype, OwnFields before):
    """Return a copy of an instance's own fields so far, to which more are added. If memory runs out
    meanwhile, the instance keeps what it had."""
    cdef OwnFields own_fields = OwnFields.__new__(OwnFields)
    if prototype.template is None:
        prototype.read()
    own_fields.prototype = prototype
    own_fields.by_number = (
        [None] * len(prototype.fields) if before is None else list(before.by_number)
    )
    own_fields.sets = [None] * len(prototype.sets) if before is None else list(before.sets)
    own_fields.loose = ZERO if before is None else before.loose
    return own_fields


# ---- Reading a prototype -----------------------------------------------------------------


cdef object number_of(Prototype prototype, object field, object schema):
    """Return the number of a prototype's field. If it has none, add it, with the fields inside
    and around it. Return None for None, which marshmallow-sqlalchemy declares for a
    name that it leaves out."""
    cdef list changes = []
    cdef dict state
    cdef object parent
    number = prototype.index.get(id(field))
    if field is None or number is not None:
        return number
    state = vars_of(field)
    number = prototype.index[id(field)] = len(prototype.fields)
    prototype.fields.append(field)
    prototype.changes.append(changes)
    for name in SELECTIONS:
        value = state.get(name)
        if type(value) is upstream.OrderedSet:
            changes.append((name, NAMES, number_of_set(prototype, value)))
    parent = state.get("parent")
    if parent is None:
        return number
    # Binding a field copies the fields inside it. A field with two names is bound twice: what is
    # inside its inner field then keeps the first copy as its parent, which no mapping contains.
    changes.append(
        ("parent", PARENT, None) if parent is schema
        else ("parent", OWN_FIELD, number_of(prototype, parent, schema))
    )
    changes.append(("root", PARENT, None))
    if FIELD_CACHE in state:
        # Upstream makes an inferred field, and the fields that it has inferred, for each instance.
        changes.append((FIELD_CACHE, INFERRED, state[FIELD_CACHE]))
    for name in METHODS:
        method = state.get(name)
        # A class method is bound to the class. isinstance() would call ABCMeta.__instancecheck__:
        # another thread could run in its Python code.
        if type(method) is MethodType and PyType_IsSubtype(
            type(method.__self__), upstream.Schema
        ):
            changes.append((name, METHOD, method.__func__))
    for name in INNER:
        inner = state.get(name)
        # All instances share an inner field that is never bound.
        if inner is not None and vars_of(inner).get("parent") is not None:
            changes.append((name, OWN_FIELD, number_of(prototype, inner, schema)))
    if "tuple_fields" in state:
        changes.append(("tuple_fields", OWN_FIELDS, [
            each if vars_of(each).get("parent") is None else number_of(prototype, each, schema)
            for each in state["tuple_fields"]
        ]))
    return number


cdef Py_ssize_t number_of_set(Prototype prototype, object value) except -1:
    """Return the number of a set of names; add it if it is new. Several fields may share one."""
    cdef Py_ssize_t i
    for i in range(len(prototype.sets)):
        if prototype.sets[i] is value:
            return i
    prototype.sets.append(value)
    return len(prototype.sets) - 1
