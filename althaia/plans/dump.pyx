# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Run a dump plan: the straight loop over steps.

A *step* is one field of one schema, with everything upstream works out again for each
object already decided: where the value comes from (its source) and what is made of it
(its conversion, one class a kind). A conversion knows the exact types that it can do
itself; any other value it hands to the field's own ``_serialize``.

Plans and steps are immutable once they are built. A :class:`Frame` is one schema in one
call; it remembers which nested schemas this call has already looked up and checked.
"""

import decimal as _decimal
import uuid as _uuid
from types import MethodType

cimport cython
from cpython.datetime cimport (
    PyDate_CheckExact,
    PyDateTime_CheckExact,
    PyDelta_CheckExact,
    PyTime_CheckExact,
    import_datetime,
)
from cpython.dict cimport PyDict_DelItem
from cpython.ref cimport Py_DECREF
from cpython.tuple cimport PyTuple_GET_ITEM
from libc.stdint cimport int64_t

from althaia.plans.guards cimport Guard
from althaia.plans.hooks cimport hooks_of, invoke
from althaia.plans.nested cimport nested_field, nested_schema, own_field, plucked_key
from althaia.plans.plan cimport Plan, valid_plan
from althaia.plans.primitives cimport (
    althaia_enter,
    althaia_get_value,
    althaia_has_simple_keys,
    althaia_is_simply_true,
    althaia_iso_date,
    althaia_iso_datetime,
    althaia_iso_time,
    althaia_leave,
    althaia_tick,
    althaia_timedelta,
    althaia_uuid_text,
)
from althaia.plans.readers cimport NOT_THERE_, Reading, Readings, is_plain, read_once
from althaia.plans.state cimport DUMP
from althaia.plans.templates cimport Template, althaia_put

import_datetime()

cdef object MISSING = None
cdef object find_plan = None
cdef object Decimal = _decimal.Decimal
cdef object UUID = _uuid.UUID


def connect(missing, finder):
    """Give the runner marshmallow's ``missing`` and the engine's way to a plan.

    :param missing: the sentinel ``marshmallow.missing``.
    :param finder: ``finder(schema, large) -> DumpPlan | None``, called where a nested schema has
        no valid plan yet.
    """
    global MISSING, find_plan
    MISSING = missing
    find_plan = finder


cpdef enum Source:
    # The field asks no attribute (``_CHECK_ATTRIBUTE`` is False).
    NOTHING = 0
    # ``marshmallow.utils.get_value`` of one key.
    KEY = 1
    # ``get_value`` of a dotted path.
    PATH = 2
    # The schema's own ``get_attribute``.
    ACCESSOR = 3
    # The field's own ``get_value``.
    GET_VALUE = 4
    # The field's own ``serialize``: nothing about the field is known.
    SERIALIZE = 5


cdef object taken(void* made):
    """The object behind a new reference, as Cython owns it."""
    cdef object value = <object>made
    Py_DECREF(value)
    return value


# ---- Frames -------------------------------------------------------------------------


@cython.final
@cython.freelist(16)
cdef class Frame:
    pass


cdef Frame open_frame(DumpPlan plan, object schema):
    """A frame for one call of one plan on one schema."""
    cdef Frame frame = Frame.__new__(Frame)
    frame.schema = schema
    frame.plan = plan
    if plan is not None and plan.sites:
        frame.children = [None] * plan.sites
    return frame


# ---- Steps --------------------------------------------------------------------------


@cython.no_gc_clear
cdef class Step:
    """One field of a plan, and how its value is converted: as it is.

    :param field: the bound field.
    :param attr: what upstream passes as ``attr``: the field's name, None inside a Dict.
    :param key: the key in the output, or None to ask ``field.data_key`` each time.
    :param source: where the value comes from.
    :param name: the key or attribute read, for the sources that have one.
    :param path: the parts of a dotted name.
    :param default: the field's ``dump_default``.
    :param why: the reason where this step is wider than upstream's own kind of field
        would need, else "".
    """

    kind = "as it is"
    # Whether the plan knows itself what to do with a value of the usual type.
    narrow = True

    def __init__(
        self, field, attr=None, key=None, int source=NOTHING, str name=None, tuple path=None,
        default=None, str why="",
    ):
        self.field = field
        self.attr = attr
        self.key = key
        self.source = source
        self.name = name
        self.path = path
        self.default = default
        self.why = why

    cdef object convert(self, object value, object obj, Frame frame):
        return value

    def inner(self):
        """The steps inside this one, by label."""
        return {}

    def __repr__(self):
        return f"<{self.kind}: {self.name or self.attr} -> {self.key!r}>"


@cython.final
@cython.no_gc_clear
cdef class FieldStep(Step):
    """The field's own ``_serialize`` converts."""

    kind = "field's own _serialize"
    narrow = False

    cdef object convert(self, object value, object obj, Frame frame):
        return self.field._serialize(value, self.attr, obj)


@cython.final
@cython.no_gc_clear
cdef class OpaqueStep(Step):
    """The field's own ``serialize`` does everything."""

    kind = "field's own serialize"
    narrow = False


@cython.final
@cython.no_gc_clear
cdef class StringStep(Step):
    kind = "text"

    cdef object convert(self, object value, object obj, Frame frame):
        if type(value) is str or value is None:
            return value
        if type(value) is int or type(value) is float or type(value) is bool:
            return str(value)
        return self.field._serialize(value, self.attr, obj)


@cython.final
@cython.no_gc_clear
cdef class IntegerStep(Step):
    kind = "int"
    cdef bint as_string

    def configure(self, *, bint as_string):
        self.as_string = as_string
        return self

    cdef object convert(self, object value, object obj, Frame frame):
        if value is None:
            return None
        if type(value) is not int:
            value = int(value)
        return str(value) if self.as_string else value


@cython.final
@cython.no_gc_clear
cdef class FloatStep(Step):
    kind = "float"
    cdef bint as_string

    def configure(self, *, bint as_string):
        self.as_string = as_string
        return self

    cdef object convert(self, object value, object obj, Frame frame):
        if value is None:
            return None
        if type(value) is not float:
            value = float(value)
        return str(value) if self.as_string else value


@cython.final
@cython.no_gc_clear
cdef class DecimalStep(Step):
    kind = "decimal"
    cdef bint as_string, allow_nan
    cdef object places, rounding

    def configure(self, *, bint as_string, bint allow_nan, places, rounding):
        self.as_string = as_string
        self.allow_nan = allow_nan
        self.places = places
        self.rounding = rounding
        return self

    cdef object convert(self, object value, object obj, Frame frame):
        if value is None:
            return None
        if type(value) is not Decimal or self.allow_nan:
            return self.field._serialize(value, self.attr, obj)
        # Decimal(str(d)) is d to the last digit, sign and payload.
        if self.places is not None and value.is_finite():
            value = value.quantize(self.places, rounding=self.rounding)
        return format(value, "f") if self.as_string else value


@cython.final
@cython.no_gc_clear
cdef class IsoDateTimeStep(Step):
    kind = "datetime, ISO"

    cdef object convert(self, object value, object obj, Frame frame):
        cdef void* text
        if value is None:
            return None
        if PyDateTime_CheckExact(value):
            text = althaia_iso_datetime(value)
            if text is not NULL:
                return taken(text)
        return self.field._serialize(value, self.attr, obj)


@cython.final
@cython.no_gc_clear
cdef class IsoDateStep(Step):
    kind = "date, ISO"

    cdef object convert(self, object value, object obj, Frame frame):
        if value is None:
            return None
        if PyDate_CheckExact(value) or PyDateTime_CheckExact(value):
            return taken(althaia_iso_date(value))
        return self.field._serialize(value, self.attr, obj)


@cython.final
@cython.no_gc_clear
cdef class IsoTimeStep(Step):
    kind = "time, ISO"

    cdef object convert(self, object value, object obj, Frame frame):
        cdef void* text
        if value is None:
            return None
        if PyTime_CheckExact(value):
            text = althaia_iso_time(value)
            if text is not NULL:
                return taken(text)
        return self.field._serialize(value, self.attr, obj)


@cython.final
@cython.no_gc_clear
cdef class FormatStep(Step):
    """A function of ``SERIALIZATION_FUNCS`` formats the value."""

    kind = "formatting function"
    cdef object function

    def configure(self, *, function):
        self.function = function
        return self

    cdef object convert(self, object value, object obj, Frame frame):
        return None if value is None else self.function(value)


@cython.final
@cython.no_gc_clear
cdef class StrftimeStep(Step):
    kind = "strftime"
    cdef object format

    def configure(self, *, format):
        self.format = format
        return self

    cdef object convert(self, object value, object obj, Frame frame):
        return None if value is None else value.strftime(self.format)


@cython.final
@cython.no_gc_clear
cdef class TimeDeltaStep(Step):
    kind = "timedelta"
    cdef int64_t unit

    def configure(self, *, int64_t unit):
        self.unit = unit
        return self

    cdef object convert(self, object value, object obj, Frame frame):
        cdef void* number
        if value is None:
            return None
        if PyDelta_CheckExact(value):
            number = althaia_timedelta(value, self.unit)
            if number is not NULL:
                return taken(number)
        return self.field._serialize(value, self.attr, obj)


@cython.final
@cython.no_gc_clear
cdef class UUIDStep(Step):
    kind = "UUID"

    cdef object convert(self, object value, object obj, Frame frame):
        cdef void* text
        if value is None or type(value) is str:
            return value
        if type(value) is UUID:
            number = value.int
            if type(number) is int:
                text = althaia_uuid_text(number)
                if text is not NULL:
                    return taken(text)
        return self.field._serialize(value, self.attr, obj)


@cython.final
@cython.no_gc_clear
cdef class AttributeStep(Step):
    """One attribute of the value: ``compressed`` or ``exploded`` of an IP address."""

    kind = "IP address"
    cdef str attribute

    def configure(self, *, str attribute):
        self.attribute = attribute
        return self

    cdef object convert(self, object value, object obj, Frame frame):
        return None if value is None else getattr(value, self.attribute)


@cython.final
@cython.no_gc_clear
cdef class EnumStep(Step):
    """A member's name or value, through the field that serializes it.

    ``enum`` is the class whose stock ``name`` and ``value`` may be read from where they
    are kept, or None.
    """

    kind = "enum"
    cdef object enum
    cdef bint by_value
    cdef Step converter

    def configure(self, *, enum, bint by_value, Step converter):
        self.enum = enum
        self.by_value = by_value
        self.converter = converter
        return self

    cdef object convert(self, object value, object obj, Frame frame):
        if value is None:
            return None
        if type(value) is self.enum:
            value = value._value_ if self.by_value else value._name_
        else:
            value = value.value if self.by_value else value.name
        return self.converter.convert(value, obj, frame)

    def inner(self):
        return {"value" if self.by_value else "name": self.converter}


@cython.final
@cython.no_gc_clear
cdef class ListStep(Step):
    kind = "list"
    cdef Step item

    def configure(self, *, Step item):
        self.item = item
        return self

    cdef object convert(self, object value, object obj, Frame frame):
        cdef list items
        if value is None:
            return None
        items = []
        for each in value:
            althaia_tick()
            items.append(self.item.convert(each, obj, frame))
        return items

    def inner(self):
        return {"items": self.item}


@cython.final
@cython.no_gc_clear
cdef class TupleStep(Step):
    kind = "tuple"
    cdef tuple items
    cdef bint nested

    def configure(self, *, tuple items, bint nested):
        self.items = items
        self.nested = nested
        return self

    cdef object convert(self, object value, object obj, Frame frame):
        cdef Py_ssize_t i, size = len(self.items)
        cdef list converted
        if value is None:
            return None
        if type(value) is not tuple or len(<tuple>value) != size:
            field = own_field(self.field, frame.schema) if self.nested else self.field
            return field._serialize(value, self.attr, obj)
        converted = []
        try:
            for i in range(size):
                converted.append(
                    (<Step>PyTuple_GET_ITEM(self.items, i)).convert((<tuple>value)[i], obj, frame)
                )
        except StopIteration as error:
            # Upstream converts in a generator.
            raise RuntimeError("generator raised StopIteration") from error
        return tuple(converted)

    def inner(self):
        return {str(index): step for index, step in enumerate(self.items)}


@cython.final
@cython.no_gc_clear
cdef class DictStep(Step):
    kind = "dict"
    cdef Step keys, values
    cdef bint nested

    def configure(self, *, Step keys, Step values, bint nested):
        self.nested = nested
        self.keys = keys
        self.values = values
        return self

    cdef object convert(self, object value, object obj, Frame frame):
        if value is None:
            return None
        if self.keys is None and self.values is None:
            return dict(value)
        if type(value) is not dict or not althaia_has_simple_keys(<dict>value):
            field = own_field(self.field, frame.schema) if self.nested else self.field
            return field._serialize(value, self.attr, obj)
        return self._convert_dict(<dict>value, frame)

    cdef dict _convert_dict(self, dict value, Frame frame):
        cdef dict result = {}, keys = None
        if self.keys is not None:
            keys = {}
            for key in value:
                althaia_tick()
                keys[key] = self.keys.convert(key, None, frame)
        for key, each in value.items():
            althaia_tick()
            if self.values is not None:
                each = self.values.convert(each, None, frame)
            elif key not in keys:
                continue
            result[key if keys is None else keys[key]] = each
        return result

    def inner(self):
        return {
            label: step
            for label, step in (("keys", self.keys), ("values", self.values))
            if step is not None
        }


@cython.final
@cython.no_gc_clear
cdef class MethodStep(Step):
    """A method of the schema, called with the object."""

    kind = "schema method"
    cdef object function, method

    def configure(self, *, schema, method):
        if getattr(method, "__self__", None) is schema and type(method) is MethodType:
            self.function = method.__func__
        self.method = method
        return self

    cdef object convert(self, object value, object obj, Frame frame):
        if self.function is not None:
            return self.function(frame.schema, obj)
        return MISSING if self.method is None else self.method(obj)


@cython.final
@cython.no_gc_clear
cdef class FunctionStep(Step):
    kind = "function"
    cdef object function

    def configure(self, *, function):
        self.function = function
        return self

    cdef object convert(self, object value, object obj, Frame frame):
        return self.function(obj)


@cython.final
@cython.no_gc_clear
cdef class ConstantStep(Step):
    kind = "constant"
    cdef object constant

    def configure(self, *, constant):
        self.constant = constant
        return self

    cdef object convert(self, object value, object obj, Frame frame):
        return self.constant


@cython.final
@cython.no_gc_clear
cdef class NestedStep(Step):
    """Another schema. It is resolved when the first object reaches it, as upstream does,
    and looked up and checked once per call."""

    kind = "nested schema"
    cdef int site
    cdef bint pluck

    def configure(self, *, int site, bint pluck=False):
        self.site = site
        self.pluck = pluck
        return self

    cdef object convert(self, object value, object obj, Frame frame):
        cdef Frame child = <Frame>frame.children[self.site]
        if child is None:
            child = self.open_child(frame)
            if althaia_is_simply_true(type(child.schema)):
                frame.children[self.site] = child
        if value is None:
            return None
        althaia_enter()
        try:
            if child.plan is None:
                result = child.schema.dump(value, many=child.many)
            else:
                result = run_with_hooks(child.plan, value, child.many, child)
        finally:
            althaia_leave()
        return self.plucked(result, child.schema, frame) if self.pluck else result

    cdef Frame open_child(self, Frame frame):
        cdef DumpPlan plan
        cdef Frame child
        schema = nested_schema(nested_field(self.field, frame.schema))
        plan = <DumpPlan>find_plan(schema, frame.large)
        child = open_frame(plan if plan is not None and plan.nestable else None, schema)
        child.large = frame.large
        many = schema.many or self.field.many
        # Schema.dump's own reading of its argument.
        if child.plan is None:
            child.many = many
        else:
            child.many = schema.many if many is None else bool(many)
        return child

    cdef object plucked(self, object result, object schema, Frame frame):
        if result is None:
            return None
        if althaia_is_simply_true(type(schema)):
            key = plucked_key(self.field, schema)
        else:
            # Resolved again each time that upstream asks for it.
            key = nested_field(self.field, frame.schema)._field_data_key
        if self.field.many:
            return [each[key] for each in result]
        return result[key]


# ---- Plans --------------------------------------------------------------------------


@cython.final
@cython.no_gc_clear
cdef class DumpPlan(Plan):
    """How one schema dumps: a :class:`Step` for each dumped field."""

    def __init__(self, tuple steps, Guard guard, **what):
        Plan.__init__(self, steps, guard, **what)
        keys = [step.key for step in steps]
        self.names = tuple([step.name if step.source == KEY else None for step in steps])
        if self.dict_class is dict and None not in keys and len(set(keys)) == len(keys):
            self.template = Template(tuple(keys))


cdef object read(Step step, object obj, Frame frame):
    """What ``field.get_value`` gives for one object, or MISSING."""
    if step.source == PATH:
        value = obj
        for part in step.path:
            value = read_once(value, <str>part, MISSING)
        return value
    if step.source == ACCESSOR:
        return frame.schema.get_attribute(obj, step.name, MISSING)
    return step.field.get_value(obj, step.attr, accessor=frame.schema.get_attribute)


cdef Reading reading_of(object obj, Frame frame):
    """How objects of this type are read in this call where they have a reader, else None."""
    if is_plain(obj):
        return None
    if frame.readings is None:
        frame.readings = Readings.__new__(Readings)
    return frame.readings.of(frame.plan.names, obj)


cdef object serialized(Py_ssize_t i, Step step, object obj, Frame frame, Reading reading):
    """What ``field.serialize`` gives for one object, or MISSING; ``i`` is the step's number."""
    cdef object value
    if step.source == KEY:
        value = NOT_THERE_ if reading is None else reading.value(obj, i)
        if value is NOT_THERE_:
            value = althaia_get_value(obj, step.name, MISSING)
    elif step.source == NOTHING:
        return step.convert(None, obj, frame)
    elif step.source == SERIALIZE:
        return step.field.serialize(step.attr, obj, accessor=frame.schema.get_attribute)
    else:
        value = read(step, obj, frame)
    if value is MISSING:
        value = step.default() if callable(step.default) else step.default
        if value is MISSING:
            return MISSING
    return step.convert(value, obj, frame)


cdef dict run_template(DumpPlan plan, object obj, Frame frame):
    """One object into a dictionary with the keys of the plan's template."""
    cdef tuple steps = plan.steps
    cdef Py_ssize_t i, size = len(steps)
    cdef dict result = plan.template.start()
    cdef Reading reading = reading_of(obj, frame)
    cdef Step step
    cdef object value
    for i in range(size):
        step = <Step>PyTuple_GET_ITEM(steps, i)
        value = serialized(i, step, obj, frame, reading)
        if value is not MISSING:
            althaia_put(result, i, step.key, value)
        elif plan.template.full:
            PyDict_DelItem(result, step.key)
    return result


cdef object run_general(DumpPlan plan, object obj, Frame frame):
    """One object into a new ``dict_class()``, keys asked where they are not fixed."""
    cdef object result = plan.dict_class()
    cdef Reading reading = reading_of(obj, frame)
    cdef Py_ssize_t i
    cdef Step step
    for i in range(len(plan.steps)):
        step = <Step>PyTuple_GET_ITEM(plan.steps, i)
        value = serialized(i, step, obj, frame, reading)
        if value is MISSING:
            continue
        key = step.key
        if key is None:
            # Asked twice where there is one, as upstream does: asking may run user code.
            key = step.attr if step.field.data_key is None else step.field.data_key
        result[key] = value
    return result


cdef object run_one(DumpPlan plan, object obj, Frame frame):
    if plan.template is not None:
        return run_template(plan, obj, frame)
    return run_general(plan, obj, frame)


cdef object run(DumpPlan plan, object obj, bint many, Frame frame):
    """What ``Schema._serialize`` returns."""
    cdef list results
    if not many or obj is None:
        return run_one(plan, obj, frame)
    results = []
    for each in obj:
        althaia_tick()
        results.append(run_one(plan, each, frame))
    return results


# ---- Hooks --------------------------------------------------------------------------


cdef object invoke_both(object hooks, object data, object obj, object many, object schema):
    cdef dict options = {"many": many}
    data = invoke(hooks, schema, False, data, obj, options)
    return invoke(hooks, schema, True, data, obj, options)


cdef object run_with_hooks(DumpPlan plan, object obj, object many, Frame frame):
    """What ``Schema.dump`` returns."""
    cdef object hooks = hooks_of(plan.hooks, "pre_dump")
    cdef object data = obj
    if hooks:
        data = invoke_both(hooks, data, obj, many, frame.schema)
        if valid_plan(frame.schema, DUMP) is not plan:
            return run_changed(frame.schema, obj, data, many)
    data = run(plan, data, many, frame)
    hooks = hooks_of(plan.hooks, "post_dump")
    return invoke_both(hooks, data, obj, many, frame.schema) if hooks else data


cdef object run_changed(object schema, object obj, object data, object many):
    """The rest of ``Schema.dump`` where a ``pre_dump`` hook has changed the schema."""
    result = schema._serialize(data, many=many)
    if schema._hooks["post_dump"]:
        return schema._invoke_dump_processors("post_dump", result, many=many, original_data=obj)
    return result
