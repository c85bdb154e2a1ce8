"""Guards: check that everything that a plan was built from is unchanged.

A guard compares objects by identity. It owns references to them, so that no other object can get
the address of one. It watches

- each type from which the plan read a method or a class attribute, by its type version, which
  CPython resets when the type or one of its bases changes;
- each field: its type and *all* of its instance dictionary, so that no attribute can be forgotten;
- the mapping of fields that the plan was built from: its keys, its values and their order;
- the lists of a field (validators, inner fields), item by item;
- single entries of other dictionaries (module globals, format tables);
- the names in the schema's instance dictionary that override class attributes used by the plan.
"""

althaia_start_watching()


def features():
    """Return by name which features of CPython are used. Plans replace the others by the public C
    API."""
    return {
        "global interpreter lock": bool(ALTHAIA_HAS_GIL),
        "values of shared-key dictionaries": bool(ALTHAIA_KNOWS_ENTRIES),
        "values in instances": bool(ALTHAIA_KNOWS_INLINE_VALUES),
        "dictionary versions": bool(ALTHAIA_KNOWS_DICT_VERSIONS),
        "dictionary watchers": althaia_epoch != 0,
        "lists of the collector": bool(althaia_knows_gc()),
    }


# Markers that are no value of any dictionary: any value matches, and there is no such key.
cdef object ANY = object()
cdef object ABSENT = object()

cdef dict EMPTY = {}


# The keys of snapshots, each once: most objects of a class have the same attributes.
cdef dict known_keys = {}


cdef tuple snapshot(dict mapping):
    """Return the keys and the values of an instance dictionary, as two tuples. No other code may
    change it meanwhile."""
    cdef tuple keys = tuple(mapping)
    # Hashing and comparing other keys may run user code.
    if all([type(key) is str for key in keys]):
        if len(known_keys) >= MOST_CLASSES:
            known_keys.clear()
        keys = shared(<tuple>known_keys.setdefault(keys, keys), keys)
    return keys, tuple(mapping.values())


cdef tuple shared(tuple theirs, tuple mine):
    """Return the other tuple if it has the same items, to save memory."""
    cdef Py_ssize_t i
    if theirs is None or len(theirs) != len(mine):
        return mine
    for i in range(len(mine)):
        if theirs[i] is not mine[i]:
            return mine
    return theirs


cpdef dict state_of(obj):
    """Return a copy of an object's instance dictionary without running user code.

    :raises TypeError: it has none, or its type is not exactly dict, so that copying may run code.
    """
    state = althaia_dict_or_none(obj)
    if type(state) is not dict:
        raise TypeError(f"the instance dictionary of a {type(obj).__qualname__} is no plain one")
    return PyDict_Copy(state)


cdef tuple by_mapping(tuple entries):
    """Group watched entries by dictionary: for each a tuple of it, a key, its value, the next key,
    ….

    The guard then compares the version of each dictionary once, for all its entries.
    """
    cdef dict found = {}
    cdef list group
    for mapping, key, value in entries:
        place = <Py_ssize_t><void*>mapping
        group = <list>found.get(place)
        if group is None:
            group = found[place] = [mapping]
        group.append(key)
        group.append(value)
    return tuple([tuple(each) for each in found.values()])


cdef void* zeroed(Py_ssize_t count, size_t size) except NULL:
    """Allocate a C array of zeros."""
    cdef void* found = PyMem_Calloc(count or 1, size)
    if found is NULL:
        raise MemoryError
    return found


# The GC must not clear a guard, because its borrowed pointers are valid only as long as its tuples.
# It breaks the cycle schema - dictionary - plan - field - schema at the dictionary.
@cython.no_gc_clear
@cython.final
cdef class Guard:
    """Everything that one plan depends on.

    All arguments are recorded *before* the analysis reads the objects. If another thread changes
    one meanwhile, the guard does not hold.

    :param schema_names: names whose presence in the schema's instance dictionary would
        change the plan, each with the value it was built from, or ``ABSENT``.
    :param members: the mapping of field names to fields (a ``dict`` or ``OrderedDict``).
    :param members_snapshot: the :func:`snapshot` of it.
    :param types: every type that the plan depends on with its type version, the schema's first.
    :param fields: every field of the plan, inner ones too: the field, its type and the snapshot of
        its instance dictionary.
    :param lists: one flat tuple: a list, its items as a tuple if it has some, the next list, …
    :param entries: triples of a dictionary, a key and the expected value or ``ABSENT``.
    :param shared_entries: further entries, grouped by :func:`by_mapping`, that other guards share.
    :param sibling: the guard of another plan of the schema, which watches mostly the same fields;
        equal records are shared with it.

    A type for which CPython has no type version left cannot be watched (:meth:`unwatchable`). Such
    a guard may belong to a declined plan only, which stays correct if the type changes.
    """

    def __cinit__(
        self, tuple schema_names, members, tuple members_snapshot, tuple types,
        tuple fields, tuple lists, tuple entries, tuple shared_entries=(), Guard sibling=None,
    ):
        cdef Py_ssize_t i
        self.schema_type = types[0][0]
        self.schema_names = schema_names
        self.members = members
        self.members_keys, self.members_values = members_snapshot
        if sibling is not None:
            self.members_keys = shared(sibling.members_keys, self.members_keys)
            self.members_values = shared(sibling.members_values, self.members_values)
        self.types = tuple([cls for cls, _ in types])
        self.lists = lists
        self.entries = shared_entries + by_mapping(entries) if entries else shared_entries
        self.type_tags = <unsigned int*>zeroed(len(types), sizeof(unsigned int))
        for i in range(len(types)):
            self.type_tags[i] = types[i][1]
        self._watch_fields(fields, sibling)
        self.entry_versions = <uint64_t*>zeroed(len(self.entries), sizeof(uint64_t))

    cdef int _watch_fields(self, tuple fields, Guard sibling):
        cdef Py_ssize_t i, at, size = len(fields)
        cdef tuple keys, values
        cdef list records = []
        cdef dict known = {}
        if sibling is not None:
            for i in range(0, len(sibling.fields), ALTHAIA_RECORD_SIZE):
                known[<Py_ssize_t><void*>sibling.fields[i]] = sibling.fields[i + ALTHAIA_VALUES]
        self.watched = <althaia_watched*>zeroed(size, sizeof(althaia_watched))
        for i in range(size):
            field, cls, (keys, values) = fields[i]
            state = vars_of(field)
            values = shared(<tuple>known.get(<Py_ssize_t><void*>field), values)
            records += [field, cls, state, keys, values]
            self.watched[i].place = althaia_watched_place(field, state)
        self.fields = tuple(records)
        if not ALTHAIA_KNOWS_INLINE_VALUES:
            return 0
        for i in range(size):
            at = i * ALTHAIA_RECORD_SIZE
            keys, values = self.fields[at + ALTHAIA_KEYS], self.fields[at + ALTHAIA_VALUES]
            if althaia_same_entries(self.fields[at + ALTHAIA_DICT], keys, values, ANY):
                self.watched[i].copy = althaia_copy_inline(self.fields[at], values, ANY)

    def __dealloc__(self):
        cdef Py_ssize_t i
        if self.fields is not None:
            for i in range(len(self.fields) // ALTHAIA_RECORD_SIZE):
                PyMem_Free(self.watched[i].copy)
        PyMem_Free(self.type_tags)
        PyMem_Free(self.watched)
        PyMem_Free(self.entry_versions)

    def unwatchable(self):
        """Return the first type without a type version, or None."""
        cdef Py_ssize_t i
        for i in range(len(self.types)):
            if self.type_tags[i] == 0:
                return self.types[i]
        return None

    cdef bint holds(self, schema, state, bint fields=True) except -1:
        """Return whether the schema and everything that the plan depends on is unchanged. Never
        raises.

        :param state: the schema's instance dictionary.
        :param fields: False leaves the fields out, for a call that runs nothing but hooks and what
            the schema itself overrides.
        """
        return (
            type(schema) is self.schema_type
            and (althaia_types_hold(self.types, self.type_tags) if fields
                 else ALTHAIA_TYPE_TAG(self.schema_type) == self.type_tags[0])
            and self._same_names(state)
            and (not fields or self._same_members())
            and self._same_entries()
            and (not fields or althaia_all_hold(self.fields, self.watched, ANY))
            and althaia_lists_hold(self.lists)
        )

    cdef bint watches(self, cls) noexcept:
        """Return whether a class is the schema's and no watched type has changed."""
        return cls is self.schema_type and althaia_types_hold(self.types, self.type_tags)

    cdef int watch_class(self, cls):
        """Record the present type version of the schema's class, because the engine itself has
        changed the class."""
        self.type_tags[0] = althaia_type_tag(cls)

    # The methods below store what identifies a dictionary's contents once they are as expected.

    cdef bint _same_names(self, state) except -1:
        # Where dictionaries are watched, the number says nothing about another dictionary. CPython
        # also calls the watcher when one is freed, so that comparing addresses is safe.
        if self.state == <void*>state and althaia_has_noted_version(state, &self.state_version):
            return True
        cdef uint64_t version = althaia_version_to_note(state)
        for name, value in self.schema_names:
            if not althaia_same_entry(state, name, value, ABSENT):
                return False
        self.state = <void*>state
        althaia_note_version(&self.state_version, version)
        return True

    cdef bint _same_entries(self) except -1:
        cdef Py_ssize_t i, at
        cdef uint64_t version
        cdef tuple of_mapping
        for i in range(len(self.entries)):
            of_mapping = <tuple>PyTuple_GET_ITEM(self.entries, i)
            if althaia_has_noted_version(of_mapping[0], &self.entry_versions[i]):
                continue
            version = althaia_version_to_note(of_mapping[0])
            for at in range(1, len(of_mapping), 2):
                if not althaia_same_entry(
                    of_mapping[0], of_mapping[at], of_mapping[at + 1], ABSENT
                ):
                    return False
            althaia_note_version(&self.entry_versions[i], version)
        return True

    cdef bint _same_members(self) except -1:
        cdef uint64_t version
        if type(self.members) is dict:
            if althaia_has_noted_version(self.members, &self.members_version):
                return True
            version = althaia_version_to_note(self.members)
            if not althaia_same_entries(
                self.members, self.members_keys, self.members_values, ANY
            ):
                return False
            althaia_note_version(&self.members_version, version)
            return True
        try:
            members = dict(self.members)
        except RuntimeError:
            # Another thread changed it during the iteration.
            return False
        return (
            shared(self.members_keys, tuple(members)) is self.members_keys
            and shared(self.members_values, tuple(members.values())) is self.members_values
        )

    def check(self, schema):
        """Return whether the plan still holds for this schema. For tests and debugging."""
        state = althaia_dict_or_none(schema)
        return state is not None and self.holds(schema, state)
