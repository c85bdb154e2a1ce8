"""From a schema and its fields to the steps of a load plan.

For each field the narrowest step is chosen that its class and instance allow, going from
upstream's own kind of conversion over "the field's own ``_deserialize``" to "the field's own
``deserialize``".
"""

from __future__ import annotations

import datetime as dt
import decimal
import email.utils
import enum
import math
import re
import uuid
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import althaia.plans.load as load
from althaia.plans.analysis import Analysis, Opaque, is_data_descriptor
from althaia.plans.upstream import ABSENT, Upstream, definers, static

Options = dict[str, Any]
Maker = Callable[[Analysis, Any, Options], load.LoadStep]


def analyse(upstream: Upstream, schema: Any, statistics: Any) -> load.LoadPlan:
    """The load plan of a schema; where nothing can be planned, one that says why.

    :param schema: a marshmallow schema instance.
    :param statistics: the counters of its class, which the plan carries along.
    """
    # Not by asking the schema: its class may answer for its attributes, and would notice.
    members = object.__getattribute__(schema, "__dict__").get("load_fields")
    analysis = Analysis(upstream, schema, members)
    common = {
        "schema_class": type(schema),
        "statistics": statistics,
        "dict_class": dict,
        "hooks": {},
    }
    try:
        if analysis.schema_value("load_fields") is not members:
            raise Opaque("load_fields is not a plain attribute")
        if type(members) is not dict and type(members) is not OrderedDict:
            raise Opaque(f"load_fields is a {type(members).__qualname__}")
        if is_data_descriptor(static(type(schema), "opts")):
            raise Opaque("opts is computed by a descriptor")
        if static(type(schema), "__getattribute__") is not object.__getattribute__:
            raise Opaque("the schema class overrides __getattribute__")
        if not upstream.is_known("schema.Schema._deserialize", "schema.Schema._do_load"):
            raise Opaque("this release of marshmallow deserializes in another way")
        if not analysis.schema_method_is_upstreams("_call_and_store"):
            raise Opaque(analysis.why_schema_method("_call_and_store"))
        _check_helpers(analysis)
        dict_class = analysis.schema_value("dict_class")
        if not isinstance(dict_class, type):
            raise Opaque("dict_class is no class")
        hooks = analysis.schema_value("_hooks")
        if not isinstance(hooks, dict):
            raise Opaque("_hooks is no dictionary")
        steps = tuple(_step(analysis, name, field) for name, field in analysis.items())
    except Opaque as opaque:
        analysis.leave_out_members()
        return load.LoadPlan((), analysis.guard(), declined=opaque.reason, **common)
    common.update(dict_class=dict_class, hooks=hooks)
    own = {name: analysis.schema_method_is_upstreams(name) for name in WHOLE + NESTABLE}
    whole = all(own[name] for name in WHOLE)
    return load.LoadPlan(
        steps,
        analysis.guard(),
        whole=whole,
        nestable=whole and own["load"] and own["_do_load"],
        many_allowed=own["_deserialize"],
        silent_errors=own["handle_error"],
        sites=analysis.sites,
        leaves_nested=analysis.leaves_nested,
        **common,
    )


WHOLE = (
    "_deserialize",
    "_invoke_load_processors",
    "_invoke_processors",
    "_invoke_field_validators",
    "_invoke_schema_validators",
)
NESTABLE = ("load", "_do_load", "handle_error")


def _check_helpers(analysis: Analysis) -> None:
    """Make sure that the helpers a load replaces by its own code are upstream's."""
    analysis.field_function("schema", "Mapping", "missing", "set_value")
    analysis.field_function("schema", "is_collection")
    analysis.field_function("utils", "is_iterable_but_not_string", "is_generator")
    analysis.field_function("schema", "is_sequence_but_not_string")
    analysis.field_function("schema", "ErrorStore")
    analysis.field_function("schema", "ValidationError")
    analysis.field_function("fields", "ValidationError", "missing_")
    analysis.field_function("error_store", "copy_containers", "merge_errors")
    store = analysis.upstream.schema["ErrorStore"]
    analysis.watch_type(store)
    for name in ("__init__", "store_error"):
        analysis.class_method(store, name)
    # A plan makes no error where upstream makes one only to catch it again.
    error = analysis.upstream.schema["ValidationError"]
    analysis.watch_type(error)
    analysis.class_method(error, "__init__")


def _step(analysis: Analysis, name: Any, field: Any) -> load.LoadStep:
    upstream = analysis.upstream
    if type(name) is not str:
        raise Opaque(f"a field's name is a {type(name).__qualname__}")
    if not isinstance(field, upstream.Field):
        raise Opaque(f"{name!r} is no field but a {type(field).__qualname__}")
    analysis.watch_field(field)
    # These two are upstream's questions about the schema's layout, not about a value: where
    # a field computes them, nothing about the schema is fixed.
    analysis.check_readable(field)
    key = analysis.field_value(field, "data_key")
    key = name if key is None else key
    target = analysis.field_value(field, "attribute") or name
    if type(key) is not str or type(target) is not str:
        raise Opaque(f"data_key or attribute of {name!r} is no text")
    place: Options = {"attr": name, "key": key, "target": target, "dotted": "." in target}
    return _loaded(analysis, field, place)


def _loaded(analysis: Analysis, field: Any, place: Options) -> load.LoadStep:
    """The step that does all of ``field.deserialize``."""
    try:
        analysis.check_readable(field)
        analysis.field_method(field, "deserialize", analysis.upstream.Field)
        if not analysis.upstream.is_known("fields.Field.deserialize"):
            raise Opaque("this release of marshmallow deserializes in another way")
        options = place | _around(analysis, field)
    except Opaque as opaque:
        analysis.leave(field)
        return load.OpaqueLoadStep(field, opaque=True, why=opaque.reason, **place)
    return _conversion(analysis, field, options)


def _inner(analysis: Analysis, field: Any) -> load.LoadStep:
    """The step of a field inside another."""
    if not isinstance(field, analysis.upstream.Field):
        raise Opaque(f"an inner field is a {type(field).__qualname__}")
    analysis.watch_field(field)
    return _loaded(analysis, field, {})


# ---- What surrounds the conversion ---------------------------------------------------


def _around(analysis: Analysis, field: Any) -> Options:
    """Missing and None, defaults, processors and validators, as options of a step."""
    required = _flag(analysis, field, "required")
    constant = analysis.upstream.fields["Constant"]
    if analysis.upstream.defines(type(field), "_validate_missing", constant):
        required = False
    else:
        analysis.field_method(field, "_validate_missing", analysis.upstream.Field)
    if "_validate_missing" in analysis.state_of(field):
        raise Opaque("_validate_missing is set on the field instance")
    return {
        "required": required,
        "allow_none": _flag(analysis, field, "allow_none"),
        "default": analysis.field_value(field, "load_default"),
        "pre_load": _functions(analysis, field, "pre_load"),
        "post_load": _functions(analysis, field, "post_load"),
        **_validation(analysis, field),
    }


def _flag(analysis: Analysis, field: Any, name: str) -> bool:
    value = analysis.field_value(field, name)
    if type(value) is not bool:
        raise Opaque(f"{name} is neither True nor False")
    return value


def _functions(analysis: Analysis, field: Any, name: str) -> list[Any] | None:
    """A field's list of processors, None while it is empty."""
    functions = analysis.field_value(field, name)
    if type(functions) is not list:
        raise Opaque(f"{name} is no list")
    analysis.watch_list(functions)
    return functions or None


def _validation(analysis: Analysis, field: Any) -> Options:
    """Whether and how the field validates, as options of a step."""
    upstream = analysis.upstream
    try:
        analysis.field_method(field, "_validate", upstream.Field)
        analysis.field_method(field, "_validate_all", upstream.Field)
        if not upstream.is_known("fields.Field._validate", "validate.And.__call__"):
            raise Opaque("this release of marshmallow validates in another way")
        analysis.field_function("fields", "And")
        analysis.field_function("validate", "ValidationError")
        analysis.watch_type(upstream.validate["And"])
        conjunction = upstream.validate["And"]
        for name in ("__call__", "__init__"):
            if not upstream.defines(conjunction, name, conjunction):
                raise Opaque(f"validate.And.{name} is replaced")
        validators = analysis.field_value(field, "validators")
        if type(validators) is not list:
            raise Opaque("validators is no list")
    except Opaque as opaque:
        return {"own_validate": True, "why": opaque.reason}
    watched = analysis.watch_list(validators)
    return {"checks": tuple(_check(analysis, each) for each in watched) or None}


# ---- Checks --------------------------------------------------------------------------


def _check(analysis: Analysis, validator: Any) -> load.Check:
    """The check for one validator: narrow for upstream's own, else "call it"."""
    try:
        cls = type(validator)
        upstream = analysis.upstream
        for name, maker in _CHECKS.items():
            owner = upstream.validate[name]
            if not isinstance(validator, owner):
                continue
            analysis.watch_type(cls)
            if upstream.defines(cls, "__call__", owner):
                if not upstream.is_known(f"validate.{name}.__call__"):
                    break
                analysis.check_readable(validator)
                analysis.watch_field(validator)
                return maker(analysis, validator)
    except Opaque:
        pass
    return load.Check(validator)


def _length_check(analysis: Analysis, validator: Any) -> load.Check:
    least, most, equal = (analysis.field_value(validator, name) for name in ("min", "max", "equal"))
    if equal is not None:
        least = most = equal
    if least is None:
        least = 0
    if most is None:
        most = LONGEST
    if (
        type(least) is not int
        or type(most) is not int
        or not (-LONGEST <= least <= LONGEST and -LONGEST <= most <= LONGEST)
    ):
        raise Opaque("a bound is no small number")
    return load.LengthCheck(validator).configure(least=least, most=most)


LONGEST = 2**31 - 1


def _range_check(analysis: Analysis, validator: Any) -> load.Check:
    low, high, low_inclusive, high_inclusive = (
        analysis.field_value(validator, name)
        for name in ("min", "max", "min_inclusive", "max_inclusive")
    )
    for bound in (low, high):
        if bound is not None and type(bound) not in (int, float):
            raise Opaque("a bound is no number")
    return load.RangeCheck(validator).configure(
        low=low,
        high=high,
        low_inclusive=bool(low_inclusive),
        high_inclusive=bool(high_inclusive),
    )


def _one_of_check(analysis: Analysis, validator: Any) -> load.Check:
    choices = analysis.field_value(validator, "choices")
    return load.ChoiceCheck(validator).configure(choices=choices, wanted=True)


def _none_of_check(analysis: Analysis, validator: Any) -> load.Check:
    choices = analysis.field_value(validator, "iterable")
    return load.ChoiceCheck(validator).configure(choices=choices, wanted=False)


def _equal_check(analysis: Analysis, validator: Any) -> load.Check:
    comparable = analysis.field_value(validator, "comparable")
    return load.EqualCheck(validator).configure(comparable=comparable)


def _regexp_check(analysis: Analysis, validator: Any) -> load.Check:
    regex = analysis.field_value(validator, "regex")
    if type(regex) is not re.Pattern:
        raise Opaque("regex is no compiled pattern")
    return load.RegexpCheck(validator).configure(match=regex.match)


def _check_wording(analysis: Analysis, validator: Any, owner: type) -> None:
    """Make sure that wording the message cannot fail: upstream words it for valid values too.

    :raises Opaque: where it might.
    """
    analysis.field_method(validator, "_format_error", owner)
    message = analysis.field_value(validator, "error")
    if type(message) is not str or not PLAIN_MESSAGE.fullmatch(message):
        raise Opaque("its message is no plain text")


PLAIN_MESSAGE = re.compile(r"(?:[^{}]|\{input\})*")


def _email_check(analysis: Analysis, validator: Any) -> load.Check:
    owner = analysis.upstream.validate["Email"]
    _check_wording(analysis, validator, owner)
    for name in ("USER_REGEX", "DOMAIN_REGEX"):
        pattern = analysis.upstream.raw(owner, name)
        found = static(type(validator), name)
        if found is not pattern and (found is not pattern.compiled or found is None):
            raise Opaque(f"{name} is not upstream's")
        if name in analysis.state_of(validator):
            raise Opaque(f"{name} is set on the validator")
    return load.EmailCheck(validator)


def _url_check(analysis: Analysis, validator: Any) -> load.Check:
    owner = analysis.upstream.validate["URL"]
    _check_wording(analysis, validator, owner)
    if static(type(validator), "_regex") is not analysis.upstream.raw(owner, "_regex"):
        raise Opaque("_regex is not upstream's")
    if (
        "_regex" in analysis.state_of(validator)
        or analysis.field_value(validator, "absolute") is not True
    ):
        raise Opaque("it wants relative addresses")
    schemes = analysis.field_value(validator, "schemes")
    if type(schemes) is not set or not {"http", "https"} <= schemes:
        raise Opaque("its schemes are not the web's")
    return load.UrlCheck(validator).configure(schemes=schemes)


_CHECKS: dict[str, Callable[[Analysis, Any], load.Check]] = {
    "Length": _length_check,
    "Range": _range_check,
    "OneOf": _one_of_check,
    "NoneOf": _none_of_check,
    "Equal": _equal_check,
    "Regexp": _regexp_check,
    "Email": _email_check,
    "URL": _url_check,
}


# ---- Conversions ---------------------------------------------------------------------


def _conversion(analysis: Analysis, field: Any, options: Options) -> load.LoadStep:
    """The step that converts as the field's own ``_deserialize`` would."""
    raw = static(type(field), "_deserialize")
    try:
        if "_deserialize" in analysis.state_of(field):
            raise Opaque("_deserialize is set on the field instance")
        known = _kinds(analysis.upstream).get(id(raw))
        if known is None:
            owner = analysis.upstream.owner(type(field), "_deserialize")
            raise Opaque(f"_deserialize is overridden by {owner}")
        qualified_name, maker = known
        if not analysis.upstream.is_known(qualified_name):
            raise Opaque(f"this release's {qualified_name} is another one")
        return maker(analysis, field, options)
    except Opaque as opaque:
        why = "; ".join(filter(None, (options.get("why"), opaque.reason)))
        analysis.leave(field)
        return load.OwnStep(field, **(options | {"why": why}))


def _raw(analysis: Analysis, field: Any, options: Options) -> load.LoadStep:
    return load.LoadStep(field, **options)


def _own(analysis: Analysis, field: Any, options: Options) -> load.LoadStep:
    return load.OwnStep(field, **options)


def _string(analysis: Analysis, field: Any, options: Options) -> load.LoadStep:
    analysis.field_function("fields", "utils")
    analysis.field_function("utils", "ensure_text_type")
    return load.TextStep(field, **options)


def _number(analysis: Analysis, field: Any, options: Options) -> load.LoadStep:
    number = analysis.upstream.fields["Number"]
    analysis.field_method(field, "_format_num", number)
    validated = definers(type(field), "_validated")
    integer, floating = analysis.upstream.fields["Integer"], analysis.upstream.fields["Float"]
    for owner in validated:
        analysis.class_method(owner, "_validated")
    num_type = analysis.field_value(field, "num_type")
    if num_type is int and validated in ([integer, number], [number]):
        strict = validated[0] is integer and _flag(analysis, field, "strict")
        return load.LoadIntegerStep(field, **options).configure(strict=strict)
    if num_type is float and validated == [floating, number]:
        analysis.field_function("fields", "math")
        if analysis.watch_entry(vars(math), "isnan") is not IS_NAN:
            raise Opaque("math.isnan is replaced")
        allow_nan = analysis.field_value(field, "allow_nan") is not False
        return load.LoadFloatStep(field, **options).configure(allow_nan=allow_nan)
    raise Opaque(f"num_type is {getattr(num_type, '__qualname__', num_type)!s}")


IS_NAN = math.isnan


def _number_or_decimal(analysis: Analysis, field: Any, options: Options) -> load.LoadStep:
    decimal_class = analysis.upstream.fields["Decimal"]
    if "_validated" in analysis.state_of(field):
        raise Opaque("_validated is set on the field instance")
    if not isinstance(field, decimal_class):
        return _number(analysis, field, options)
    analysis.field_method(field, "_format_num", decimal_class)
    if definers(type(field), "_validated") != [decimal_class, analysis.upstream.fields["Number"]]:
        raise Opaque("_validated is not upstream's alone")
    for owner in definers(type(field), "_validated"):
        analysis.class_method(owner, "_validated")
    if analysis.watch_entry(analysis.upstream.fields, "decimal") is not decimal:
        raise Opaque("marshmallow.fields.decimal is replaced")
    if analysis.watch_entry(vars(decimal), "Decimal") is not DECIMAL:
        raise Opaque("decimal.Decimal is replaced")
    return load.LoadDecimalStep(field, **options).configure(
        places=analysis.field_value(field, "places"),
        rounding=analysis.field_value(field, "rounding"),
    )


DECIMAL = decimal.Decimal


def _boolean(analysis: Analysis, field: Any, options: Options) -> load.LoadStep:
    truthy = analysis.field_value(field, "truthy")
    falsy = analysis.field_value(field, "falsy")
    if type(truthy) is not set or type(falsy) is not set:
        raise Opaque("truthy or falsy is no set")
    return load.BooleanStep(field, **options).configure(truthy=truthy, falsy=falsy)


def _parse_function(analysis: Analysis, field: Any) -> Any:
    """The standard library's own function that parses the field's format."""
    functions = analysis.field_value(field, "DESERIALIZATION_FUNCS")
    if type(functions) is not dict:
        raise Opaque("DESERIALIZATION_FUNCS is no plain dictionary")
    chosen = analysis.field_value(field, "format")
    if type(chosen) is not str and chosen is not None:
        raise Opaque(f"format is a {type(chosen).__qualname__}")
    chosen = chosen or analysis.field_value(field, "DEFAULT_FORMAT")
    if type(chosen) is not str:
        raise Opaque("DEFAULT_FORMAT is no text")
    function = analysis.watch_entry(functions, chosen)
    if not any(function == known for known in PARSERS):
        raise Opaque(f"the function for format {chosen!r} may do anything")
    name = analysis.field_value(field, "OBJ_TYPE")
    if type(name) is not str or analysis.watch_entry(vars(dt), name) not in TEMPORAL:
        raise Opaque("OBJ_TYPE is none of datetime's own classes")
    return function


TEMPORAL = (dt.datetime, dt.date, dt.time)
PARSERS = (
    dt.datetime.fromisoformat,
    dt.date.fromisoformat,
    dt.time.fromisoformat,
    email.utils.parsedate_to_datetime,
)


def _temporal(analysis: Analysis, field: Any, options: Options) -> load.LoadStep:
    parse = _parse_function(analysis, field)
    return load.ParseStep(field, **options).configure(parse=parse)


def _awareness(aware: bool) -> Maker:
    def maker(analysis: Analysis, field: Any, options: Options) -> load.LoadStep:
        fields = analysis.upstream.fields
        owners = definers(type(field), "_deserialize")
        expected = [
            fields["AwareDateTime" if aware else "NaiveDateTime"],
            fields["_TemporalField"],
        ]
        if owners[:2] != expected:
            raise Opaque("_deserialize goes on to a class that is not upstream's")
        analysis.class_method(fields["_TemporalField"], "_deserialize")
        analysis.field_function("fields", "utils")
        analysis.field_function("utils", "is_aware")
        parse = _parse_function(analysis, field)
        return load.AwarenessStep(field, **options).configure(parse=parse, aware=aware)

    return maker


def _timedelta(analysis: Analysis, field: Any, options: Options) -> load.LoadStep:
    precision = analysis.field_value(field, "precision")
    if type(precision) is not str:
        raise Opaque("precision is no text")
    if analysis.watch_entry(vars(dt), "timedelta") is not TIMEDELTA:
        raise Opaque("datetime.timedelta is replaced")
    return load.LoadTimeDeltaStep(field, **options).configure(precision=precision)


TIMEDELTA = dt.timedelta


def _uuid(analysis: Analysis, field: Any, options: Options) -> load.LoadStep:
    analysis.field_method(field, "_validated", analysis.upstream.fields["UUID"])
    analysis.field_function("fields", "uuid")
    if analysis.watch_entry(vars(uuid), "UUID") is not UUID:
        raise Opaque("uuid.UUID is replaced")
    analysis.watch_type(UUID)
    for name, original in UUID_METHODS.items():
        if static(UUID, name) is not original:
            raise Opaque(f"uuid.UUID.{name} is replaced")
    return load.LoadUUIDStep(field, **options)


UUID = uuid.UUID
UUID_METHODS = {name: static(UUID, name) for name in ("__init__", "__new__", "int", "is_safe")}


def _enum(analysis: Analysis, field: Any, options: Options) -> load.LoadStep:
    by_value = analysis.field_value(field, "by_value")
    if by_value is not True and by_value is not False:
        raise Opaque("it loads by a field of the user's")
    cls = analysis.field_value(field, "enum")
    if type(cls) is not enum.EnumMeta:
        raise Opaque("its enum looks members up in its own way")
    analysis.watch_type(cls)
    if static(cls, "__new__") is not enum.Enum.__new__:
        raise Opaque("its enum looks members up in its own way")
    members = cls._value2member_map_ if by_value else cls._member_map_
    converter = analysis.field_value(field, "field")
    if not isinstance(converter, analysis.upstream.Field):
        raise Opaque("its inner field is none")
    analysis.watch_field(converter)
    analysis.check_readable(converter)
    step = _conversion(analysis, converter, {})
    if type(step) is not (load.LoadStep if by_value else load.TextStep):
        raise Opaque("its inner field is none of upstream's")
    return load.LoadEnumStep(field, **options).configure(
        members=members, by_value=by_value, converter=step
    )


def _list(analysis: Analysis, field: Any, options: Options) -> load.LoadStep:
    analysis.field_function("fields", "utils")
    analysis.field_function("utils", "is_collection", "is_iterable_but_not_string")
    item = _inner(analysis, analysis.field_value(field, "inner"))
    return load.LoadListStep(field, **options).configure(item=item)


def _tuple(analysis: Analysis, field: Any, options: Options) -> load.LoadStep:
    inner = analysis.field_value(field, "tuple_fields")
    if type(inner) is not list:
        raise Opaque("tuple_fields is no list")
    watched = analysis.watch_list(inner)
    analysis.field_function("fields", "utils")
    analysis.field_function("utils", "is_sequence_but_not_string")
    length = analysis.field_value(field, "validate_length")
    analysis.watch_field(length)
    if not isinstance(_check(analysis, length), load.LengthCheck):
        raise Opaque("validate_length is not upstream's")
    if analysis.field_value(length, "equal") != len(watched):
        raise Opaque("validate_length asks for another length")
    items = tuple(_inner(analysis, each) for each in watched)
    return load.LoadTupleStep(field, **options).configure(items=items)


def _mapping(analysis: Analysis, field: Any, options: Options) -> load.LoadStep:
    if analysis.field_value(field, "mapping_type") is not dict:
        raise Opaque("mapping_type is not dict")
    steps: list[load.LoadStep | None] = []
    for name in ("key_field", "value_field"):
        inner = analysis.field_value(field, name)
        if inner is None:
            steps.append(None)
            continue
        for truth in ("__bool__", "__len__"):
            if static(type(inner), truth) is not ABSENT:
                raise Opaque(f"an inner field defines {truth}")
        steps.append(_inner(analysis, inner))
    return load.LoadDictStep(field, **options).configure(keys=steps[0], values=steps[1])


def _method(analysis: Analysis, field: Any, options: Options) -> load.LoadStep:
    method = analysis.field_value(field, "_deserialize_method")
    return _call(analysis, field, options, method)


def _function(analysis: Analysis, field: Any, options: Options) -> load.LoadStep:
    function = analysis.field_value(field, "deserialize_func")
    if function is not None and static(type(function), "__bool__") is not ABSENT:
        raise Opaque("its function may be false")
    return _call(analysis, field, options, function)


def _call(analysis: Analysis, field: Any, options: Options, function: Any) -> load.LoadStep:
    if function is None:
        return load.LoadStep(field, **options)
    if not callable(function):
        raise Opaque("its function cannot be called")
    return load.CallStep(field, **options).configure(schema=analysis.schema, function=function)


def _constant(analysis: Analysis, field: Any, options: Options) -> load.LoadStep:
    constant = analysis.field_value(field, "constant")
    return load.LoadConstantStep(field, **options).configure(constant=constant)


def _nested(analysis: Analysis, field: Any, options: Options) -> load.LoadStep:
    _check_nested(analysis, field)
    return load.LoadNestedStep(field, **options).configure(site=analysis.new_site())


def _pluck(analysis: Analysis, field: Any, options: Options) -> load.LoadStep:
    _check_nested(analysis, field)
    pluck = analysis.upstream.fields["Pluck"]
    analysis.field_method(field, "_field_data_key", pluck)
    return load.LoadNestedStep(field, **options).configure(site=analysis.new_site(), pluck=True)


def _check_nested(analysis: Analysis, field: Any) -> None:
    nested = analysis.upstream.fields["Nested"]
    for name in ("schema", "_load", "_test_collection"):
        analysis.field_method(field, name, nested)
    analysis.check_writable(field)
    analysis.field_function("fields", "utils")
    analysis.field_function("utils", "is_collection", "is_iterable_but_not_string")
    # The step asks ``field.schema`` in each call; the first time that fills in ``_schema``.
    analysis.leave_out(field, "_schema")


Kinds = dict[int, tuple[str, Maker]]

_MAKERS: dict[str, Maker] = {
    "Field": _raw,
    "String": _string,
    "Number": _number_or_decimal,
    "Boolean": _boolean,
    "_TemporalField": _temporal,
    "NaiveDateTime": _awareness(aware=False),
    "AwareDateTime": _awareness(aware=True),
    "TimeDelta": _timedelta,
    "UUID": _uuid,
    "IP": _own,
    "IPInterface": _own,
    "Enum": _enum,
    "List": _list,
    "Tuple": _tuple,
    "Mapping": _mapping,
    "Method": _method,
    "Function": _function,
    "Constant": _constant,
    "Nested": _nested,
    "Pluck": _pluck,
}


def _kinds(upstream: Upstream) -> Kinds:
    """The maker for each ``_deserialize`` that upstream defines, by the function's identity."""
    if not upstream.load_kinds:
        upstream.load_kinds = {
            id(upstream.raw(upstream.fields[name], "_deserialize")): (
                f"fields.{name}._deserialize",
                maker,
            )
            for name, maker in _MAKERS.items()
        }
    return upstream.load_kinds
