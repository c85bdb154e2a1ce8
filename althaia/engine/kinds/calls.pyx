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
    if function is None or takes_context(analysis, field, function):
        return CallDumpStep(field, **analysis.with_own_slot(options))
    return DumpByCall(field, **called(function), **options)


def load_function(analysis, field, options):
    function = analysis.field_value(field, "deserialize_func")
    if function is not None and takes_context(analysis, field, function):
        return CallLoadStep(field, **analysis.with_own_slot(options))
    return load_call(analysis, field, options, function)


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
    if type(function) not in PLAIN_FUNCTIONS:
        _check_called(analysis, type(function))
    try:
        return len(seam.defined["utils"]["get_func_args"](function)) > 1
    except Exception as error:
        raise NotPlannable(f"its function has no signature: {error}") from None


PLAIN_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, partial)
# What a class in C has in the place of a function.
WRITTEN_IN_C = (type(object.__init__), type(object.__dir__))


def _check_called(analysis, cls):
    """Watch the class of a callable object, such as one with ``__call__`` or wrapt's.

    :raises NotPlannable: it computes the signature of its instances.
    """
    if issubclass(cls, type):
        raise NotPlannable("its function is a class")
    analysis.watch_type(cls)
    own = [static(cls, name) for name in ("__getattribute__", "__getattr__", "__signature__")]
    if any([raw is not ABSENT and type(raw) not in WRITTEN_IN_C for raw in own]):
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
