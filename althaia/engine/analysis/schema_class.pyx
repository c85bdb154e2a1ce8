"""Decide whether instances of a schema class may be lazy or copied, and build the guard of that.

A lazy instance shares the fields of a prototype until somebody looks at its own. Nobody notices
that if upstream's construction only copies and binds fields: it runs no user code that sees the
instance, its fields or their parents, and two instances with equal options differ only in identity.
A user's field class may override the conversion, because the instance gets its own field before
that code runs. ``lazy`` and ``nested_copy`` of ``instances`` call the two functions ``examine`` and
``examine_nested``.
"""

# Attributes that Schema.__init__ sets and a lazy instance lacks.
LAZY_NAMES = frozenset({
    "declared_fields", "only", "exclude", "load_only", "dump_only", "fields", "load_fields",
    "dump_fields",
})
# The attributes of an instance that upstream's construction reads.
UPSTREAMS_ALONE = (
    "_bind_field", "_normalize_nested_options", "_Schema__apply_nested_option", "set_class",
)
CONSTRUCTION = ("_init_fields", "on_bind_field", *UPSTREAMS_ALONE)
# Methods that upstream's code or the interpreter calls on an instance. For a lazy one it would call
# them on the prototype.
CALLED_ON_INSTANCES = {"__getattr__", "__del__", "__bool__", "__len__"}
SETTINGS = ("many", "partial", "unknown")
# One more setting in releases that have it (Upstream.has_context).
CONTEXT = "context"
# Recorded when marshmallow was imported, because a test may have replaced them since.
cdef dict COPY = dict(seam.defined.get("copy", vars(copy)))
OBJECT_METHODS = ("__setattr__", "__delattr__", "__getattribute__", "__class__")
COPY_METHODS = ("__copy__", "__reduce_ex__", "__reduce__", "__getstate__", "__setstate__")
# Methods that ``copy`` looks up on a field's class and ``object.__reduce_ex__`` on the field.
METHODS_OF_COPYING = (
    *COPY_METHODS, "__new__", "__getnewargs_ex__", "__getnewargs__", "__getattribute__",
    "__getattr__",
)
BIND = "_bind_to_schema"
# The methods of a field that upstream's construction calls.
BINDING = (BIND, "__deepcopy__")
# Immutable types: an option of one of these needs no guard of its own.
UNCHANGING = (str, tuple, frozenset, type(None))
COLLECTED = ("fields", "exclude", "load_only", "dump_only")
OPTION_NAMES = (*COLLECTED, "many", "unknown", "dateformat", "datetimeformat", "timeformat")
# Descriptors of these types keep no state of a field outside its instance dictionary.
PLAIN_DESCRIPTORS = (FunctionType, property, classmethod, staticmethod, cached_property)
# A Method field may bind to these.
METHOD_TYPES = (FunctionType, staticmethod, classmethod)
# Types whose hash, comparison and truth value run no user code.
PLAIN_NAMES = (str, type(None))
# Attributes of a field that upstream's construction reads or writes.
BOUND = frozenset({
    "parent", "name", "root", "load_only", "dump_only", "data_key", "attribute", "only",
    "exclude", "many", "unknown", "nested", "schema", "inner", "key_field", "value_field",
    "tuple_fields", "format", "serialize_method_name", "deserialize_method_name",
})
# What a subclass of a field may not define: copying or binding it calls or reads this.
HARMFUL = (BOUND - {"schema"}) | {
    "DEFAULT_FORMAT", "SCHEMA_OPTS_VAR_NAME", "__deepcopy__", "__new__", "__getnewargs__",
    "__getnewargs_ex__", "__del__", "__bool__", "__len__", *OBJECT_METHODS, *COPY_METHODS,
}
# Attributes in the instance dictionaries of upstream's fields. A property of one of these names
# could read the field's schema, and a step would read it from the prototype's field.
KEPT = frozenset({
    *BOUND, "_deserialize_method", "_schema", "_serialize_method", "absolute", "allow_nan",
    "allow_none", "as_string", "by_value", "choices_text", "constant", "default_timezone",
    "deserialize_func", "dump_default", "enum", "error_messages", "exploded", "falsy", "field",
    "field_name", "load_default", "metadata", "places", "post_load", "pre_load", "precision",
    "relative", "require_tld", "required", "rounding", "serialize_func", "strict", "timezone",
    "truthy", "validate", "validate_length", "validators",
})


def names_left_out(Upstream upstream):
    """Return the attributes that ``Schema.__init__`` sets in this release and a lazy instance
    lacks."""
    return LAZY_NAMES | {"ordered"} if upstream.has_context else LAZY_NAMES


def examine(Upstream upstream, schema):
    """Return ``(guard, reason)`` for lazy instances of a schema class.

    ``reason`` says why there are none, else it is "". ``guard`` watches what lazy instances, or the
    reason, rest on. It is None if nothing would show that the reason is gone.

    :param schema: an instance of the class at the beginning of its ``Schema.__init__``.
    """
    if not may_be_put(schema):
        return None, NOT_PLAIN
    declared = static(type(schema), "_declared_fields")
    if type(declared) not in (dict, OrderedDict):
        return None, "_declared_fields is no plain dictionary"
    analysis = Analysis(upstream, schema, declared)
    try:
        analysis.require_reviewed("schema.Schema.__init__", "schema.Schema._init_fields")
        # A prototype is built at another time than its instances, and not once for each of them.
        analysis.field_function("schema", "is_collection", "copy")
        analysis.field_function("utils", "is_iterable_but_not_string", "is_generator", "Mapping")
        _check_construction(analysis)
        for _, field in analysis.items():
            # marshmallow-sqlalchemy declares None for a name that it leaves out.
            if field is not None:
                _check_field(analysis, field, True)
    except NotPlannable as opaque:
        guard, _ = _watchable(analysis.guard())
        return guard, opaque.reason
    return _watchable(analysis.guard())


def examine_nested(Upstream upstream, schema):
    """Return ``(guard, reason)`` for lazy copies of a schema instance that is nested.

    ``guard`` is None, and ``reason`` says why, if a copy must be made by upstream's code: copying
    the instance or binding its fields once more runs user code, or changes the fields.

    :param schema: the nested instance, of which upstream has just made a copy.
    """
    state = attributes_of(schema)
    declared, bound = state.get("declared_fields"), state.get("fields")
    # In marshmallow 3 they are in an OrderedDict where Meta.ordered is set.
    if type(declared) not in (dict, OrderedDict) or type(bound) not in (dict, OrderedDict):
        return None, "the fields are in no plain dictionary"
    analysis = Analysis(upstream, schema, declared)
    try:
        analysis.require_reviewed("schema.Schema._init_fields")
        _check_construction(analysis)
        analysis.check_schema_method("_init_fields")
        analysis.check_schema_method("on_bind_field")
        # copy.copy() calls it.
        analysis.check_objects_own(type(schema), "__new__")
        for name, field in bound.copy().items():
            if declared.get(name) is not field:
                raise NotPlannable("a field is not the declared one")
            _check_bound(analysis, field)
    except NotPlannable as opaque:
        return None, opaque.reason
    return _watchable(analysis.guard())


cdef int _check_construction(Analysis analysis):
    """Raise NotPlannable if constructing or copying an instance runs code of its class, or of what
    upstream's construction calls."""
    analysis.field_function("fields", "copy")
    for name in ("copy", "deepcopy"):
        analysis.watch_original(copy, name, COPY[name])
    _check_class(analysis, type(analysis.schema))
    _check_options(analysis)
    if analysis.upstream.infers_fields:
        _check_inferred(analysis)


cdef int _check_bound(Analysis analysis, field):
    """Raise NotPlannable unless binding a bound field once more changes no value."""
    upstream = analysis.upstream
    _check_field_itself(analysis, field, False)
    state = analysis.state_of(field)
    for name in ("parent", "root", "name"):
        if not state.get(name):
            raise NotPlannable("a field is not bound")
    if isinstance(field, upstream.fields["DateTime"]) and not state.get("format"):
        raise NotPlannable("a field gets its format when it is bound")
    if isinstance(field, upstream.fields["Method"]):
        raise NotPlannable("a Method field is bound to each copy")
    if isinstance(field, upstream.fields["Nested"]):
        # The first look at its schema sets it.
        analysis.leave_out(field, "_schema")
    # Binding replaces a field inside by a copy. That equals it, because upstream has just bound it.
    for inner in _fields_inside(analysis, field, state):
        _check_bound(analysis, inner)


def _fields_inside(Analysis analysis, field, dict state):
    """Yield the fields inside the field that has these attributes, and watch their list."""
    inside = fields_inside(state)
    if inside is None:
        raise NotPlannable("tuple_fields is no list")
    if state.get("tuple_fields") is not None:
        analysis.watch_list(state["tuple_fields"])
    if inside:
        # Also a limit of the depth, which the stack of compiled code needs.
        with analysis.inside(field):
            yield from inside


cdef _watchable(guard):
    reason = why_unwatchable(guard)
    return (None, reason) if reason else (guard, "")


cdef int _check_class(Analysis analysis, cls):
    """Raise NotPlannable if a class changes how its instances are made or their attributes read."""
    upstream = analysis.upstream
    # A user's _init_fields or on_bind_field is called for each instance, which may be lazy all the
    # same.
    if is_data_descriptor(static(cls, "_init_fields")):
        raise NotPlannable(f"_init_fields is a descriptor of {upstream.owner(cls, '_init_fields')}")
    if upstream.has(cls, "on_bind_field", upstream.Schema) or not upstream.defines(
        cls, "_init_fields", upstream.Schema
    ):
        analysis.check_schema_method("on_bind_field")
    for name in (*UPSTREAMS_ALONE, "_default_error_messages"):
        analysis.check_schema_method(name)
    made = static(cls, "dict_class")
    if made is not dict and made is not OrderedDict:
        analysis.check_schema_method("dict_class")
    # Upstream copies a schema instance that a nested field holds. A lazy one is not copied, so its
    # class must not define how it is copied.
    analysis.check_objects_own(
        cls, *OBJECT_METHODS, *COPY_METHODS, *names_left_out(upstream), *CALLED_ON_INSTANCES
    )
    # Not remembered: programs make a schema class for each request.
    analysis.check_reading(cls)
    for name in (*SETTINGS, CONTEXT) if upstream.has_context else SETTINGS:
        if hasattr(type(static(cls, name)), "__get__"):
            raise NotPlannable(f"{name} is a descriptor of {upstream.owner(cls, name)}")
    for base in cls.__mro__:
        if not isinstance(base.__dict__.get("error_messages", {}), dict):
            raise NotPlannable("error_messages is no dictionary")


cdef int _check_options(Analysis analysis):
    opts = static(type(analysis.schema), "opts")
    if hasattr(type(opts), "__get__"):
        raise NotPlannable("opts is a descriptor")
    analysis.watch_field(opts)
    analysis.check_readable(opts)
    of_release = ("additional",) if analysis.upstream.infers_fields else ()
    for name in (*OPTION_NAMES, *of_release):
        if name == "many" and not analysis.upstream.many_by_option:
            continue
        value = analysis.field_value(opts, name)
        if type(value) is list:
            analysis.watch_list(value)
        elif type(value) not in UNCHANGING and (
            name in (*COLLECTED, *of_release) or hasattr(type(value), "__iter__")
        ):
            raise NotPlannable(f"Meta.{name} is a {type(value).__qualname__}")


cdef int _check_inferred(Analysis analysis):
    """Check what makes up the fields in a release where a name of ``Meta`` may have no declared
    field, and ``Meta.ordered`` makes mappings ordered."""
    opts = static(type(analysis.schema), "opts")
    declared = static(type(analysis.schema), "_declared_fields")
    analysis.typed_value(opts, "ordered", bool)
    for option in ("fields", "additional"):
        named = analysis.field_value(opts, option)
        if type(named) not in (list, tuple):
            raise NotPlannable(f"Meta.{option} is a {type(named).__qualname__}")
        if any(type(name) is not str or name not in declared for name in named):
            raise NotPlannable("Meta names a field that is not declared")
    # Made for each name, and used for those without a field.
    analysis.field_function("fields", "Inferred")
    analysis.field_function("schema", "OrderedDict", "validate_unknown_parameter_value")


cdef int _check_field(Analysis analysis, field, bint top):
    """Raise NotPlannable if copying or binding a declared field runs user code that sees it."""
    cls, upstream = type(analysis.schema), analysis.upstream
    # A field that binds itself is bound to each instance as an ``on_bind_field`` sees it.
    _check_field_itself(
        analysis, field, top and upstream.defines(cls, "_init_fields", upstream.Schema)
    )
    state = analysis.state_of(field)
    if state.get("parent") is not None:
        raise NotPlannable("a declared field is bound already")
    if isinstance(field, upstream.fields["DateTime"]):
        # Binding a date field reads this option of the schema, which may be a property.
        option = state.get("SCHEMA_OPTS_VAR_NAME", static(type(field), "SCHEMA_OPTS_VAR_NAME"))
        if type(option) is not str or option not in OPTION_NAMES:
            raise NotPlannable(f"a declared field asks for an option of its own, {option!r}")
    method, nested = upstream.fields["Method"], upstream.fields["Nested"]
    if isinstance(field, method):
        analysis.fields_helper("callable_or_raise")
        _check_methods(cls, field, top=top)
    if "_field_cache" in state:
        raise NotPlannable("an inferred field is declared, and instances share what it found")
    if isinstance(field, nested) and state.get("_schema") is not None:
        raise NotPlannable("a declared nested field is resolved already")
    for name in ("only", "exclude"):
        if type(state.get(name)) is upstream.OrderedSet:
            raise NotPlannable(f"{name} of a declared field is an OrderedSet, as schemas make them")
    for inner in _fields_inside(analysis, field, state):
        _check_field(analysis, inner, False)


cdef int _check_field_itself(Analysis analysis, field, bint may_bind):
    """Raise NotPlannable if user code of a field's class runs when the field is copied, or when it
    is bound unless it ``may_bind`` itself."""
    upstream = analysis.upstream
    if not isinstance(field, upstream.Field):
        raise NotPlannable(f"a declared field is a {type(field).__qualname__}")
    analysis.watch_field(field)
    _check_field_class(analysis, type(field), may_bind)
    analysis.check_readable(field)
    state = analysis.state_of(field)
    for name in state:
        if callable(state[name]) and name in seam.pristine[upstream.Field]:
            raise NotPlannable(f"{name} is set on a declared field")
    for name in ("data_key", "attribute"):
        # Upstream's construction puts them into sets, which hashes and compares them.
        if type(state.get(name)) not in PLAIN_NAMES:
            raise NotPlannable(f"{name} of a declared field is a {type(state[name]).__qualname__}")


cdef int _check_field_class(Analysis analysis, cls, bint may_bind):
    """Raise NotPlannable unless upstream's code alone copies a field of a class, and binds it
    unless it ``may_bind`` itself."""
    analysis.watch_type(cls)
    if analysis.upstream.has_passed(cls, BOUND_BY_UPSTREAM):
        return 0
    _check_bases(analysis, cls, may_bind)
    if upstreams_binding(cls) is None:
        analysis.upstream.note_passed(cls, BOUND_BY_UPSTREAM)


def upstreams_binding(cls):
    """Return upstream's method that a field class's own ``_bind_to_schema`` overrides, or None."""
    cdef bint overridden = False
    for base in cls.__mro__:
        if BIND in base.__dict__:
            if base in seam.pristine:
                return base.__dict__[BIND] if overridden else None
            overridden = True


cdef int _check_bases(Analysis analysis, cls, bint may_bind):
    """Check a class whose present type version has not been checked."""
    for base in cls.__mro__:
        if base in seam.pristine:
            if not analysis.upstream.has_passed(base, AS_DEFINED):
                _check_upstreams_class(base)
                analysis.require_reviewed(
                    *(qualified(base, name) for name in BINDING if name in seam.pristine[base])
                )
                analysis.upstream.note_passed(base, AS_DEFINED)
            # A method of a user's behind it is called by it.
            may_bind = may_bind and BIND not in seam.pristine[base]
        # By identity: a class that ``type()`` makes of a number field says it is of ``abc``.
        elif base not in (object, abc.ABC, Generic):
            _check_users_class(base, may_bind)
    analysis.check_objects_own(cls, *COPY_METHODS, "__setattr__")
    if "__new__" in seam.pristine.get(cls, ()):
        raise NotPlannable(f"each copy of a {cls.__qualname__} is warned of")


cdef bint _may_be_called(name, value):
    """Whether copying or binding a field may call this attribute of its class: a descriptor, or
    what replaces a method without being one, as a mock does. Other attributes are data."""
    return hasattr(type(value), "__get__") or name in BINDING


cdef int _check_upstreams_class(base):
    """Raise NotPlannable if a function of one of upstream's classes has been replaced."""
    pristine = seam.pristine[base]
    # dict.copy is atomic; another thread may change the class during the loop.
    now = base.__dict__.copy()
    for name in now.keys() | pristine.keys():
        value = pristine.get(name, now.get(name))
        if _may_be_called(name, value) and (name not in pristine or now.get(name) is not value):
            raise NotPlannable(f"{seam.full_name(base)}.{name} is replaced")


cdef int _check_users_class(base, bint may_bind):
    """Raise NotPlannable if copying or binding a field may run code of a user's base of its
    class. All other methods get the instance's own field."""
    for name, value in base.__dict__.copy().items():
        if name == BIND and type(value) is FunctionType and may_bind:
            continue
        if _may_be_called(name, value) and _is_harmful(name, value):
            raise NotPlannable(f"{seam.full_name(base)} defines {name}")


cdef bint _is_harmful(name, value):
    """Whether an attribute of a user's field class may change how a field is copied or bound."""
    if name in ("__dict__", "__weakref__") and type(value) is GetSetDescriptorType:
        return False
    if name == BIND or name in HARMFUL or type(value) not in PLAIN_DESCRIPTORS:
        return True
    # Upstream reads ``schema`` only to convert a value, and then from the instance's own field.
    return type(value) is property and name in KEPT and name != "schema"


cdef int _check_methods(cls, field, bint top):
    """Raise NotPlannable if a Method field binds to anything but plain methods of the schema."""
    if not top:
        raise NotPlannable("a Method field stands inside another field")
    for name in (field.serialize_method_name, field.deserialize_method_name):
        if not name:
            continue
        if type(name) is not str or type(static(cls, name)) not in METHOD_TYPES:
            raise NotPlannable(f"{name} is no plain method")


# ---- Copying ----------------------------------------------------------------------------


cdef bint copies_simply(Upstream upstream, declared, deepcopy):
    """Whether ``deepcopy(declared)`` makes a dictionary with a ``copy.copy`` of each field, and a
    copy has the field's class and attributes and nothing else. marshmallow-sqlalchemy declares None
    for a name that ``Meta.exclude`` leaves out."""
    if (
        deepcopy is not copy.deepcopy
        or deepcopy is not COPY["deepcopy"]
        or type(declared) is not dict
        or upstream.live["schema"].get("copy") is not copy
        or upstream.live["fields"].get("copy") is not copy
        or copy.copy is not COPY["copy"]
    ):
        return False
    for name, field in (<dict>declared).items():
        if type(name) is not str or (field is not None and not _copies_as_object(upstream, field)):
            return False
    return True


cdef bint _copies_as_object(Upstream upstream, field):
    """Whether ``copy.copy`` copies a field by its class and its instance dictionary, because no
    class of its MRO defines a copy method or slots."""
    cls = type(field)
    if type(althaia_dict_or_none(field)) is not dict:
        return False
    if upstream.has_passed(cls, COPIED_AS_OBJECT):
        return True
    if static(cls, "__deepcopy__") is not upstream.raw(upstream.Field, "__deepcopy__"):
        return False
    for name in METHODS_OF_COPYING:
        if static(cls, name) is not object.__dict__.get(name, ABSENT) and not (
            # In some releases upstream's own warns of the class that has it, and of no other.
            name == "__new__"
            and definers(cls, name)[0] in seam.pristine
            and name not in cls.__dict__
            and upstream.is_known("fields.Field.__new__")
        ):
            return False
    if cls.__basicsize__ != upstream.Field.__basicsize__:
        return False
    upstream.note_passed(cls, COPIED_AS_OBJECT)
    return True
