"""From a schema and its fields to the steps of a dump plan.

For each field the narrowest step is chosen that its class and instance allow, going from
upstream's own kind of conversion over "the field's own ``_serialize``" to "the field's own
``serialize``". A user's own field costs only itself.
"""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import uuid
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import althaia.plans.dump as dump
from althaia.plans.analysis import Analysis, Opaque
from althaia.plans.guards import ABSENT as UNSET
from althaia.plans.upstream import ABSENT, Upstream, definers, static

Source = dict[str, Any]
Maker = Callable[[Analysis, Any, Source], dump.Step]

ENUM_ATTRIBUTES = {"name": enum.Enum.__dict__["name"], "value": enum.Enum.__dict__["value"]}


def analyse(upstream: Upstream, schema: Any, statistics: Any) -> dump.DumpPlan:
    """The dump plan of a schema; where nothing can be planned, one that says why.

    :param schema: a marshmallow schema instance.
    :param statistics: the counters of its class, which the plan carries along.
    """
    # Not by asking the schema: its class may answer for its attributes, and would notice.
    members = object.__getattribute__(schema, "__dict__").get("dump_fields")
    analysis = Analysis(upstream, schema, members)
    common = {
        "schema_class": type(schema),
        "statistics": statistics,
        "dict_class": dict,
        "hooks": {},
    }
    try:
        if analysis.schema_value("dump_fields") is not members:
            raise Opaque("dump_fields is not a plain attribute")
        if type(members) is not dict and type(members) is not OrderedDict:
            raise Opaque(f"dump_fields is a {type(members).__qualname__}")
        if static(type(schema), "__getattribute__") is not object.__getattribute__:
            raise Opaque("the schema class overrides __getattribute__")
        if not upstream.is_known("schema.Schema._serialize", "schema.Schema.dump"):
            raise Opaque("this release of marshmallow serializes in another way")
        analysis.field_function("schema", "missing")
        dict_class = analysis.schema_value("dict_class")
        if not isinstance(dict_class, type):
            raise Opaque("dict_class is no class")
        hooks = analysis.schema_value("_hooks")
        if not isinstance(hooks, dict):
            raise Opaque("_hooks is no dictionary")
        steps = tuple(_step(analysis, name, field) for name, field in analysis.items())
    except Opaque as opaque:
        return dump.DumpPlan((), _bare_guard(analysis), declined=opaque.reason, **common)
    common.update(dict_class=dict_class, hooks=hooks)
    processors = analysis.schema_method_is_upstreams(
        "_invoke_dump_processors"
    ) & analysis.schema_method_is_upstreams("_invoke_processors")
    own_serialize = analysis.schema_method_is_upstreams("_serialize")
    own_dump = analysis.schema_method_is_upstreams("dump")
    whole = processors and own_serialize
    return dump.DumpPlan(
        steps,
        analysis.guard(),
        whole=whole,
        nestable=whole and own_dump,
        many_allowed=own_serialize,
        sites=analysis.sites,
        leaves_nested=analysis.leaves_nested,
        **common,
    )


def _bare_guard(analysis: Analysis) -> Any:
    """A guard for a declined plan: what it was declined for may have changed."""
    analysis.leave_out_members()
    return analysis.guard()


def _step(analysis: Analysis, name: Any, field: Any) -> dump.Step:
    upstream = analysis.upstream
    if type(name) is not str:
        raise Opaque(f"a field's name is a {type(name).__qualname__}")
    if not isinstance(field, upstream.Field):
        raise Opaque(f"{name!r} is no field but a {type(field).__qualname__}")
    analysis.watch_field(field)
    key = _key(analysis, name, field)
    source: Source = {"attr": name, "key": key}
    try:
        analysis.check_readable(field)
        analysis.field_method(field, "serialize", upstream.Field)
        if not upstream.is_known("fields.Field.serialize", "fields.Field.get_value"):
            raise Opaque("this release of marshmallow reads values in another way")
        source.update(_source(analysis, name, field))
    except Opaque as opaque:
        analysis.leave(field)
        return dump.OpaqueStep(field, name, key, dump.Source.SERIALIZE, why=opaque.reason)
    return _conversion(analysis, field, source)


def _key(analysis: Analysis, name: str, field: Any) -> str | None:
    """The key in the output, None where only asking the field each time will tell."""
    try:
        analysis.check_readable(field)
        key = analysis.field_value(field, "data_key")
    except Opaque:
        return None
    if key is None:
        return name
    return key if type(key) is str else None


def _source(analysis: Analysis, name: str, field: Any) -> Source:
    """Where a field's value comes from, as keyword arguments of a step."""
    analysis.field_function("fields", "missing_")
    check = analysis.field_value(field, "_CHECK_ATTRIBUTE")
    if check is False:
        return {"source": dump.Source.NOTHING}
    if check is not True:
        raise Opaque("_CHECK_ATTRIBUTE is neither True nor False")
    source: Source = {"default": analysis.field_value(field, "dump_default")}
    try:
        analysis.field_method(field, "get_value", analysis.upstream.Field)
    except Opaque as opaque:
        return source | {"source": dump.Source.GET_VALUE, "why": opaque.reason}
    attribute = analysis.field_value(field, "attribute")
    target = name if attribute is None else attribute
    if type(target) is not str:
        raise Opaque(f"attribute is a {type(target).__qualname__}")
    source["name"] = target
    if not analysis.schema_method_is_upstreams("get_attribute"):
        why = analysis.why_schema_method("get_attribute")
        return source | {"source": dump.Source.ACCESSOR, "why": why}
    try:
        analysis.field_function("schema", "get_value")
        analysis.field_function("utils", "_get_value_for_key")
    except Opaque as opaque:
        return source | {"source": dump.Source.ACCESSOR, "why": opaque.reason}
    if "." in target:
        return source | {"source": dump.Source.PATH, "path": tuple(target.split("."))}
    return source | {"source": dump.Source.KEY}


def _conversion(analysis: Analysis, field: Any, source: Source) -> dump.Step:
    """The step that converts as the field's own ``_serialize`` would."""
    raw = static(type(field), "_serialize")
    try:
        analysis.check_readable(field)
        if "_serialize" in analysis.state_of(field):
            raise Opaque("_serialize is set on the field instance")
        known = _kinds(analysis.upstream).get(id(raw))
        if known is None:
            owner = analysis.upstream.owner(type(field), "_serialize")
            raise Opaque(f"_serialize is overridden by {owner}")
        qualified_name, maker = known
        if not analysis.upstream.is_known(qualified_name):
            raise Opaque(f"this release's {qualified_name} is another one")
        return maker(analysis, field, source)
    except Opaque as opaque:
        why = "; ".join(filter(None, (source.get("why"), opaque.reason)))
        analysis.leave(field)
        return dump.FieldStep(field, **(source | {"why": why}))


def _inner(analysis: Analysis, field: Any, attr: Any) -> dump.Step:
    """The step of a field inside another: only its conversion counts."""
    if not isinstance(field, analysis.upstream.Field):
        raise Opaque(f"an inner field is a {type(field).__qualname__}")
    analysis.watch_field(field)
    return _conversion(analysis, field, {"attr": attr})


# ---- One maker a kind --------------------------------------------------------------


def _raw(analysis: Analysis, field: Any, source: Source) -> dump.Step:
    return dump.Step(field, **source)


def _string(analysis: Analysis, field: Any, source: Source) -> dump.Step:
    analysis.field_function("fields", "utils")
    analysis.field_function("utils", "ensure_text_type")
    return dump.StringStep(field, **source)


def _flag(analysis: Analysis, field: Any, name: str) -> bool:
    value = analysis.field_value(field, name)
    if type(value) is not bool:
        raise Opaque(f"{name} is neither True nor False")
    return value


def _number(analysis: Analysis, field: Any, source: Source) -> dump.Step:
    fields = analysis.upstream.fields
    number, decimal_class = fields["Number"], fields["Decimal"]
    as_string = _flag(analysis, field, "as_string")
    if isinstance(field, decimal_class):
        return _decimal(analysis, field, source, as_string)
    analysis.field_method(field, "_format_num", number)
    analysis.field_method(field, "_to_string", number)
    num_type = analysis.field_value(field, "num_type")
    if num_type is int:
        return dump.IntegerStep(field, **source).configure(as_string=as_string)
    if num_type is float:
        return dump.FloatStep(field, **source).configure(as_string=as_string)
    raise Opaque(f"num_type is {getattr(num_type, '__qualname__', num_type)!s}")


def _decimal(analysis: Analysis, field: Any, source: Source, as_string: bool) -> dump.Step:
    decimal_class = analysis.upstream.fields["Decimal"]
    analysis.field_method(field, "_format_num", decimal_class)
    analysis.field_method(field, "_to_string", decimal_class)
    if analysis.watch_entry(analysis.upstream.fields, "decimal") is not decimal:
        raise Opaque("marshmallow.fields.decimal is replaced")
    if analysis.watch_entry(vars(decimal), "Decimal") is not DECIMAL:
        raise Opaque("decimal.Decimal is replaced")
    return dump.DecimalStep(field, **source).configure(
        as_string=as_string,
        allow_nan=bool(_flag(analysis, field, "allow_nan")),
        places=analysis.field_value(field, "places"),
        rounding=analysis.field_value(field, "rounding"),
    )


DECIMAL = decimal.Decimal

ISO_STEPS = {
    dt.datetime.isoformat: dump.IsoDateTimeStep,
    dt.date.isoformat: dump.IsoDateStep,
    dt.time.isoformat: dump.IsoTimeStep,
}


def _temporal(analysis: Analysis, field: Any, source: Source) -> dump.Step:
    functions = analysis.field_value(field, "SERIALIZATION_FUNCS")
    if type(functions) is not dict:
        raise Opaque("SERIALIZATION_FUNCS is no plain dictionary")
    chosen = analysis.field_value(field, "format")
    if type(chosen) is not str and chosen is not None:
        raise Opaque(f"format is a {type(chosen).__qualname__}")
    chosen = chosen or analysis.field_value(field, "DEFAULT_FORMAT")
    if type(chosen) is not str:
        raise Opaque("DEFAULT_FORMAT is no text")
    function = analysis.watch_entry(functions, chosen)
    if function is UNSET:
        return dump.StrftimeStep(field, **source).configure(format=chosen)
    for iso, step in ISO_STEPS.items():
        if function is iso:
            return step(field, **source)
    if type(function) not in PLAIN_CALLABLES:
        raise Opaque(f"the function for format {chosen!r} is a {type(function).__qualname__}")
    return dump.FormatStep(field, **source).configure(function=function)


# Always true: upstream tests a formatting function before it calls it.
PLAIN_CALLABLES = (
    type(_temporal),
    type(len),
    type(str.lower),
    type(dump.connect),
    type("".lower),
    type,
)


def _timedelta(analysis: Analysis, field: Any, source: Source) -> dump.Step:
    units = analysis.field_value(field, "_unit_to_microseconds_mapping")
    precision = analysis.field_value(field, "precision")
    if type(units) is not dict or type(precision) is not str:
        raise Opaque("its units are not upstream's")
    analysis.field_function("fields", "utils")
    analysis.field_function("utils", "timedelta_to_microseconds")
    unit = analysis.watch_entry(units, precision)
    if type(unit) is not int or not 0 < unit < 2**53:
        raise Opaque(f"the unit {precision!r} is no number of microseconds")
    return dump.TimeDeltaStep(field, **source).configure(unit=unit)


def _uuid(analysis: Analysis, field: Any, source: Source) -> dump.Step:
    analysis.watch_type(uuid.UUID)
    if static(uuid.UUID, "__str__") is not UUID_TEXT:
        raise Opaque("uuid.UUID.__str__ is replaced")
    return dump.UUIDStep(field, **source)


UUID_TEXT = static(uuid.UUID, "__str__")


def _ip(analysis: Analysis, field: Any, source: Source) -> dump.Step:
    attribute = "exploded" if _flag(analysis, field, "exploded") else "compressed"
    return dump.AttributeStep(field, **source).configure(attribute=attribute)


def _enum(analysis: Analysis, field: Any, source: Source) -> dump.Step:
    by_value = analysis.field_value(field, "by_value")
    if type(by_value) is not bool and not isinstance(by_value, (analysis.upstream.Field, type)):
        raise Opaque("by_value is neither True nor False nor a field")
    if isinstance(by_value, analysis.upstream.Field):
        _check_truth(by_value)
    converter = _inner(analysis, analysis.field_value(field, "field"), source["attr"])
    name = "value" if by_value else "name"
    return dump.EnumStep(field, **source).configure(
        enum=_stock_enum(analysis, analysis.field_value(field, "enum"), name),
        by_value=bool(by_value),
        converter=converter,
    )


def _stock_enum(analysis: Analysis, cls: Any, name: str) -> Any:
    """The enum class, watched, if its members' ``name`` or ``value`` is the stock one."""
    if not isinstance(cls, type):
        return None
    analysis.watch_type(cls)
    if static(cls, name) is not ENUM_ATTRIBUTES[name]:
        return None
    if static(cls, "__getattribute__") is not object.__getattribute__:
        return None
    return cls


def _check_truth(field: Any) -> None:
    """Make sure that a field is true, as upstream's tests expect, without asking it."""
    for name in ("__bool__", "__len__"):
        if static(type(field), name) is not ABSENT:
            raise Opaque(f"an inner field defines {name}")


def _list(analysis: Analysis, field: Any, source: Source) -> dump.Step:
    item = _inner(analysis, analysis.field_value(field, "inner"), source["attr"])
    return dump.ListStep(field, **source).configure(item=item)


def _tuple(analysis: Analysis, field: Any, source: Source) -> dump.Step:
    inner = analysis.field_value(field, "tuple_fields")
    if type(inner) is not list:
        raise Opaque("tuple_fields is no list")
    watched = analysis.watch_list(inner)
    items = tuple(_inner(analysis, each, source["attr"]) for each in watched)
    nested = analysis.holds_nested(field)
    return dump.TupleStep(field, **source).configure(items=items, nested=nested)


def _mapping(analysis: Analysis, field: Any, source: Source) -> dump.Step:
    if analysis.field_value(field, "mapping_type") is not dict:
        raise Opaque("mapping_type is not dict")
    steps: list[dump.Step | None] = []
    for name in ("key_field", "value_field"):
        inner = analysis.field_value(field, name)
        if inner is None:
            steps.append(None)
            continue
        _check_truth(inner)
        steps.append(_inner(analysis, inner, None))
    keys, values = steps
    nested = analysis.holds_nested(field)
    return dump.DictStep(field, **source).configure(keys=keys, values=values, nested=nested)


def _method(analysis: Analysis, field: Any, source: Source) -> dump.Step:
    analysis.field_function("fields", "missing_")
    method = analysis.field_value(field, "_serialize_method")
    return dump.MethodStep(field, **source).configure(schema=analysis.schema, method=method)


def _function(analysis: Analysis, field: Any, source: Source) -> dump.Step:
    function = analysis.field_value(field, "serialize_func")
    return dump.FunctionStep(field, **source).configure(function=function)


def _constant(analysis: Analysis, field: Any, source: Source) -> dump.Step:
    constant = analysis.field_value(field, "constant")
    return dump.ConstantStep(field, **source).configure(constant=constant)


def _nested(analysis: Analysis, field: Any, source: Source) -> dump.Step:
    _check_nested(analysis, field)
    return dump.NestedStep(field, **source).configure(site=analysis.new_site())


def _pluck(analysis: Analysis, field: Any, source: Source) -> dump.Step:
    fields = analysis.upstream.fields
    _check_nested(analysis, field)
    owners = definers(type(field), "_serialize")
    if owners[:2] != [fields["Pluck"], fields["Nested"]]:
        raise Opaque(f"_serialize of Pluck goes on to {owners[1].__qualname__}")
    analysis.class_method(fields["Nested"], "_serialize")
    analysis.field_method(field, "_field_data_key", fields["Pluck"])
    analysis.field_function("fields", "utils")
    analysis.field_function("utils", "pluck")
    return dump.NestedStep(field, **source).configure(site=analysis.new_site(), pluck=True)


def _check_nested(analysis: Analysis, field: Any) -> None:
    nested = analysis.upstream.fields["Nested"]
    if not analysis.upstream.defines(type(field), "schema", nested):
        raise Opaque(f"schema is overridden by {analysis.upstream.owner(type(field), 'schema')}")
    analysis.check_writable(field)
    # The step asks ``field.schema`` in each call; the first time that fills in ``_schema``.
    analysis.leave_out(field, "_schema")


Kinds = dict[int, tuple[str, Maker]]

_MAKERS: dict[str, Maker] = {
    "Field": _raw,
    "String": _string,
    "Number": _number,
    "_TemporalField": _temporal,
    "TimeDelta": _timedelta,
    "UUID": _uuid,
    "IP": _ip,
    "IPInterface": _ip,
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
    """The maker for each ``_serialize`` that upstream defines, by the function's identity."""
    if not upstream.dump_kinds:
        upstream.dump_kinds = {
            id(upstream.raw(upstream.fields[name], "_serialize")): (
                f"fields.{name}._serialize",
                maker,
            )
            for name, maker in _MAKERS.items()
        }
    return upstream.dump_kinds
