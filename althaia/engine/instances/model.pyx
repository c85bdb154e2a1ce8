"""Models: plans that equal instances share although each was built in full.

A class whose ``on_bind_field``, ``__init__`` or field classes change fields cannot have lazy
instances. Most of its instances are equal nevertheless, and most are used once. A *model* is a copy
of one instance, with plans of its own. Each call compares the fields of its schema with the
model's. If they have the same classes and values, the call runs the model's plan with the schema's
fields.
User code never gets a model or one of its fields. ``planner`` calls :func:`model_of`.
"""

cdef extern from "althaia/cpython/dict_differences.h":
    int althaia_next_difference(
        dict mine, dict theirs, Py_ssize_t* at, PyObject** my_value, PyObject** their_value
    )


# The attributes that ``Schema.__init__`` sets.
cdef tuple SET_BY_INIT = (
    "declared_fields", "many", "only", "exclude", "load_only", "dump_only", "partial", "unknown",
    "fields", "load_fields", "dump_fields", "error_messages",
)
cdef tuple names_set = SET_BY_INIT
cdef frozenset set_by_init = frozenset(SET_BY_INIT)
cdef tuple PLANNED_FIELDS = ("dump_fields", "load_fields")
# Attributes of a field that reference its schema or other fields.
cdef frozenset structure = frozenset(("parent", "root", "tuple_fields", *INNER, *METHODS))
# The types of mappings of fields.
cdef tuple MAPPING_TYPES = (dict, OrderedDict)
cdef tuple PLAIN = (str, int, bool, type(None))
# The number of instances that ask for a model until the attempts become rare.
cdef int MOST_ATTEMPTS = 16
cdef int LATER_ATTEMPTS = 1024
models_at_once = False


def build_models_at_once(bint on):
    """Make the model at the first instance that may have one, and use its plan; for tests."""
    global models_at_once
    models_at_once = on


def connect_models():
    """Take the names of the served release."""
    global set_by_init, names_set
    names_set = (*SET_BY_INIT, "ordered", "context") if marshmallow.has_context else SET_BY_INIT
    set_by_init = frozenset(names_set)


cdef object model_of(object schema, InstanceDict state, int direction, bint first):
    """Return the model whose plan a schema runs in this call, or None.

    :param first: whether this is the instance's first call. A model is made after several
        instances, not after several calls of one.
    """
    cdef Blueprint blueprint = blueprint_of(type(schema))
    cdef dict own = {}
    cdef tuple model
    cdef object copied, fields
    cdef str mapping
    if not ALTHAIA_HAS_GIL or blueprint is None:
        return None
    # Read once: another thread may replace it.
    model = blueprint.model
    # Most calls of a class's first instances end here, so that this must be cheap.
    if not first and model is None:
        return None
    if not models_at_once and may_be_lazy(blueprint):
        return None
    if not is_untouched(schema, state):
        return None
    if model is not None and not (<Guard>model[0]).holds(schema, NOTHING):
        model = blueprint.model = None
    if model is None:
        if first:
            model = new_model(blueprint, schema, state)
        if model is None:
            return None
    copied = model[1]
    if (
        marshmallow.has_context
        and (<dict>state).get("ordered") is not (<dict>existing_dict(copied)).get("ordered")
    ):
        return None
    mapping = PLANNED_FIELDS[0 if direction == DUMP else 1]
    fields = (<dict>state).get(mapping)
    # No user code runs while they are compared.
    if type(fields) not in MAPPING_TYPES or not have_counterparts(
        fields, vars_of(copied)[mapping], schema, copied, own
    ):
        return None
    add_counterparts(state, own)
    return copied


cdef tuple new_model(Blueprint blueprint, object schema, InstanceDict state):
    """Make the model from an instance, unless it is too early or too many attempts have failed."""
    cdef object guard, copied
    blueprint.model_uses += 1
    if not models_at_once and blueprint.model_uses < FIRST_MODEL or is_spent(blueprint.model_uses):
        return None
    guard, _ = examine_model(marshmallow, schema)
    copied = None if guard is None else copy_of(schema, state)
    if copied is not None:
        blueprint.model = (guard, copied)
    return blueprint.model


cdef bint is_due_for_model(object schema) except -1:
    """Count an instance that had no call yet. Return whether it may run a model's plan, or become
    the class's model."""
    cdef Blueprint blueprint = blueprint_of(type(schema))
    if blueprint is None:
        return False
    if blueprint.model is not None:
        return True
    if may_be_lazy(blueprint):
        return False
    if blueprint.model_uses >= FIRST_MODEL - 1 and not is_spent(blueprint.model_uses + 1):
        return True
    blueprint.model_uses += 1
    return False


cdef bint is_spent(int uses):
    """Whether to make no attempt at a model now, because many have failed. One instance in many
    still tries: the reason may have gone."""
    return uses > MOST_ATTEMPTS and uses % LATER_ATTEMPTS != 0


cdef bint may_be_lazy(Blueprint blueprint) noexcept:
    """Whether the next instances of a class will probably be lazy, so that no model is needed."""
    return blueprint.guard is not None and not blueprint.refused


cdef int add_counterparts(InstanceDict state, dict own) except -1:
    """Add the instance's counterparts of its model's fields. Those of an earlier model stay,
    because a call in another thread, or one that encloses this call, may use them."""
    if state.counterparts is None:
        state.counterparts = own
    else:
        (<dict>state.counterparts).update(own)
    return 0


cdef bint is_untouched(object schema, InstanceDict state) except -1:
    """Whether the instance dictionary shadows nothing that the class defines."""
    cdef object cls = type(schema)
    for name in <dict>state:
        if name in set_by_init:
            continue
        if type(name) is not str or name in marshmallow.schema_attributes:
            return False
        if althaia_type_lookup(cls, name) is not None:
            return False
    return True


# ---- Construction -------------------------------------------------------------------------


cdef object copy_of(object schema, InstanceDict state):
    """Return a copy of an instance that references no object of it, or None if that is not
    possible."""
    cdef dict declared, memo, copies, attributes = {}
    cdef InstanceDict own
    declared = althaia_type_lookup(type(schema), "_declared_fields")
    copy = object.__new__(type(schema))
    memo = {id(schema): copy}
    for name in names_set:
        if name not in <dict>state:
            return None
        attributes[name] = (<dict>state)[name]
    for name in ("declared_fields", "fields", "load_fields", "dump_fields"):
        if type(attributes[name]) not in MAPPING_TYPES:
            return None
        copies = {}
        for key, field in attributes[name].items():
            if field is None and name == "declared_fields":
                # marshmallow-sqlalchemy declares it for a name that it leaves out.
                copies[key] = None
                continue
            copied = copy_of_field(field, declared.get(key), schema, memo)
            if copied is None:
                return None
            copies[key] = copied
        attributes[name] = copies
    # Each call reads these from its own schema.
    for name in ("only", "exclude", "load_only", "dump_only", "partial"):
        attributes[name] = None
    attributes["error_messages"] = {}
    if marshmallow.has_context:
        if type(attributes["ordered"]) is not bool:
            return None
        attributes["context"] = {}
    own = InstanceDict(attributes)
    own.hidden = True
    put_dict(copy, own)
    return copy


cdef object copy_of_field(object field, object declared, object schema, dict memo):
    """Return a copy of a field. Return None if the field references an object that belongs to its
    instance, which the model would keep alive. Objects of the declared field live as long as the
    class."""
    cdef object copied = memo.get(id(field)), at_first
    cdef dict state, origin
    if copied is not None:
        return copied
    if declared is None or type(field) is not type(declared) or type(vars_of(field)) is not dict:
        return None
    copied = memo[id(field)] = clone(field)
    state, origin = vars_of(copied), vars_of(declared)
    for name, value in list(state.items()):
        if type(name) is not str:
            return None
        at_first = origin.get(name)
        if value is at_first or type(value) in PLAIN:
            if name in structure and value is not None:
                return None
        elif name == "parent" or name == "root":
            if id(value) not in memo:
                return None
            state[name] = memo[id(value)]
        elif name in INNER:
            state[name] = copy_of_field(value, at_first, schema, memo)
            if state[name] is None:
                return None
        elif name == "tuple_fields":
            inner = copies_of_fields(value, at_first, schema, memo)
            if inner is None:
                return None
            state[name] = inner
        elif name in METHODS:
            if type(value) is not MethodType or value.__self__ is not schema:
                return None
            state[name] = MethodType(value.__func__, memo[id(schema)])
        else:
            return None
    return copied


cdef object copies_of_fields(object fields, object declared, object schema, dict memo):
    """Return copies of the fields of a Tuple, or None if one cannot be copied."""
    cdef list copies
    if type(fields) is not list or type(declared) is not list or len(fields) != len(declared):
        return None
    copies = [copy_of_field(each, first, schema, memo) for each, first in zip(fields, declared)]
    return None if None in copies else copies


# ---- Comparing ---------------------------------------------------------------------------


cdef bint is_same_text(object mine, object theirs) except -1:
    return type(mine) is str and type(theirs) is str and <str>mine == <str>theirs


cdef bint is_same_field(
    object field, object model_field, object schema, object model, dict own
) except -1:
    """Whether a field has the class of the model's field and equal or corresponding values."""
    cdef object known = own.get(id(model_field)), mine
    if known is not None:
        return known[1] is field
    if type(field) is not type(model_field):
        return False
    mine = althaia_dict_or_none(field)
    if type(mine) is not dict:
        return False
    own[id(model_field)] = (model_field, field, True)
    return have_counterparts(mine, vars_of(model_field), schema, model, own)


cdef bint have_counterparts(
    object mine, object theirs, object schema, object model, dict own
) except -1:
    """Whether two dictionaries have the same keys in the same order, with corresponding values.
    Fill ``own`` with the instance's counterpart of each field of the model."""
    cdef Py_ssize_t at = 0, model_at = 0
    cdef PyObject *name
    cdef PyObject *value
    cdef PyObject *model_name
    cdef PyObject *model_value
    cdef object held
    cdef int found
    if len(mine) != len(theirs):
        return False
    while True:
        found = althaia_next_difference(<dict>mine, <dict>theirs, &at, &value, &model_value)
        if found == 0:
            return True
        if found < 0:
            break
        held = <object>value
        if not is_counterpart(held, <object>model_value, schema, model, own):
            return False
    # Their keys are other objects, or in another order.
    at = 0
    # No iterators: CPython 3.11 crashes if the allocation of an items iterator's first pair fails.
    while PyDict_Next(theirs, &model_at, &model_name, &model_value):
        if not PyDict_Next(mine, &at, &name, &value):
            return False
        if name != model_name and not is_same_text(<object>name, <object>model_name):
            return False
        if value == model_value:
            continue
        # A strong reference: comparing may run the GC, and a finalizer may remove the value.
        held = <object>value
        if not is_counterpart(held, <object>model_value, schema, model, own):
            return False
    return True


cdef bint is_counterpart(
    object mine, object theirs, object schema, object model, dict own
) except -1:
    """Whether a value corresponds to the model's: the instance for the model, a field for its
    copy."""
    if theirs is model:
        return mine is schema
    if type(theirs) is str:
        return is_same_text(mine, theirs)
    if type(theirs) is int:
        return type(mine) is int and mine == theirs
    if issubclass(type(theirs), marshmallow.Field):
        return is_same_field(mine, theirs, schema, model, own)
    if type(theirs) is MethodType:
        return (
            type(mine) is MethodType
            and mine.__func__ is theirs.__func__
            and mine.__self__ is schema
            and theirs.__self__ is model
        )
    if type(theirs) is list and type(mine) is list and len(<list>mine) == len(<list>theirs):
        # The fields of a Tuple. Any other list is the one that the class was declared with.
        for each, model_each in zip(<list>mine, <list>theirs):
            if not issubclass(type(model_each), marshmallow.Field):
                return False
            if not is_same_field(each, model_each, schema, model, own):
                return False
        return len(<list>theirs) > 0
    return False
