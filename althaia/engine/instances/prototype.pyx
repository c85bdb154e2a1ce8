"""Prototypes, and how their fields become those of an instance.

A *prototype* is one instance whose plans all others with the same options run. User code never gets
a prototype or one of its fields, and these fields never change. Which of their attributes differ
from instance to instance is read once, and stored as a list of changes for each field. An
instance's *own field* is a copy of the prototype's field with these changes.
"""

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        pass
    object PyType_GenericAlloc(PyTypeObject* cls, Py_ssize_t items)

# How an attribute of a field is made for an instance.
cdef enum Change:
    PARENT  # the schema to which the fields are bound
    OWN_FIELD  # the instance's field for a field of the prototype
    METHOD  # a method, bound to the instance
    NAMES  # a copy of a set of names
    OWN_FIELDS  # a list in which the prototype's fields are replaced by the instance's

# The mappings that binding creates, and all mappings of fields.
cdef tuple BOUND_MAPPINGS = ("fields", "load_fields", "dump_fields")
cdef tuple MAPPINGS = ("declared_fields", *BOUND_MAPPINGS)
cdef tuple METHODS = ("_serialize_method", "_deserialize_method")
cdef tuple SELECTIONS = ("only", "exclude")
cdef object ordered_dict = OrderedDict
# The number of None, which marshmallow-sqlalchemy declares for a name that it leaves out.
cdef int NO_FIELD = -1
cdef object NONE_LOOSE = 0


@cython.final
@cython.no_gc_clear
cdef class Prototype:
    """One instance that represents all with the same options."""

    cdef readonly object schema
    cdef readonly Blueprint blueprint
    # The attributes of the nested instance of which it is a copy, and whose fields it has; or None.
    cdef dict original
    # The prototypes with the values that user code has left (see instances/hooked), and how many
    # instances were tried as one; for such a one, the prototype before that. In a list, which the
    # GC can clear: it clears no prototype.
    cdef list hooked
    cdef int attempts
    cdef Prototype before
    # The snapshots of its ``dump_fields``, its ``load_fields``, and of each field's attributes.
    cdef list snapshots

    # Read when the first instance needs a field of its own: the fields by number, the number of
    # each by id(field), and the changes by number.
    cdef list fields
    cdef dict index
    cdef list changes
    # The attributes that a lazy instance lacks, in upstream's order. For a mapping of own fields:
    # the names in it with the numbers of their fields.
    cdef dict attributes
    # By name: what binding has set on a field, other than its changes.
    cdef dict bindings

    def __cinit__(self):
        # Not on demand: two threads could each put one there.
        self.hooked = []

    cdef int read(self) except -1:
        """Read how the attributes of an instance are made."""
        self.fields, self.index, self.changes, self.bindings = [], {}, [], {}
        cdef dict attributes = {}, alike = {}
        for name, value in list(vars_of(self.schema).items()):
            if name in MAPPINGS and self.original is None:
                entries = tuple([
                    (key, number_of(self, field, self.schema)) for key, field in value.items()
                ])
                attributes[name] = alike.setdefault(entries, entries)
            elif name in late_names:
                attributes[name] = None
        self.attributes = attributes

    cdef dict build(self, OwnFields own_fields, schema):
        """Return the attributes that ``Schema.__init__`` would have set on an instance, and that a
        lazy one lacks.

        Neither user code nor upstream's code runs, because both may have changed since the instance
        was made.

        :param own_fields: the schema's own fields so far. The missing ones are added.
        """
        return {name: self.attribute(name, own_fields, schema) for name in self.attributes}

    cdef attribute(self, name, OwnFields own_fields, schema):
        """Return one attribute of an instance; see :func:`build`."""
        cdef object value = vars_of(self.schema)[name], numbers = self.attributes[name]
        if numbers is not None:
            fields = own_fields.by_name(<tuple>numbers, schema)
            return ordered_dict(fields) if type(value) is ordered_dict else fields
        if value is None or (self.original is not None and value is self.original.get(name)):
            return value
        return type(value)(value)

    cdef dict unbound(self, OwnFields own_fields, schema):
        """Return what :func:`build` returns, as it is just before upstream binds the fields, which
        are copies of the declared ones."""
        cdef Py_ssize_t number
        declared = self.blueprint.declared
        for name, number in <tuple>self.attributes[FIELDS]:
            if own_fields.by_number[number] is None:
                own_fields.by_number[number] = clone(declared[name])
                # Upstream applies the options of the call to nested fields before it binds any.
                own_fields.change_names(number, vars_of(own_fields.by_number[number]))
        return {
            name: {} if name in BOUND_MAPPINGS else self.attribute(name, own_fields, schema)
            for name in self.attributes
        }

    cdef list binding(self, str name, Py_ssize_t number):
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
    """The own fields of an instance that has a prototype."""

    cdef Prototype prototype
    # The instance's fields by number; None for those that were not made yet.
    cdef list by_number
    # A bit for each *loose* field, of which calls needed only the schema: its attributes are still
    # the prototype's, apart from its sets of names, and user code does not get it. A field does not
    # show it itself: one of a copy stays bound to the origin, which may be the prototype's schema.
    cdef object loose
    # Its sets of names by the id() of the prototype's, because several fields may share one.
    cdef dict sets
    # If these are the fields of another instance, of which upstream's code has made a copy: the
    # instance, to which they stay bound.
    cdef object origin

    cdef bint is_loose(self, Py_ssize_t number) except -1:
        return self.loose is not NONE_LOOSE and self.loose >> number & 1

    cdef int add_loose(self, Py_ssize_t number) except -1:
        """Make the own field for a nested field of the prototype, for calls that need its
        schema."""
        own = clone(self.prototype.fields[number])
        cdef dict state = vars_of(own)
        PyDict_SetItem(state, "_schema", None)
        # The nested schema's own ``__init__`` is given its sets of names, and may change them.
        self.change_names(number, state)
        self.loose |= <object>1 << number
        self.by_number[number] = own

    cdef int change_names(self, Py_ssize_t number, dict state) except -1:
        """Give a field with these attributes its own sets of names, which the fields around it
        share."""
        for each in <list>self.prototype.changes[number]:
            # They come first, and most fields have none.
            if <int>each[1] != NAMES:
                break
            self.change([each], state, None)

    cdef int bind(self, str name, Py_ssize_t number, schema) except -1:
        """Bind one of the fields of :func:`Prototype.unbound`: set what binding has set on the
        prototype's field."""
        cdef dict state = vars_of(self.by_number[number])
        # Before 3.24 a field has none until it is bound, and then it is the first that is set.
        state.setdefault("parent", None)
        for key, value in self.prototype.binding(name, number):
            PyDict_SetItem(state, key, value)
        return self.change(<list>self.prototype.changes[number], state, schema)

    cdef make(self, Py_ssize_t number, schema):
        """Return the own field of this number. If there is none, make it, with those inside and
        around it. Return None for :data:`NO_FIELD`."""
        if number == NO_FIELD:
            return None
        field = self.by_number[number]
        if field is None:
            field = self.by_number[number] = clone(self.prototype.fields[number])
        elif self.is_loose(number):
            # At once: making the field around it asks for this one again.
            self.loose ^= <object>1 << number
            if not ALTHAIA_HAS_GIL:
                # Another thread may be binding the same one, to a field around it of its own.
                field = self.by_number[number] = clone(field)
        else:
            return field
        self.change(<list>self.prototype.changes[number], vars_of(field), schema)
        return field

    cdef int note(self, Py_ssize_t number, field) except -1:
        """Record a field that others have bound, and those inside it."""
        cdef dict state
        cdef int rule
        if type(field) is not type(self.prototype.fields[number]):
            return 0
        self.by_number[number] = field
        state = vars_of(field)
        for name, rule, value in <list>self.prototype.changes[number]:
            if rule == OWN_FIELD and name != "parent":
                self.note(value, state.get(name))
            elif rule == OWN_FIELDS and type(state.get(name)) is list:
                for inner, field in zip(<list>value, <list>state[name]):
                    if type(inner) is int:
                        self.note(inner, field)

    cdef dict by_name(self, tuple numbers, schema):
        """Return the own fields by name. Make those that are missing.

        :param numbers: pairs of a name and the number of its field.
        """
        cdef dict fields = {}
        for name, number in numbers:
            PyDict_SetItem(fields, name, self.make(number, schema))
        return fields

    cdef int change(self, list changes, dict state, schema) except -1:
        cdef int rule
        for name, rule, value in changes:
            if rule == PARENT:
                value = schema if self.origin is None else self.origin
            elif rule == OWN_FIELD:
                value = self.make(value, schema)
            elif rule == METHOD:
                value = MethodType(value, schema)
            elif rule == NAMES:
                key = id(value)
                if key not in self.sets:
                    self.sets[key] = type(value)(value)
                value = self.sets[key]
            else:
                value = [
                    self.make(each, schema) if type(each) is int else each
                    for each in <list>value
                ]
            PyDict_SetItem(state, name, value)


cdef OwnFields own_fields_of(Prototype prototype, OwnFields before):
    """Return a copy of an instance's own fields so far, to which more are added. If memory runs out
    meanwhile, the instance keeps what it had."""
    cdef OwnFields own_fields = OwnFields.__new__(OwnFields)
    if prototype.attributes is None:
        prototype.read()
    own_fields.prototype = prototype
    own_fields.by_number = (
        [None] * len(prototype.fields) if before is None else list(before.by_number)
    )
    own_fields.sets = {} if before is None else PyDict_Copy(before.sets)
    own_fields.loose = NONE_LOOSE if before is None else before.loose
    return own_fields


cdef made_with(cls, dict attributes):
    """Return a new object of a class with this instance dictionary, without calling the class."""
    # object.__new__ would make a dictionary on CPython 3.11, which is replaced at once.
    made = PyType_GenericAlloc(<PyTypeObject*>cls, 0)
    put_dict(made, attributes)
    return made


cdef clone(field):
    """Return a shallow copy, as ``copy.copy`` makes it of an object without copy methods."""
    return made_with(type(field), PyDict_Copy(vars_of(field)))


# ---- Reading a prototype -----------------------------------------------------------------


cdef number_of(Prototype prototype, field, schema):
    """Return the number of a prototype's field. If it has none, add it, with the fields inside
    and around it."""
    cdef list changes = []
    cdef dict state
    if field is None:
        return NO_FIELD
    number = prototype.index.get(id(field))
    if number is not None:
        return number
    state = vars_of(field)
    number = prototype.index[id(field)] = len(prototype.fields)
    prototype.fields.append(field)
    prototype.changes.append(changes)
    declared = prototype.blueprint.declared.get(state.get("name"))
    for name in SELECTIONS:
        value = state.get(name)
        # Older releases make a set; one that the declared field has is the program's.
        if type(value) is upstream.OrderedSet or (
            type(value) is set and (declared is None or vars_of(declared).get(name) is not value)
        ):
            changes.append((name, NAMES, value))
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
