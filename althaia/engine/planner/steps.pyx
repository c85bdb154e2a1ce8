"""Makes the plan of a schema, for dumping or for loading, from the schema and its fields.

For each field the narrowest step is chosen that its class and instance allow: one of the
:mod:`althaia.engine.kinds`; where something is overridden, the field's own ``_serialize`` or
``_deserialize``; where nothing about it is known, its own ``serialize`` or ``deserialize``. A
user's own field costs only itself.
"""

# Functions that plans replace or rest on, as Analysis.watch_group() takes them.
cdef tuple LOADING_FUNCTIONS = (
    ("schema", (
        "Mapping", "missing", "set_value", "EXCLUDE", "INCLUDE", "RAISE", "PRE_LOAD", "POST_LOAD",
        "VALIDATES", "VALIDATES_SCHEMA", "is_collection",
    )),
    ("utils", ("is_iterable_but_not_string", "is_generator")),
    ("schema", ("is_sequence_but_not_string",)),
    # A plan knows the types of its values and does not ask these. Upstream's isinstance() does, and
    # fails if one of them is not a type.
    ("utils", ("Mapping", "Sequence")),
    ("schema", ("ErrorStore", "ValidationError")),
    ("fields", ("ValidationError", "missing_")),
    ("error_store", ("copy_containers", "merge_errors", "SCHEMA")),
)


# One class of upstream's fields, or of a well-known package, and the makers of the steps that
# replace its methods. A maker is called with the analysis, the field and the step's keyword
# arguments (where a value comes from and where it goes). It returns the step. It raises
# NotPlannable if the field's own method must run.
#   name: the class in ``marshmallow.fields``; a package's class with its module.
#   dump: the maker for the ``_serialize`` that this class defines, if it does.
#   load: the maker for its ``_deserialize``.
#   digests: of a package: the digests of the sources of its methods that were reviewed.
#   prepare_load: for a package's schema class, what is called with its ``load`` before the first
#   planned load, and a text that says what that does.
Kind = namedtuple(
    "Kind", ("name", "dump", "load", "digests", "prepare_load"), defaults=(None,) * 4
)


def identity(method, function):
    """Return a key of a function, in the place of the method of this name, that no other has.

    It is a str. An int key is reference-counted by the thread that made it, so that in a build
    without the GIL other threads would wait for each other at each look-up.
    """
    return f"{method} {id(function):x}"


def by_function(Upstream upstream, kinds):
    """Return the makers of steps by the method that each replaces.

    The key is the identity of the function. So neither the name of the field's class matters nor
    which base defines the method.
    """
    cdef dict found = {}
    for kind in kinds:
        # Which class defines a method is not the same in all releases.
        methods = seam.pristine.get(upstream.fields.get(kind.name), EMPTY)
        for name, maker in (("_serialize", kind.dump), ("_deserialize", kind.load)):
            if maker is not None and name in methods:
                found[identity(name, methods[name])] = (f"fields.{kind.name}.{name}", maker)
    return found


def by_name(kinds):
    """Return the digests and makers for dumping and for loading, by the function's full name.

    A package's functions are found by name and accepted by digest.
    """
    cdef tuple found = ({}, {})
    for kind in kinds:
        if kind.dump is not None:
            found[DUMP][f"{kind.name}._serialize"] = (kind.digests, kind.dump)
        if kind.load is not None:
            found[LOAD][f"{kind.name}._deserialize"] = (kind.digests, kind.load)
        if kind.prepare_load is not None:
            found[LOAD][f"{kind.name}.load"] = (kind.digests, kind.prepare_load)
    return found


def analyse(Upstream upstream, schema, direction, statistics):
    """Return the plan of a schema. If nothing can be planned, it declines each call and says why.

    :param schema: a marshmallow schema instance.
    :param direction: ``DUMP`` or ``LOAD``.
    :param statistics: the counters of its class, which the plan carries along.
    :return: a ``DumpPlan`` or ``LoadPlan``.
    """
    cdef Analysis analysis
    rules = LOADING if direction == LOAD else DUMPING
    common = {"schema_class": type(schema), "statistics": statistics}
    if not may_be_put(schema):
        return _declined(rules, Analysis(upstream, schema, None).guard(), NOT_PLAIN, common)
    # Read from the dictionary: attribute access could run user code of the schema's class.
    members = object.__getattribute__(schema, "__dict__").get(rules.members)
    analysis = Analysis(upstream, schema, members, published_guard(schema, 1 - direction))
    try:
        _check_schema(analysis, rules)
        rules.check(analysis)
        dict_class = _dict_class(analysis)
        options = rules.options(analysis)
        steps = tuple([_step(analysis, rules, name, field) for name, field in analysis.items()])
    except NotPlannable as refusal:
        return _declined(rules, analysis.guard(), refusal.reason, common)
    guard = analysis.guard()
    if guard.unwatchable() is not None:
        return _declined(rules, guard, why_unwatchable(guard), common)
    return rules.plan(
        steps, guard, dict_class=dict_class, slots=analysis.slots, **options, **common
    )


cdef _dict_class(Analysis analysis):
    """Return the class of the dictionaries that the schema returns."""
    upstream = analysis.upstream
    if upstream.is_ordered_by_option and upstream.has(
        type(analysis.schema), "dict_class", upstream.Schema
    ):
        ordered = analysis.schema_value("ordered")
        if type(ordered) is not bool:
            raise NotPlannable("ordered is neither True nor False")
        analysis.field_function("schema", "OrderedDict")
        return OrderedDict if ordered else dict
    dict_class = analysis.schema_value("dict_class")
    if not isinstance(dict_class, type):
        raise NotPlannable("dict_class is no class")
    return dict_class


cdef _declined(rules, guard, str reason, common):
    """Return a plan that declines every call. Its guard watches the reason."""
    return rules.plan((), guard, declined=reason, dict_class=dict, **common)


cdef int _check_schema(Analysis analysis, rules):
    """Raise NotPlannable if reading the schema's settings, or its fields, runs user code."""
    cls = type(analysis.schema)
    for name in rules.settings:
        if is_data_descriptor(static(cls, name)):
            raise NotPlannable(f"{name} is computed by {analysis.upstream.owner(cls, name)}")
    if analysis.schema_value(rules.members) is not analysis.members:
        raise NotPlannable(f"{rules.members} is not a plain attribute")
    analysis.watch_type(type(analysis.members))
    if not is_plain_mapping(type(analysis.members)):
        raise NotPlannable(f"{rules.members} is a {type(analysis.members).__qualname__}")
    analysis.check_objects_own(cls, "__getattribute__")


cdef tuple _hooks(Analysis analysis, tuple tags):
    """Return the hooks of each tag, None for a tag without any; watch the table and its lists.

    The table is a defaultdict: like upstream's look-up, this leaves a list in it for each tag.

    :raises NotPlannable: the table or a list in it is of another type.
    """
    table = analysis.schema_value("_hooks")
    if type(table) not in (analysis.upstream.HookTable, defaultdict, dict):
        raise NotPlannable(f"_hooks is a {type(table).__qualname__}")
    if type(table) is not dict and table.default_factory is not list:
        raise NotPlannable("_hooks makes no lists")
    return tuple([_hooks_of(analysis, table, tag) for tag in tags])


cdef _hooks_of(Analysis analysis, table, str tag):
    """Return the hooks of a tag as triples of the method's name, whether it is given a whole
    collection, and its options."""
    if not analysis.upstream.hooks_by_pair or tag == "validates":
        return _listed(analysis, table, tag) or None
    upstream = analysis.upstream
    if not upstream.has(type(analysis.schema), "_has_processors", upstream.Schema):
        raise NotPlannable("_has_processors is overridden")
    return tuple([
        (name, many, _options_of_hook(analysis, name, (tag, many)))
        for many in (True, False)
        for name in _listed(analysis, table, (tag, many))
    ]) or None


cdef tuple _listed(Analysis analysis, table, key):
    if type(table) is not dict:
        table[key]
    listed = analysis.watch_entry(table, key)
    if type(listed) is not list:
        raise NotPlannable(f"_hooks[{key!r}] is a {type(listed).__qualname__}")
    return analysis.watch_list(listed)


cdef dict _options_of_hook(Analysis analysis, name, tuple key):
    """Return the options of a hook in releases that keep them with the function."""
    function = static(type(analysis.schema), name)
    is_plain = type(function) in METHOD_TYPES
    options = getattr(function, "__marshmallow_hook__", None) if is_plain else None
    found = analysis.watch_entry(options, key) if type(options) is dict else None
    if type(found) is not dict:
        raise NotPlannable(f"the hook {name} is no plain method")
    return found


cdef _step(Analysis analysis, rules, name, field):
    if type(name) is not str:
        raise NotPlannable(f"a field's name is a {type(name).__qualname__}")
    if not isinstance(field, analysis.upstream.Field):
        raise NotPlannable(f"{name!r} is no field but a {type(field).__qualname__}")
    analysis.watch_field(field)
    return rules.step(analysis, name, field)


cdef str _key(Analysis analysis, str name, field):
    """Return a field's key in what is dumped or loaded.

    :raises NotPlannable: the field computes it for each call. A plan has no layout then.
    """
    key = analysis.typed_value(field, "data_key", str, True)
    return name if key is None else key


cdef _conversion(Analysis analysis, field, options, int direction):
    """Return the step that converts as the field's own method does."""
    method, call_step = _CONVERSIONS[direction]
    plainly_found = False
    try:
        analysis.check_readable(field)
        if method in analysis.state_of(field):
            raise NotPlannable(f"{method} is set on the field instance")
        # Looking the method up runs no user code.
        plainly_found = type(static(type(field), method)) is FunctionType
        maker = _maker(analysis, field, method, direction)
        if analysis.holds_fields(field) or analysis.has_own_methods(field):
            # The field's own method may run, and call the fields inside it, or user code.
            options = analysis.with_own_slot(options)
        return maker(analysis, field, options)
    except NotPlannable as refusal:
        why = "; ".join(filter(None, (options.get("why"), refusal.reason)))
        options = analysis.with_own_slot(options) | {"why": why}
        if direction == DUMP and plainly_found:
            options["method_slot"] = analysis.new_slot()
        return call_step(field, **options)


cdef _maker(Analysis analysis, field, str method, int direction):
    """Return the maker of the step that replaces a field's method.

    :raises NotPlannable: the method was not reviewed.
    """
    cdef Upstream upstream = analysis.upstream
    version = 2 * althaia_type_tag(type(field)) + direction
    known = upstream.makers_by_type.get(version)
    if known is not None:
        return known
    function = static(type(field), method)
    known = upstream.makers_by_function.get(identity(method, function))
    if known is not None:
        qualified_name, maker = known
        analysis.require_reviewed(qualified_name)
        if version > 1 and ALTHAIA_HAS_GIL:
            # CPython uses no type version twice.
            if len(upstream.makers_by_type) >= MOST_CLASSES:
                upstream.makers_by_type.clear()
            upstream.makers_by_type[version] = maker
        return maker
    of_package = _package_entry(upstream, direction, function)
    if of_package is not None:
        return of_package[1]
    raise NotPlannable(f"{method} is overridden by {analysis.upstream.owner(type(field), method)}")


cdef _package_entry(Upstream upstream, int direction, function):
    """Return the digests and the maker for a package's function; None if it was not reviewed."""
    if type(function) is not FunctionType or type(function.__module__) is not str:
        return None
    entry = upstream.makers_by_name[direction].get(f"{function.__module__}.{function.__qualname__}")
    return entry if entry is not None and is_known(function, entry[0]) else None


def preparations(cls):
    """Return what packages do for the ``load`` that a schema class inherits from them, as triples
    of the ``load``, the function that is called with it, and a text."""
    loads = [base.__dict__.get("load") for base in definers(cls, "load")]
    entries = [(load, _package_entry(upstream, LOAD, load)) for load in loads]
    return [(load, *entry[1]) for load, entry in entries if entry is not None]


_CONVERSIONS = (("_serialize", CallDumpStep), ("_deserialize", CallLoadStep))


cdef int _watch_inner(Analysis analysis, field):
    if not isinstance(field, analysis.upstream.Field):
        raise NotPlannable(f"an inner field is a {type(field).__qualname__}")
    analysis.watch_field(field)


# ---- Dump ----------------------------------------------------------------------------


class _Direction:
    """What the plan of a dump or load reads of a schema, and how it is made.

    Of the schema's methods, ``outer`` call those ``around``, and these ``inner``.
    """

    def replaced(self, Analysis analysis, tuple hooks):
        """Return the schema's hooks, and how much of upstream's code the plan may replace, as
        keyword arguments of a plan.

        :param hooks: those before the fields, validators if there are any, those after.
        """
        names = (self.inner, *self.around, *self.outer)
        upstreams = {name: analysis.schema_method_is_upstreams(name) for name in names}
        around = all(upstreams[name] for name in self.around)
        whole = around and upstreams[self.inner]
        own = static(type(analysis.schema), self.inner)
        # Looking it up on the instance only binds it.
        is_bound = type(own) is FunctionType and self.inner not in analysis.state
        return {
            "around": around,
            "own": own if is_bound else None,
            "whole": whole,
            "nestable": whole and all(upstreams[name] for name in self.outer),
            "many_allowed": upstreams[self.inner],
            "opts": _plain_options(analysis, self.option),
            "pre_hooks": hooks[0],
            "post_hooks": hooks[len(hooks) - 1],
            "has_hooks": any([each is not None for each in hooks]),
        }


class _Dumping(_Direction):
    """The plan of a dump."""

    members = "dump_fields"
    plan = DumpPlan
    settings = ("many",)
    inner = "_serialize"
    around = ("_invoke_dump_processors", "_invoke_processors")
    outer = ("dump",)
    option = "render_module"

    def check(self, Analysis analysis):
        analysis.require_reviewed("schema.Schema._serialize", "schema.Schema.dump")
        analysis.watch_group(("schema", ("missing", "PRE_DUMP", "POST_DUMP")))

    def step(self, Analysis analysis, str name, field):
        upstream = analysis.upstream
        options = {"attr": name, "key": _key(analysis, name, field)}
        try:
            analysis.check_readable(field)
            analysis.field_method(field, "serialize", upstream.Field)
            options.update(_source(analysis, name, field))
        except NotPlannable as refusal:
            if static(type(field), "__getattribute__") is not object.__getattribute__:
                # It may compute the key.
                raise
            return SerializeStep(
                field,
                source=SERIALIZE,
                default=upstream.missing,
                why=refusal.reason,
                **analysis.with_own_slot(options),
            )
        return _conversion(analysis, field, options, DUMP)

    def options(self, Analysis analysis):
        """Return the keyword arguments of a plan."""
        replaced = self.replaced(analysis, _hooks(analysis, ("pre_dump", "post_dump")))
        return replaced | {
            "straight": replaced["nestable"] and analysis.schema_method_is_upstreams("dumps"),
        }


cdef _plain_options(Analysis analysis, str name):
    """Return the schema's options if reading this one runs no user code, else None."""
    try:
        opts = analysis.schema_value("opts")
    except NotPlannable:
        return None
    cls = type(opts)
    analysis.watch_type(cls)
    plain = (
        static(cls, "__getattribute__") is object.__getattribute__
        and static(cls, name) is ABSENT
        and type(static(cls, "__dict__")) is GetSetDescriptorType
        # Otherwise CPython would call a __getattr__.
        and name in object.__getattribute__(opts, "__dict__")
    )
    return opts if plain else None


cdef _source(Analysis analysis, str name, field):
    """Return where a field's value comes from, as keyword arguments of a step."""
    analysis.watch_group(("fields", ("missing_",)))
    if not analysis.typed_value(field, "_CHECK_ATTRIBUTE", bool):
        return {"source": NO_ATTRIBUTE}
    source = {"default": analysis.field_value(field, "dump_default")}
    try:
        analysis.field_method(field, "get_value", analysis.upstream.Field)
    except NotPlannable as refusal:
        source = analysis.with_own_slot(source)
        return source | {"source": FIELD_GET_VALUE, "why": refusal.reason}
    attribute = analysis.typed_value(field, "attribute", str, True)
    target = source["name"] = name if attribute is None else attribute
    try:
        analysis.require_schema_method("get_attribute")
        analysis.watch_group(("schema", ("get_value",)))
        # get_value calls the second one only for a dotted path.
        analysis.watch_group(("utils", ("_get_value_for_key", "_get_value_for_keys")))
    except NotPlannable as refusal:
        return source | {"source": ACCESSOR, "why": refusal.reason}
    if "." in target:
        return source | {"source": PATH, "path": tuple(target.split("."))}
    return source | {"source": KEY}


def inner_dump_step(Analysis analysis, field, attr):
    """Return the step of a field inside another, which only converts.

    :param attr: what upstream passes it as ``attr``.
    :raises NotPlannable: it is no field.
    """
    _watch_inner(analysis, field)
    with analysis.inside(field):
        return _conversion(analysis, field, {"attr": attr}, DUMP)


# ---- Load ----------------------------------------------------------------------------


class _Loading(_Direction):
    """The plan of a load."""

    members = "load_fields"
    plan = LoadPlan
    settings = ("many", "unknown", "partial")
    inner = "_deserialize"
    around = (
        "_invoke_load_processors",
        "_invoke_processors",
        "_invoke_field_validators",
        "_invoke_schema_validators",
    )
    outer = ("load", "_do_load")
    option = "index_errors"

    def check(self, Analysis analysis):
        if _plain_options(analysis, self.option) is None:
            raise NotPlannable("asking opts for index_errors may run code of the user's")
        analysis.require_reviewed("schema.Schema._deserialize", "schema.Schema._do_load")
        analysis.require_schema_method("_call_and_store")
        for group in LOADING_FUNCTIONS:
            analysis.watch_group(<tuple>group)
        # Upstream raises the exception and catches it again. A plan does not raise it.
        store, error = analysis.upstream.ErrorStore, analysis.upstream.ValidationError
        for cls, name in ((store, "__init__"), (store, "store_error"), (error, "__init__")):
            analysis.watch_type(cls)
            analysis.class_method(cls, name)

    def step(self, Analysis analysis, str name, field):
        key = _key(analysis, name, field)
        analysis.check_readable(field)
        target = analysis.typed_value(field, "attribute", str, True) or name
        options = {"attr": name, "key": key, "target": target, "dotted": "." in target}
        return _loaded(analysis, field, options)

    def options(self, Analysis analysis):
        """Return the keyword arguments of a plan."""
        tags = ("pre_load", "validates", "validates_schema", "post_load")
        hooks = pre_hooks, of_fields, of_schema, post_hooks = _hooks(analysis, tags)
        return self.replaced(analysis, hooks) | {
            "has_validators": of_fields is not None or of_schema is not None,
            "has_schema_validators": of_schema is not None,
            "hooks_see_input": pre_hooks is not None
            or of_schema is not None
            or any(config.get("pass_original") for _, _, config in post_hooks or ()),
            "silent_errors": analysis.schema_method_is_upstreams("handle_error"),
        }


cdef _loaded(Analysis analysis, field, options):
    """Return the step that does all of ``field.deserialize``."""
    try:
        analysis.check_readable(field)
        analysis.field_method(field, "deserialize", analysis.upstream.Field)
        options = options | _around(analysis, field)
    except NotPlannable as refusal:
        options = analysis.with_own_slot(options)
        return DeserializeStep(field, why=refusal.reason, guarded=True, **options)
    return _conversion(analysis, field, options, LOAD)


def inner_load_step(Analysis analysis, field):
    """Return the step of a field inside another.

    :raises NotPlannable: it is no field.
    """
    _watch_inner(analysis, field)
    with analysis.inside(field):
        return _loaded(analysis, field, {})


def load_conversion(Analysis analysis, field):
    """Return the step of an inner field of which upstream calls only ``_deserialize``.

    :raises NotPlannable: it is no field.
    """
    _watch_inner(analysis, field)
    return _conversion(analysis, field, {}, LOAD)


cdef _around(Analysis analysis, field):
    """Return what ``field.deserialize`` does around ``_deserialize`` (missing and None, the
    default, processors, validators), as keyword arguments of a step."""
    required = analysis.typed_value(field, "required", bool)
    owner, constant = analysis.upstream.Field, analysis.upstream.fields["Constant"]
    if analysis.upstream.defines(type(field), "_validate_missing", constant):
        required, owner = False, constant
    analysis.field_method(field, "_validate_missing", owner)
    processors = ("pre_load", "post_load") if analysis.upstream.has_processors else ()
    return {
        "required": required,
        "allow_none": analysis.typed_value(field, "allow_none", bool),
        "error_messages": _error_messages(analysis, field),
        "default": analysis.field_value(field, "load_default"),
        **{name: _functions(analysis, field, name) for name in processors},
        **_validation(analysis, field),
    }


cdef dict _error_messages(Analysis analysis, field):
    """Return the messages of a field by their keys; None if its own ``make_error`` must be called
    for one. Steps look a message up when they need it."""
    try:
        analysis.field_method(field, "make_error", analysis.upstream.Field)
        messages = analysis.field_value(field, "error_messages")
    except NotPlannable:
        return None
    return messages if type(messages) is dict else None


cdef _functions(Analysis analysis, field, str name):
    """Return a field's list of processors; None if it is empty. The guard watches the list."""
    functions = analysis.typed_value(field, name, list)
    analysis.watch_list(functions)
    return functions or None


cdef _validation(Analysis analysis, field):
    """Return how the field validates, as keyword arguments of a step."""
    upstream = analysis.upstream
    try:
        analysis.field_method(field, "_validate", upstream.Field)
        analysis.field_method(field, "_validate_all", upstream.Field)
        analysis.watch_group(("fields", ("And",)))
        analysis.watch_group(("validate", ("ValidationError",)))
        conjunction = upstream.validate["And"]
        analysis.watch_type(conjunction)
        for name in ("__call__", "__init__"):
            analysis.class_method(conjunction, name)
        validators = analysis.typed_value(field, "validators", list)
        # Releases in which a validator's False is an error look up the message for each value.
        if upstream.false_is_an_error and "validator_failed" not in analysis.field_value(
            field, "error_messages"
        ):
            raise NotPlannable("error_messages has no 'validator_failed'")
        watched = analysis.watch_list(validators)
        return {"checks": tuple([check_for(analysis, each) for each in watched]) or None}
    except NotPlannable as refusal:
        return {"calls_validate": True, "why": refusal.reason}


DUMPING, LOADING = _Dumping(), _Loading()
