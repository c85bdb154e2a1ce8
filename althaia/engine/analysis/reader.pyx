"""Read schemas and fields without running user code, and record what was read for the guard.

The analyses of dump and load read everything through an :class:`Analysis`. It raises
:class:`NotPlannable` for an attribute that cannot be read without user code (a descriptor, a
``__getattribute__``); the field's own method runs instead.

Loops over a dictionary here use its keys, not ``items()``: the items iterator of CPython 3.11
crashes if the allocation of its first pair fails.
"""

cdef tuple NO_MEMBERS = ((), ())
cdef tuple UTILS_OF_FIELDS = ("fields", ("utils",))
cdef tuple HOLDING = (*INNER, "tuple_fields")

NOT_PLAIN = "the dictionary of an instance cannot be replaced"
"""The reason for a schema whose instance dictionary cannot hold plans."""

# The methods that a step calls itself, if it does not replace them.
CONVERSION = frozenset(("serialize", "_serialize", "get_value", "deserialize", "_deserialize"))
# Real fields nest a few levels deep. A deeper structure may be infinite.
cdef int DEEPEST = 50


def attributes_of(schema):
    """Return a copy of a schema's instance dictionary; empty if reading it would run user code."""
    return object.__getattribute__(schema, "__dict__") if may_be_put(schema) else {}


@cython.final
cdef class Analysis:
    """One schema under analysis.

    :param schema: the schema instance.
    :param members: its mapping of field names to fields that the plan is for.
    :param sibling: the guard of another plan that may watch the same fields.
    """

    def __init__(self, Upstream upstream, schema, members, Guard sibling=None):
        self.upstream = upstream
        self.schema = schema
        self.members = members
        # Everything watched is copied before it is read. If another thread changes it during the
        # analysis, the guard does not hold.
        self._members = NO_MEMBERS
        if is_plain_mapping(type(members)):
            copied = dict(members)
            self._members = (tuple(copied), tuple(copied.values()))
        self.state = attributes_of(schema)
        self._hidden = state_now(existing_dict(schema)) == HIDDEN
        self._sibling = sibling
        self._outer = []
        self._types = {}
        self._fields = {}
        self._lists = []
        self._entries = {}
        self._schema_names = {}
        self._groups = set()
        self.watch_type(type(schema))

    def items(self):
        """Return the names and fields of the mapping as they were when the analysis began."""
        return list(zip(*self._members))

    # -- What is watched

    cpdef watch_type(self, cls):
        """Watch a class. Must be called before an attribute of it is read."""
        if cls is self._last_type:
            return
        key = <Py_ssize_t><void*>cls
        if key not in self._types:
            self._types[key] = (cls, althaia_type_tag(cls))
        self._last_type = cls

    cpdef watch_field(self, field):
        """Watch a field or validator. Must be called before an attribute of it is read.

        :raises NotPlannable: it has no instance dictionary.
        """
        key = <Py_ssize_t><void*>field
        if key in self._fields:
            return
        self.watch_type(type(field))
        try:
            self._fields[key] = (field, type(field), copied_state(field))
        except TypeError as error:
            raise NotPlannable(str(error)) from None

    cpdef dict state_of(self, field):
        """Return the instance dictionary of a field as it was when it was first watched."""
        cdef tuple entry
        if field is self._last_field:
            return self._last_state
        key = <Py_ssize_t><void*>field
        entry = <tuple>self._fields.get(key)
        if entry is None:
            self.watch_field(field)
            entry = <tuple>self._fields[key]
        # Mostly several attributes of one field are read, one after the other.
        self._last_field = field
        self._last_state = <dict>entry[2]
        return self._last_state

    def leave_out(self, field, name):
        """Do not watch this attribute of a watched field: each call reads it anew."""
        state = self.state_of(field)
        if name in state:
            state[name] = ANY

    cpdef watch_list(self, items):
        """Watch a list. Return its items as a tuple."""
        watched = tuple(items)
        self._lists += (items, watched) if watched else (items,)
        return watched

    cpdef watch_entry(self, mapping, key):
        """Watch a key of a dictionary. Return its value, or ``ABSENT``."""
        value = mapping.get(key, ABSENT)
        self._entries[id(mapping), key] = (mapping, key, value)
        return value

    def watch_original(self, module, name, original):
        """Watch a name in a module of the standard library that a step does not look up.

        :raises NotPlannable: it is not ``original``.
        """
        if self.watch_entry(vars(module), name) is not original:
            raise NotPlannable(f"{module.__name__}.{name} is replaced")

    def new_slot(self):
        self.slots += 1
        return self.slots - 1

    def with_own_slot(self, dict options):
        """Return the options of a step whose user code may get the step's field."""
        return options if "own_slot" in options else options | {"own_slot": self.new_slot()}

    def guard(self):
        """Return the guard of everything that was watched and that user code may change."""
        # A mapping that is no plain dictionary is not watched: reading it could run user code.
        cdef bint with_members = self._members is not NO_MEMBERS and not self._hidden
        return Guard(
            () if self._hidden
            else tuple([entry_of(name, self._schema_names[name]) for name in self._schema_names]),
            self.members if with_members else EMPTY,
            self._members if with_members else NO_MEMBERS,
            tuple(self._types.values()),
            tuple([
                (field, cls, snapshot(state))
                for field, cls, state in self._fields.values()
                if not (self._hidden and self._is_bound_field(cls, state))
            ]),
            tuple(self._lists),
            tuple(self._entries.values()),
            self.upstream.entries_of(frozenset(self._groups)),
            self._sibling,
        )

    cdef bint _is_bound_field(self, cls, dict state):
        """Whether an object of this class and with these attributes is a field that was bound. The
        bound fields of a hidden schema are its own copies, and never change. A field that upstream
        does not bind is the declared one."""
        return PyType_IsSubtype(cls, self.upstream.Field) and state.get("parent") is not None

    def holds_fields(self, field):
        """Return whether a field has fields inside. What its own method calls may get its
        schema."""
        state = self.state_of(field)
        return any([state.get(name) is not None for name in HOLDING])

    def has_own_methods(self, field):
        """Return whether a class of the user's overrides a method that upstream's conversion
        calls."""
        cls = type(field)
        if self.upstream.has_passed(cls, UPSTREAMS_METHODS):
            return False
        for base in cls.__mro__:
            if base in seam.pristine or base is object:
                continue
            for name in base.__dict__.copy():
                if name not in CONVERSION and not name.startswith("__") and any(
                    [hasattr(type(seam.pristine[each].get(name)), "__get__")
                     for each in cls.__mro__ if each in seam.pristine]
                ):
                    return True
        self.upstream.note_passed(cls, UPSTREAMS_METHODS)
        return False

    @contextmanager
    def inside(self, field):
        """A context manager in which a field inside another one is analysed.

        :raises NotPlannable: the field is inside itself, or too deep inside others.
        """
        if len(self._outer) == DEEPEST or any([outer is field for outer in self._outer]):
            raise NotPlannable("fields stand inside each other without an end")
        self._outer.append(field)
        try:
            yield
        finally:
            self._outer.pop()

    # -- The schema

    cpdef schema_value(self, name):
        """Return an attribute of the schema, read without running code.

        :raises NotPlannable: a descriptor computes it.
        """
        self._schema_names[name] = self.state.get(name, ABSENT)
        return self._plain_value(type(self.schema), self.state, name)

    cdef _plain_value(self, cls, state, name):
        """Return what reading an attribute gives, of an object of this class with this dictionary.

        :raises NotPlannable: a descriptor computes it, or there is none.
        """
        raw = static(cls, name)
        if is_data_descriptor(raw):
            raise NotPlannable(f"{name} is a descriptor of {self.upstream.owner(cls, name)}")
        value = state.get(name, ABSENT)
        if value is not ABSENT:
            return value
        if raw is ABSENT or has_getter(raw):
            raise NotPlannable(f"{name} is not a plain value")
        return raw

    cpdef bint schema_method_is_upstreams(self, name):
        """Whether the schema has upstream's own method, neither overridden nor shadowed."""
        shadow = self.state.get(name, ABSENT)
        self._schema_names[name] = shadow
        if shadow is not ABSENT:
            return False
        return self.upstream.defines(type(self.schema), name, self.upstream.Schema)

    def require_schema_method(self, name):
        """Check that :meth:`schema_method_is_upstreams` is true.

        :raises NotPlannable: it is not; the reason says where the schema gets the method from.
        """
        if not self.schema_method_is_upstreams(name):
            if self._schema_names[name] is not ABSENT:
                raise NotPlannable(f"{name} is set on the schema instance")
            self.check_schema_method(name)

    # -- Upstream

    def require_reviewed(self, *names):
        """Check that these functions of upstream do in this release what plans assume.

        :param names: as in the semantic lock: ``fields.Integer._validated``.
        :raises NotPlannable: the source of one was not reviewed.
        """
        for name in names:
            if name in self.upstream.unknown:
                raise NotPlannable(f"this release's {name} is another one")

    # -- Fields

    cpdef field_value(self, field, name):
        """Return an attribute of a watched field, read without running code.

        :raises NotPlannable: a descriptor computes it, or there is none.
        """
        return self._plain_value(type(field), self.state_of(field), name)

    cpdef typed_value(self, field, name, type_, bint optional=False):
        """Return an attribute that upstream's own ``__init__`` makes of a type; or of None, if it
        is optional.

        :raises NotPlannable: it is anything else.
        """
        value = self.field_value(field, name)
        if type(value) is not type_ and not (optional and value is None):
            raise NotPlannable(f"{name} is a {type(value).__qualname__}")
        return value

    cpdef field_method(self, field, name, owner):
        """Check that a field's method is the one that upstream defined on ``owner``.

        :raises NotPlannable: it is not; the reason says where it comes from.
        """
        if name in self.state_of(field):
            raise NotPlannable(f"{name} is set on the field instance")
        self.check_method(type(field), name, owner)

    cpdef check_method(self, cls, name, owner):
        """Check that instances of a class get the method that upstream defined on ``owner``.

        :raises NotPlannable: they do not; the reason says where they get it from.
        """
        if not self.upstream.defines(cls, name, owner):
            raise NotPlannable(self.upstream.why_not(cls, name, owner))

    def check_schema_method(self, name):
        """Do :meth:`check_method` for the schema's class."""
        self.check_method(type(self.schema), name, self.upstream.Schema)

    def check_objects_own(self, cls, *names):
        """Check that a class has nothing else of these names than ``object`` has.

        :raises NotPlannable: it has.
        """
        for name in names:
            if static(cls, name) is not object.__dict__.get(name, ABSENT):
                raise NotPlannable(f"{name} is overridden by {self.upstream.owner(cls, name)}")

    cpdef class_method(self, cls, name):
        """Check that one of upstream's classes still has the method that it was defined with.

        :raises NotPlannable: it has not, or the class is not upstream's.
        """
        if cls not in seam.pristine or not self.upstream.defines(cls, name, cls):
            raise NotPlannable(f"{name} of {seam.full_name(cls)} is not upstream's")

    def field_function(self, module, *names):
        """Watch names in a module of upstream that the plan replaces by its own code.

        :raises NotPlannable: one is not what upstream defined it as.
        """
        self.watch_group((module, names))

    cdef int watch_group(self, tuple group):
        """Do :meth:`field_function` for a pair of a module and a tuple of names."""
        cdef Group found = self.upstream.group(group)
        cdef uint64_t version
        if found in self._groups:
            return 0
        if not althaia_has_noted_version(found.namespace, &found.version):
            version = althaia_version_to_note(found.namespace)
            for namespace, name, defined in found.entries:
                if namespace.get(name, ABSENT) is not defined:
                    raise NotPlannable(f"marshmallow.{group[0]}.{name} is replaced")
            althaia_note_version(&found.version, version)
        # The guard's entries hold upstream's definitions; all plans share the entries.
        self._groups.add(found)

    def fields_helper(self, *names):
        """Watch functions that upstream's fields look up as ``utils.<name>``.

        :raises NotPlannable: one of them, or the name ``utils``, is replaced.
        """
        self.watch_group(UTILS_OF_FIELDS)
        self.watch_group(("utils", names))

    cpdef check_readable(self, field):
        """Do what :meth:`check_reading` does for a field's class, once for each version of it."""
        cls = type(field)
        if not self.upstream.has_passed(cls, READABLE):
            self.check_reading(cls)
            self.upstream.note_passed(cls, READABLE)

    cpdef check_reading(self, cls):
        """Check that reading the attributes of a class's instances runs no code of the class.

        :raises NotPlannable: it defines ``__getattribute__``, ``__getattr__`` or ``__dict__``.
        """
        self.check_objects_own(cls, "__getattribute__", "__getattr__")
        # A mixin has its own "__dict__" entry: the getset descriptor that the interpreter makes.
        if type(static(cls, "__dict__")) is not GetSetDescriptorType:
            raise NotPlannable(f"__dict__ is overridden by {self.upstream.owner(cls, '__dict__')}")


def is_plain_mapping(cls):
    """Return whether iterating over a mapping of this class runs no code of the user's."""
    base = OrderedDict if issubclass(cls, OrderedDict) else dict
    # Copying an OrderedDict calls the last two.
    read = ("__iter__", "items", "keys", "__getitem__")[: 2 if base is dict else 4]
    return issubclass(cls, dict) and all([static(cls, name) is static(base, name) for name in read])


cdef dict absent_names = {}


cdef tuple entry_of(str name, value):
    """Return a name and its value as a pair. For absent names all guards share one pair."""
    cdef tuple pair
    if value is not ABSENT:
        return (name, value)
    pair = <tuple>absent_names.get(name)
    if pair is None:
        pair = <tuple>absent_names.setdefault(name, (name, value))
    return pair


cdef bint has_getter(raw) noexcept:
    """Return whether an attribute of a class has ``__get__``."""
    return Py_TYPE(raw).tp_descr_get is not NULL


cdef bint is_data_descriptor(raw) noexcept:
    """Return whether a class attribute takes precedence over the instances' dictionaries."""
    return Py_TYPE(raw).tp_descr_set is not NULL


def why_unwatchable(guard):
    """Return why a guard cannot be used, or "". It cannot if a class that it watches has no type
    version."""
    cls = guard.unwatchable()
    if cls is None:
        return ""
    return (
        f"{seam.full_name(cls)}, or a base of it, was changed so often that CPython gives it no "
        "version any more"
    )
