"""Fields whose values come from user code or are constant: ``Method``, ``Function``,
``Constant``."""

# ---- Dump --------------------------------------------------------------------------


@cython.no_gc_clear
cdef class DumpByCall(DumpStep):
    """Calls a user function with the object, for a Method or Function field."""

    label = "function"
    cdef public object function, method

    cdef convert(self, value, obj, DumpFrame frame):
        if self.method is not None:
            return self.method(frame.schema, obj)
        return upstream.missing if self.function is None else self.function(obj)


@cython.no_gc_clear
cdef class DumpInContext(DumpByCall):
    """Calls the function of a Function field with the object and a context."""

    cdef public object owner

    cdef convert(self, value, obj, DumpFrame frame):
        return in_context(self.function, obj, self.attr, self.owner, frame.schema)


cdef in_context(function, value, attr, owner, schema):
    """Return what ``Function._call_or_raise`` returns for a function that takes a context.

    :param owner: the schema whose context it is; None if it is ``schema``, that of the call.
    """
    if owner is None:
        owner = schema
    if owner.context is None:
        raise upstream.ValidationError(f"No context available for Function field {attr!r}")
    # Read twice, as upstream does: it may be computed.
    return function(value, owner.context)


@cython.no_gc_clear
cdef class DumpConstant(DumpStep):
    label = "constant"
    cdef public object constant

    cdef convert(self, value, obj, DumpFrame frame):
        return self.constant


# ---- Load --------------------------------------------------------------------------


@cython.no_gc_clear
cdef class LoadByCall(LoadStep):
    """Calls a user function with the value, for a Method or Function field."""

    label = "function"
    cdef public object function, method

    cdef convert(self, value, data, LoadFrame frame):
        if self.method is not None:
            return self.method(frame.schema, value)
        return self.function(value)


@cython.no_gc_clear
cdef class LoadInContext(LoadByCall):
    """Calls the function of a Function field with the value and a context."""

    cdef public object owner

    cdef convert(self, value, data, LoadFrame frame):
        return in_context(self.function, value, self.key, self.owner, frame.schema)


@cython.no_gc_clear
cdef class LoadConstant(LoadStep):
    label = "constant"
    cdef public object constant

    cdef convert(self, value, data, LoadFrame frame):
        return self.constant


# ---- Analysis ----------------------------------------------------------------------


def called(function, schema=None):
    """Return as keyword arguments of a step what it calls: a function, or a method of the schema of
    each call if this is a bound one of the schema."""
    bound = type(function) is MethodType and function.__self__ is schema
    return {"function": function, "method": function.__func__ if bound else None}


def dump_method(analysis, field, options):
    analysis.field_function("fields", "missing_")
    method = analysis.field_value(field, "_serialize_method")
    return DumpByCall(field, **called(method, analysis.schema), **options)


def load_method(analysis, field, options):
    method = analysis.field_value(field, "_deserialize_method")
    return load_call(analysis, field, options, method)


def dump_function(analysis, field, options):
    function = analysis.field_value(field, "serialize_func")
    if function is None:
        return CallDumpStep(field, **analysis.with_own_slot(options))
    if takes_context(analysis, field, function):
        return DumpInContext(field, function=function, **with_owner(analysis, field, options))
    return DumpByCall(field, **called(function), **options)


def load_function(analysis, field, options):
    function = analysis.field_value(field, "deserialize_func")
    if function is not None and takes_context(analysis, field, function):
        options = with_owner(analysis, field, options)
        return LoadInContext(field, guarded=True, function=function, **options)
    return load_call(analysis, field, options, function)


def with_owner(analysis, field, options):
    """Return the options of a step that calls with a context: the owner of that is the schema to
    which a field, or the field around it, was bound."""
    upstream = analysis.upstream
    owner = analysis.field_value(field, "parent")
    if isinstance(owner, upstream.Field):
        analysis.field_method(owner, "context", upstream.Field)
        owner = analysis.field_value(owner, "parent")
    if owner is None:
        raise NotPlannable("it was bound to no schema")
    return options | {"owner": None if owner is analysis.schema else owner}


def takes_context(analysis, field, function):
    """Return whether upstream calls the function of a Function field with a context as well.

    Releases that do so read its signature in each call. The signature of the types of function
    below changes only if their code is replaced.

    :raises NotPlannable: its signature may be another one in the next call.
    """
    if not analysis.upstream.functions_take_context:
        return False
    analysis.require_reviewed("fields.Function._call_or_raise")
    analysis.field_method(field, "_call_or_raise", analysis.upstream.fields["Function"])
    analysis.fields_helper("get_func_args")
    if type(function) is type:
        analysis.watch_type(function)
    elif type(function) not in PLAIN_FUNCTIONS:
        _check_called(analysis, type(function))
    try:
        return len(seam.defined["utils"]["get_func_args"](function)) > 1
    except Exception as error:
        raise NotPlannable(f"its function has no signature: {error}") from None


PLAIN_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, partial)
# What ``inspect.signature`` asks of an object, and the types of what classes in C have there.
ASKED = ("__getattribute__", "__getattr__", "__signature__")
USUAL_TYPES = {type(ABSENT), type(object.__init__), type(object.__dir__)}


def _check_called(analysis, cls):
    """Watch the class of a callable object, such as one with ``__call__`` or wrapt's.

    :raises NotPlannable: it computes the signature of its instances.
    """
    if issubclass(cls, type):
        raise NotPlannable("its function is a class")
    analysis.watch_type(cls)
    if not USUAL_TYPES.issuperset([type(static(cls, name)) for name in ASKED]):
        raise NotPlannable(f"its function is a {cls.__qualname__}")


def load_call(analysis, field, options, function):
    if function is None:
        return LoadStep(field, **options)
    if not callable(function):
        raise NotPlannable("its function cannot be called")
    return LoadByCall(field, guarded=True, **called(function, analysis.schema), **options)


def constant_of(analysis, field):
    return {"constant": analysis.field_value(field, "constant")}


KINDS += [
    Kind("Method", dump=dump_method, load=load_method),
    Kind("Function", dump=dump_function, load=load_function),
    Kind(
        "Constant",
        dump=maker_of(DumpConstant, constant_of),
        load=maker_of(LoadConstant, constant_of),
    ),
]
