"""Recipes: how the fields of a prototype become those of a lazy instance that is materialised.

A prototype's fields never change. Which of their attributes differ from instance to instance is
read once, and stored as a list of changes for each field. An instance's *own field* is a copy of
the prototype's field with these changes. ``lazy`` calls :func:`recipe_of` when a prototype's first
instance is materialised.
"""

# How an attribute of a field is made for an instance.
cdef enum Change:
    PARENT  # the schema to which the fields are bound
    OWN_FIELD  # the instance's field for a field of the prototype
    METHOD  # a method, bound to the instance
    NAMES  # a copy of a set of names
    OWN_FIELDS  # a list in which the prototype's fields are replaced by the instance's
    INFERRED  # copies of the fields that an Inferred field has made

# How an attribute of the schema is made. All others are the prototype's.
cdef enum Attribute:
    PLAIN_FIELDS  # a dict of the instance's fields
    ORDERED_FIELDS  # an OrderedDict of the instance's fields
    SAME_FIELDS  # a copy of the last dict of PLAIN_FIELDS, which has the same fields
    ORDERED  # a copy of one of upstream's sets of names
    UNORDERED  # a copy of a set

cdef tuple METHODS = ("_serialize_method", "_deserialize_method")
cdef tuple SELECTIONS = ("only", "exclude")
cdef str FIELD_CACHE = "_field_cache"
cdef object ordered_dict = OrderedDict
cdef object ZERO = 0


@cython.final
@cython.no_gc_clear
cdef class Recipe:
    """For each field of one prototype, by its number: the changes that make an instance's field."""

    # The prototype's fields by number, the number of each by id(field), and the changes by number.
    cdef list fields
    cdef dict index
    cdef list changes
    # The sets of names in the fields' attributes, each once.
    cdef list sets
    # All attributes of the prototype, and how those are made that each instance has of its own.
    cdef dict template
    cdef list attributes
    # The names in `fields` with the numbers of their fields.
    cdef tuple names
    # By name: what binding has set on a field of the prototype, other than its changes.
    cdef dict bindings

    cdef dict build(self, OwnFields own_fields, object parent, object schema):
        """Return the attributes that ``Schema.__init__`` would have set on an instance.

        Neither user code nor upstream's code runs, because both may have changed since the instance
        was made.

        :param own_fields: the schema's own fields so far. The missing ones are added.
        :param parent: the schema to which the fields are bound: the instance, or the schema of
            which it is a copy.
        """
        # The template has all keys in their order, so that storing a value adds none.
        cdef dict built = PyDict_Copy(self.template), fields = None
        cdef int kind
        for name, kind, value in self.attributes:
            if kind == PLAIN_FIELDS:
                fields = own_fields.by_name(<tuple>value, parent, schema)
                PyDict_SetItem(built, name, fields)
            elif kind == ORDERED_FIELDS:
                built[name] = ordered_dict(own_fields.by_name(<tuple>value, parent, schema))
            elif kind == SAME_FIELDS:
                PyDict_SetItem(built, name, PyDict_Copy(fields))
            elif kind == ORDERED:
                PyDict_SetItem(built, name, copied_names(value))
            else:
                PyDict_SetItem(built, name, set(value))
        return built

    cdef list binding(self, object number, object declared):
        """Return the attributes that binding has set on a field to the same values for each
        instance."""
        cdef dict before = {} if declared is None else vars_of(declared)
        changed = {name for name, _, _ in self.changes[number]}
        return [
            (name, value) for name, value in vars_of(self.fields[number]).items()
            if name not in changed and before.get(name, self) is not value
        ]

    cdef Recipe with_fields(self, list fields):
        """Return a recipe for other fields of the same numbers and changes, of which no instance
        is built."""
        cdef Recipe recipe = Recipe.__new__(Recipe)
        recipe.fields, recipe.changes, recipe.sets = fields, self.changes, self.sets
        recipe.index = {id(field): number for number, field in enumerate(fields)}
        return recipe

    cdef object fields_of(self, OwnFields own_fields, object schema):
        """Return the attribute ``fields`` of an instance. Missing own fields are added."""
        cdef dict fields = own_fields.by_name(self.names, schema, schema)
        return ordered_dict(fields) if type(self.template["fields"]) is ordered_dict else fields


@cython.final
@cython.no_gc_clear
cdef class OwnFields:
    """An instance's own fields by the number of the prototype's field; None for one that was not
    made yet."""

    cdef Recipe recipe
    # The instance's fields and sets by number; None for those that were not made yet.
    cdef list by_number
    cdef list sets
    # One bit for each nested field of which calls needed only the schema: its attributes are still
    # the prototype's, apart from its sets of names. User code does not get it.
    cdef object loose

    cdef object find(self, object field):
        """Return the own field for a prototype's field, or None."""
        number = self.recipe.index.get(id(field))
        return None if number is None else self.by_number[number]

    cdef bint is_loose(self, object number) except -1:
        return self.loose is not ZERO and self.loose >> number & 1

    cdef object find_bound(self, object field):
        """Return the own field for a prototype's field if it is as construction would have left it;
        else None."""
        number = self.recipe.index.get(id(field))
        return None if number is None or self.is_loose(number) else self.by_number[number]

    cdef object add_loose(self, object field):
        """Make the own field for a nested field of the prototype, for calls that need its schema.
        Return a field that upstream never binds as it is: all instances share it."""
        cdef dict state
        number = self.recipe.index.get(id(field))
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
        for change in <list>self.recipe.changes[number]:
            kind = change[1]
            # They come first.
            if kind != NAMES:
                break
            self.change([change], state, None, None)
        return 0

    cdef dict start_unbound(self, dict declared):
        """Start from copies of the declared fields that are not bound. Return those of the fields
        that the instance has, by name."""
        cdef dict copies = {}
        for name, number in self.recipe.names:
            if self.by_number[number] is None:
                field = declared.get(name)
                self.by_number[number] = clone(
                    self.recipe.fields[number] if field is None else field
                )
                # Upstream applies the options of the call to nested fields before it binds any.
                self.change_names(number, vars_of(self.by_number[number]))
            copies[name] = self.by_number[number]
        return copies

    cdef int bind(self, str name, object number, object schema, dict declared) except -1:
        """Bind one of the copies from :func:`start_unbound`: set what binding has set on the
        prototype's field."""
        cdef dict state = vars_of(self.by_number[number])
        binding = self.recipe.bindings.get(name)
        if binding is None:
            binding = self.recipe.bindings[name] = self.recipe.binding(number, declared.get(name))
        for key, value in <list>binding:
            PyDict_SetItem(state, key, value)
        return self.change(<list>self.recipe.changes[number], state, schema, schema)

    cdef object make(self, object number, object parent, object schema):
        """Return the own field of this number. If there is none, make it, with those inside and
        around it. Return None for None."""
        cdef object field
        if number is None:
            return None
        field = self.by_number[number]
        if field is None:
            field = self.by_number[number] = clone(self.recipe.fields[number])
        elif self.is_loose(number):
            self.loose ^= 1 << number
        else:
            return field
        self.change(<list>self.recipe.changes[number], vars_of(field), parent, schema)
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
                    self.sets[value] = copied_names(self.recipe.sets[value])
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


cdef OwnFields own_fields_of(Recipe recipe, OwnFields before):
    """Return a copy of an instance's own fields so far, to which more are added. If memory runs out
    meanwhile, the instance keeps what it had."""
    cdef OwnFields own_fields = OwnFields.__new__(OwnFields)
    own_fields.recipe = recipe
    own_fields.by_number = [None] * len(recipe.fields) if before is None else list(before.by_number)
    own_fields.sets = [None] * len(recipe.sets) if before is None else list(before.sets)
    own_fields.loose = ZERO if before is None else before.loose
    return own_fields


# ---- Reading a prototype -----------------------------------------------------------------


cdef Recipe recipe_of(object prototype):
    """Return the recipe of a prototype, which is a schema instance."""
    cdef Recipe recipe = Recipe.__new__(Recipe)
    cdef list attributes = []
    cdef tuple entries, before = None
    recipe.fields, recipe.index, recipe.changes, recipe.sets = [], {}, [], []
    recipe.bindings = {}
    recipe.template = plain_copy(vars_of(prototype))
    for name, value in recipe.template.items():
        if name in MAPPINGS:
            entries = tuple([
                (key, number_of(recipe, field, prototype)) for key, field in value.items()
            ])
            if name == "fields":
                recipe.names = entries
            if type(value) is ordered_dict:
                attributes.append((name, ORDERED_FIELDS, entries))
                continue
            attributes.append((name, SAME_FIELDS if entries == before else PLAIN_FIELDS, entries))
            before = entries
        elif type(value) is upstream.OrderedSet:
            attributes.append((name, ORDERED, value))
        elif type(value) is set:
            attributes.append((name, UNORDERED, value))
    recipe.attributes = attributes
    return recipe


cdef object number_of(Recipe recipe, object field, object prototype):
    """Return the number of a prototype's field. If it has none, add it to the recipe, with the
    fields inside and around it. Return None for None, which marshmallow-sqlalchemy declares for a
    name that it leaves out."""
    cdef list changes = []
    cdef dict state
    cdef object parent
    number = recipe.index.get(id(field))
    if field is None or number is not None:
        return number
    state = vars_of(field)
    number = recipe.index[id(field)] = len(recipe.fields)
    recipe.fields.append(field)
    recipe.changes.append(changes)
    for name in SELECTIONS:
        value = state.get(name)
        if type(value) is upstream.OrderedSet:
            changes.append((name, NAMES, number_of_set(recipe, value)))
    parent = state.get("parent")
    if parent is None:
        return number
    # Binding a field copies the fields inside it. A field with two names is bound twice: what is
    # inside its inner field then keeps the first copy as its parent, which no mapping contains.
    changes.append(
        ("parent", PARENT, None) if parent is prototype
        else ("parent", OWN_FIELD, number_of(recipe, parent, prototype))
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
            changes.append((name, OWN_FIELD, number_of(recipe, inner, prototype)))
    if "tuple_fields" in state:
        changes.append(("tuple_fields", OWN_FIELDS, [
            each if vars_of(each).get("parent") is None else number_of(recipe, each, prototype)
            for each in state["tuple_fields"]
        ]))
    return number


cdef Py_ssize_t number_of_set(Recipe recipe, object value) except -1:
    """Return the number of a set of names; add it if it is new. Several fields may share one."""
    cdef Py_ssize_t i
    for i in range(len(recipe.sets)):
        if recipe.sets[i] is value:
            return i
    recipe.sets.append(value)
    return len(recipe.sets) - 1
