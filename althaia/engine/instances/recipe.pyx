# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Recipes: how the fields of a prototype become those of a lazy instance that is materialised.

A prototype's fields never change. Which of their attributes differ from instance to instance is
read once, and kept as a list of changes for each field. An instance's own field, a *twin*, is a
copy of the prototype's dictionary with these changes.
"""

from collections import OrderedDict
from types import MethodType

cimport cython
from cpython.dict cimport PyDict_Copy, PyDict_SetItem
from cpython.type cimport PyType_IsSubtype

from althaia.engine.instances.prototype cimport clone, copied_names, vars_of
from althaia.engine.upstream cimport marshmallow

# What an attribute becomes: the schema that the fields are bound to, a twin, a method of the
# instance's, a copy of a set of names, a list with twins, copies of what Inferred has made.
cdef enum Change:
    PARENT
    TWIN
    METHOD
    NAMES
    TWINS
    INFERRED

# What an attribute of the schema becomes: a mapping with twins, the same fields in the same order
# as the mapping before, a copy of a set, what the prototype has.
cdef enum Attribute:
    FIELDS
    ORDERED_FIELDS
    SAME_FIELDS
    ORDERED
    UNORDERED
    SHARED

cdef frozenset MAPPINGS = frozenset({"declared_fields", "fields", "load_fields", "dump_fields"})
cdef tuple INNER = ("inner", "key_field", "value_field")
cdef tuple METHODS = ("_serialize_method", "_deserialize_method")
cdef tuple OPTIONS = ("only", "exclude")
cdef str FIELD_CACHE = "_field_cache"
cdef object ordered_dict = OrderedDict


@cython.final
@cython.no_gc_clear
cdef class Recipe:
    """What is made of each field of one prototype, by the field's number."""

    cdef dict build(self, Twins twins, object parent, object schema):
        """The attributes that ``Schema.__init__`` left in the prototype, as a schema has them.

        Neither user code nor upstream's runs: both may have changed since the schema was made.

        :param twins: the schema's own fields so far; completed.
        :param parent: whom the fields are bound to: the schema, or what it is a copy of.
        """
        cdef dict built = {}, fields = None
        cdef int kind
        for name, kind, value in self.attributes:
            if kind == FIELDS:
                fields = {}
                for key, number in <tuple>value:
                    fields[key] = twins.twin(number, parent, schema)
                built[name] = fields
            elif kind == ORDERED_FIELDS:
                built[name] = ordered_dict([
                    (key, twins.twin(number, parent, schema)) for key, number in <tuple>value
                ])
            elif kind == SAME_FIELDS:
                built[name] = PyDict_Copy(fields)
            elif kind == ORDERED:
                built[name] = copied_names(value)
            elif kind == UNORDERED:
                built[name] = set(value)
            else:
                built[name] = value
        return built


@cython.final
@cython.no_gc_clear
cdef class Twins:
    """An instance's own fields, by the number of the prototype's; None where there is none yet."""

    cdef object find(self, object field):
        """The twin of a prototype's field, None where there is none yet."""
        number = self.recipe.index.get(id(field))
        return None if number is None else self.made[number]

    cdef int start_from(self, dict halves) except -1:
        """Complete fields that the instance has already, instead of making others.

        :param halves: as ``InstanceDict.own``. Such a field is the prototype's but for its schema
            and its sets of names, which fields around it share.
        """
        cdef Recipe recipe = self.recipe
        cdef int kind
        self.halves = {}
        for theirs, mine, _ in halves.values():
            number = recipe.index.get(id(theirs))
            if number is None or self.made[number] is not None:
                continue
            self.halves[number] = mine
            for name, kind, value in <list>recipe.changes[number]:
                if kind == NAMES:
                    self.sets[value] = vars_of(mine)[name]
        return 0

    cdef object twin(self, Py_ssize_t number, object parent, object schema):
        """The instance's own field for the prototype's, with those inside and around it."""
        cdef object made = self.made[number]
        if made is not None:
            return made
        # After an error of memory a half may be complete in part: all is set again.
        if self.halves is not None:
            made = self.halves.get(number)
        if made is None:
            made = clone(self.recipe.fields[number])
        self.made[number] = made
        self.change(<list>self.recipe.changes[number], vars_of(made), parent, schema)
        return made

    cdef int change(self, list changes, dict state, object parent, object schema) except -1:
        cdef int kind
        for name, kind, value in changes:
            if kind == PARENT:
                value = parent
            elif kind == TWIN:
                value = self.twin(value, parent, schema)
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
                    self.twin(each, parent, schema) if type(each) is int else each
                    for each in <list>value
                ]
            PyDict_SetItem(state, name, value)
        return 0


cdef object bound_copy(object field, dict to):
    """Return a copy of a field with the parent and root of another one's attributes."""
    cdef object copied = clone(field)
    vars_of(copied).update(parent=to["parent"], root=to["root"])
    return copied


cdef Twins twins_of(Recipe recipe, Twins before):
    """What an instance has of its own, as a copy: the instance keeps what it had where there is
    no memory for more."""
    cdef Twins twins = Twins.__new__(Twins)
    twins.recipe = recipe
    twins.made = [None] * len(recipe.fields) if before is None else list(before.made)
    twins.sets = [None] * len(recipe.sets) if before is None else list(before.sets)
    return twins


# ---- Reading a prototype -----------------------------------------------------------------


cdef Recipe recipe_of(object prototype):
    """The recipe of a prototype.

    :param prototype: the schema instance.
    """
    cdef Recipe recipe = Recipe.__new__(Recipe)
    cdef list attributes = []
    cdef tuple entries, before = None
    recipe.fields, recipe.index, recipe.changes, recipe.sets = [], {}, [], []
    for name, value in vars_of(prototype).items():
        if name in MAPPINGS:
            entries = tuple([
                (key, number_of(recipe, field, prototype)) for key, field in value.items()
            ])
            if type(value) is ordered_dict:
                attributes.append((name, ORDERED_FIELDS, entries))
                continue
            attributes.append((name, SAME_FIELDS if entries == before else FIELDS, entries))
            before = entries
        elif type(value) is marshmallow.OrderedSet:
            attributes.append((name, ORDERED, value))
        elif type(value) is set:
            attributes.append((name, UNORDERED, value))
        else:
            attributes.append((name, SHARED, value))
    recipe.attributes = tuple(attributes)
    return recipe


cdef object number_of(Recipe recipe, object field, object prototype):
    """The number of a prototype's field, which is entered with those inside and around it."""
    cdef list changes = []
    cdef dict state = vars_of(field)
    cdef object parent
    number = recipe.index.get(id(field))
    if number is not None:
        return number
    number = recipe.index[id(field)] = len(recipe.fields)
    recipe.fields.append(field)
    recipe.changes.append(changes)
    for name in OPTIONS:
        value = state.get(name)
        if type(value) is marshmallow.OrderedSet:
            changes.append((name, NAMES, number_of_set(recipe, value)))
    parent = state.get("parent")
    if parent is None:
        return number
    # A field under two names is bound twice: what is inside keeps a parent out of all reach.
    changes.append(
        ("parent", PARENT, None) if parent is prototype
        else ("parent", TWIN, number_of(recipe, parent, prototype))
    )
    changes.append(("root", PARENT, None))
    if FIELD_CACHE in state:
        # An inferred field, which upstream makes anew for each instance, as it does what it infers.
        changes.append((FIELD_CACHE, INFERRED, state[FIELD_CACHE]))
    for name in METHODS:
        method = state.get(name)
        # A class method is bound to the class. Not isinstance(): upstream's metaclass is abc's, in
        # whose Python code another thread may run.
        if type(method) is MethodType and PyType_IsSubtype(
            type(method.__self__), marshmallow.Schema
        ):
            changes.append((name, METHOD, method.__func__))
    for name in INNER:
        inner = state.get(name)
        # What a field does not bind, all instances share.
        if inner is not None and vars_of(inner).get("parent") is not None:
            changes.append((name, TWIN, number_of(recipe, inner, prototype)))
    if "tuple_fields" in state:
        changes.append(("tuple_fields", TWINS, [
            each if vars_of(each).get("parent") is None else number_of(recipe, each, prototype)
            for each in state["tuple_fields"]
        ]))
    return number


cdef Py_ssize_t number_of_set(Recipe recipe, object value) except -1:
    """The number of a set of names, which may be that of several fields."""
    cdef Py_ssize_t i
    for i in range(len(recipe.sets)):
        if recipe.sets[i] is value:
            return i
    recipe.sets.append(value)
    return len(recipe.sets) - 1
