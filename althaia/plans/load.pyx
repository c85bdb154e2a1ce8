# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Run a load plan: the straight loop over steps, and the errors exactly.

A step knows the exact types that it can convert itself and the checks of upstream's own
validators. Whatever is not plainly right it hands to the field's own method, which then
raises what upstream raises. Inside a plan a failure is a return value (:data:`FAILED`, with
messages and valid data in the frame); exceptions are made where user code would see one.
"""

import datetime as _dt
import decimal as _decimal
import uuid as _uuid
from collections import defaultdict
from collections.abc import Mapping
from types import MethodType

cimport cython
from cpython.datetime cimport PyDateTime_CheckExact, datetime_tzinfo, import_datetime
from cpython.dict cimport PyDict_DelItem, PyDict_GetItemWithError
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF
from cpython.tuple cimport PyTuple_GET_ITEM

from althaia.plans.guards cimport Guard
from althaia.plans.hooks cimport hooks_of, invoke
from althaia.plans.nested cimport nested_field, nested_schema, plucked_key
from althaia.plans.plan cimport Plan, valid_plan
from althaia.plans.primitives cimport (
    althaia_email_is_plain,
    althaia_enter,
    althaia_has_simple_keys,
    althaia_is_simply_true,
    althaia_leave,
    althaia_tick,
    althaia_url_is_plain,
    althaia_uuid_number,
)
from althaia.plans.state cimport LOAD
from althaia.plans.templates cimport Template, althaia_put

import_datetime()

cdef extern from "Python.h":
    int PyObject_GenericSetAttr(object obj, object name, object value) except -1


class Failed:
    """What a step returns when the value is not valid."""

    __slots__ = ()

    def __repr__(self):
        return "<failed>"


class Passed:
    """What a check returns when the value is valid."""

    __slots__ = ()

    def __repr__(self):
        return "<passed>"


cdef object FAILED = Failed()
cdef object PASSED = Passed()
cdef object MISSING = None
cdef object find_plan = None
cdef object ValidationError = None
cdef object ErrorStore = None
cdef object copy_containers = None
cdef object is_collection = None
cdef object is_sequence_but_not_string = None
cdef object set_value = None
cdef object Decimal = _decimal.Decimal
cdef object UUID = _uuid.UUID
cdef object UNKNOWN_SAFETY = _uuid.SafeUUID.unknown
cdef object timedelta = _dt.timedelta
cdef object timezone = _dt.timezone
cdef str SCHEMA = "_schema"
cdef double INFINITY_ = float("inf")


def connect(missing, finder, schema_namespace, utils_namespace, store_namespace):
    """Give the runner what it needs of marshmallow.

    :param missing: the sentinel ``marshmallow.missing``.
    :param finder: ``finder(schema, large) -> LoadPlan | None``.
    :param schema_namespace: the live namespaces of three modules of marshmallow.
    """
    global MISSING, find_plan, ValidationError, ErrorStore, copy_containers
    global is_collection, is_sequence_but_not_string, set_value
    MISSING = missing
    find_plan = finder
    ValidationError = schema_namespace["ValidationError"]
    ErrorStore = store_namespace["ErrorStore"]
    copy_containers = store_namespace["copy_containers"]
    is_collection = utils_namespace["is_collection"]
    is_sequence_but_not_string = utils_namespace["is_sequence_but_not_string"]
    set_value = utils_namespace["set_value"]


# ---- Frames -------------------------------------------------------------------------


cdef bint is_flat(object messages):
    """Whether the messages are a list of nothing but text: copied by copying the list."""
    if type(messages) is not list:
        return False
    for each in <list>messages:
        if type(each) is not str:
            return False
    return True


@cython.final
@cython.freelist(16)
cdef class LoadFrame:

    cdef object failed(self, object error):
        """Note what a ValidationError says; anything else that was made to be raised is."""
        if not isinstance(error, ValidationError):
            cls = error if isinstance(error, type) else type(error)
            if not issubclass(cls, BaseException):
                raise TypeError("exceptions must derive from BaseException")
            raise error
        self.messages = error.messages
        self.valid_data = error.valid_data
        return FAILED

    cdef int store_error(self, object messages, object field_name) except -1:
        """What ``ErrorStore.store_error`` does, short where nothing is to be merged."""
        cdef dict target
        if self.store is None:
            self.store = ErrorStore()
        if type(field_name) is str and field_name != SCHEMA and type(self.store.errors) is dict:
            target = <dict>self.store.errors
            if self.index is not None:
                inner = target.get(self.index)
                if inner is None:
                    inner = target[self.index] = {}
                target = inner if type(inner) is dict else None
            if target is not None and field_name not in target:
                target[field_name] = (
                    list(messages) if is_flat(messages) else copy_containers(messages)
                )
                return 0
        self.store.store_error(messages, field_name, index=self.index)
        return 0

    cdef bint may_be_missing(self, str name) except -1:
        """Whether ``partial`` lets the field be absent."""
        if self.partial is True:
            return True
        return self.sub_partials is not None and name in self.partial


cdef list sub_partials(LoadPlan plan, object partial):
    """For each step the part of ``partial`` that concerns what is nested in it."""
    cdef list found = []
    cdef LoadStep step
    cdef str prefix
    for step in plan.steps:
        prefix = step.attr + "."
        found.append([f[len(prefix):] for f in partial if f.startswith(prefix)])
    return found


cdef bint plannable_partial(object partial):
    """Whether ``partial`` is a flag, or a plain collection of names."""
    if partial is None or partial is True or partial is False:
        return True
    if type(partial) not in (list, tuple, set, frozenset):
        return False
    for name in partial:
        if type(name) is not str:
            return False
    return True


cdef LoadFrame open_load_frame(
    LoadPlan plan, object schema, object many, object partial, object unknown
):
    """A frame for one call of one plan on one schema; the options are the call's own."""
    cdef LoadFrame frame = LoadFrame.__new__(LoadFrame)
    frame.schema = schema
    frame.plan = plan
    frame.many = many
    frame.partial = partial
    frame.unknown = unknown
    if plan is not None:
        frame.index_errors = True if schema.opts.index_errors else False
        if plan.sites:
            frame.children = [None] * plan.sites
        if partial is True or partial is False:
            frame.kwargs = {"partial": partial}
        elif partial is not None:
            frame.sub_partials = sub_partials(plan, partial)
    return frame


# ---- Checks -------------------------------------------------------------------------


@cython.no_gc_clear
cdef class Check:
    """One validator of a field. Any callable: it is called."""

    kind = "called"

    def __init__(self, validator):
        self.validator = validator

    cdef object failure(self, object value):
        """PASSED, or the messages; a ValidationError of the user's code says as much."""
        self.validator(value)
        return PASSED

    def __repr__(self):
        return f"<{self.kind}: {self.validator!r}>"


@cython.final
@cython.no_gc_clear
cdef class LengthCheck(Check):
    kind = "length"
    cdef Py_ssize_t least, most

    def configure(self, *, Py_ssize_t least, Py_ssize_t most):
        self.least = least
        self.most = most
        return self

    cdef object failure(self, object value):
        cdef Py_ssize_t size
        if type(value) is str:
            size = len(<str>value)
        elif type(value) is list:
            size = len(<list>value)
        elif type(value) is dict:
            size = len(<dict>value)
        else:
            return Check.failure(self, value)
        if self.least <= size <= self.most:
            return PASSED
        return Check.failure(self, value)


@cython.final
@cython.no_gc_clear
cdef class RangeCheck(Check):
    kind = "range"
    cdef object low, high
    cdef bint low_inclusive, high_inclusive

    def configure(self, *, low, high, bint low_inclusive, bint high_inclusive):
        self.low = low
        self.high = high
        self.low_inclusive = low_inclusive
        self.high_inclusive = high_inclusive
        return self

    cdef object failure(self, object value):
        if type(value) is int or type(value) is float:
            if (
                self.low is None
                or (value >= self.low if self.low_inclusive else value > self.low)
            ) and (
                self.high is None
                or (value <= self.high if self.high_inclusive else value < self.high)
            ):
                return PASSED
        return Check.failure(self, value)


@cython.final
@cython.no_gc_clear
cdef class ChoiceCheck(Check):
    """``OneOf`` and ``NoneOf``: membership is asked once, the validator words the message."""

    kind = "choice"
    cdef object choices
    cdef bint wanted

    def configure(self, *, choices, bint wanted):
        self.choices = choices
        self.wanted = wanted
        return self

    cdef object failure(self, object value):
        try:
            if (value in self.choices) == self.wanted:
                return PASSED
            return worded(self.validator._format_error(value))
        except TypeError:
            # Raised by the look-up or by the wording: upstream does not tell them apart.
            return worded(self.validator._format_error(value)) if self.wanted else PASSED


@cython.final
@cython.no_gc_clear
cdef class EqualCheck(Check):
    kind = "equal"
    cdef object comparable

    def configure(self, *, comparable):
        self.comparable = comparable
        return self

    cdef object failure(self, object value):
        if value != self.comparable:
            return worded(self.validator._format_error(value))
        return PASSED


@cython.final
@cython.no_gc_clear
cdef class RegexpCheck(Check):
    kind = "regexp"
    cdef object match

    def configure(self, *, match):
        self.match = match
        return self

    cdef object failure(self, object value):
        if self.match(value) is None:
            return worded(self.validator._format_error(value))
        return PASSED


@cython.final
@cython.no_gc_clear
cdef class EmailCheck(Check):
    """Plain addresses are seen to be right without a regular expression."""

    kind = "e-mail"

    cdef object failure(self, object value):
        if type(value) is str and althaia_email_is_plain(value):
            return PASSED
        return Check.failure(self, value)


@cython.final
@cython.no_gc_clear
cdef class UrlCheck(Check):
    """Plain http and https addresses are seen to be right without a regular expression."""

    kind = "URL"
    cdef set schemes

    def configure(self, *, set schemes):
        self.schemes = schemes
        return self

    cdef object failure(self, object value):
        if (
            type(value) is str
            and althaia_url_is_plain(value)
            and ("https" if (<str>value)[4] == "s" else "http") in self.schemes
        ):
            return PASSED
        return Check.failure(self, value)


cdef list with_messages(list errors, object messages):
    """The messages of one validator put to those of the validators before it."""
    if errors is None:
        errors = []
    if isinstance(messages, dict):
        errors.append(messages)
    else:
        errors.extend(messages)
    return errors


cdef object worded(object message):
    """The messages of a ValidationError with this message."""
    return [message] if isinstance(message, (str, bytes)) else message


cdef object own_load(object field, object value, object key, object data, LoadFrame frame):
    """What a field's own ``_deserialize`` returns, or FAILED."""
    try:
        if frame.kwargs is None:
            return field._deserialize(value, key, data)
        return field._deserialize(value, key, data, **frame.kwargs)
    except ValidationError as error:
        return frame.failed(error)


# ---- Steps --------------------------------------------------------------------------


@cython.no_gc_clear
cdef class LoadStep:
    """One field of a load plan; the value is taken as it is.

    :param field: the bound field.
    :param attr: the field's name in the schema.
    :param key: the key in the input, None inside another field.
    :param target: the key in the output; ``dotted`` where it is a path.
    :param opaque: ``field.deserialize`` does everything.
    :param own_validate: the field's own ``_validate`` is called.
    :param checks: a :class:`Check` for each validator.
    :param why: the reason where the step is wider than upstream's own kind needs.
    """

    kind = "as it is"
    narrow = True

    def __init__(
        self, field, attr=None, key=None, target=None, bint dotted=False, bint opaque=False,
        bint required=False, bint allow_none=False, bint own_validate=False, default=None,
        list pre_load=None, list post_load=None, tuple checks=(), str why="",
    ):
        self.field = field
        self.attr = attr
        self.key = key
        self.target = target
        self.dotted = dotted
        self.opaque = opaque
        self.required = required
        self.allow_none = allow_none
        self.own_validate = own_validate
        self.default = default
        self.pre_load = pre_load
        self.post_load = post_load
        self.checks = checks
        self.why = why

    cdef object convert(self, object value, object data, LoadFrame frame):
        """What ``field._deserialize`` returns, or FAILED."""
        return value

    cdef object own(self, object value, object data, LoadFrame frame):
        """Let the field's own ``_deserialize`` do it."""
        return own_load(self.field, value, self.key, data, frame)

    cdef object load(self, object value, object data, LoadFrame frame):
        """What ``field.deserialize`` returns, or FAILED."""
        try:
            if self.opaque:
                return self.ask_field(value, data, frame)
            if value is MISSING:
                if self.required:
                    return frame.failed(self.field.make_error("required"))
                return self.default() if callable(self.default) else self.default
            if value is None and not self.allow_none:
                return frame.failed(self.field.make_error("null"))
            if self.pre_load is not None:
                for function in self.pre_load:
                    value = function(value)
            if value is None and self.allow_none:
                return None
            value = self.convert(value, data, frame)
            if value is not FAILED and self.checks is not None:
                value = self.validate(value, frame)
            if value is not FAILED and self.post_load is not None:
                for function in self.post_load:
                    value = function(value)
            return value
        except ValidationError as error:
            return frame.failed(error)

    cdef object ask_field(self, object value, object data, LoadFrame frame):
        cdef dict kwargs = {} if frame.kwargs is None else frame.kwargs
        if self.key is None:
            # Inside another field: upstream gives it the value and nothing else.
            return self.field.deserialize(value, **kwargs)
        return self.field.deserialize(value, self.key, data, **kwargs)

    cdef object validate(self, object value, LoadFrame frame):
        """The value if all validators pass, else FAILED; all of them run, as ``And`` does."""
        cdef list errors = None
        cdef Check check
        if self.own_validate:
            try:
                self.field._validate(value)
            except ValidationError as error:
                return frame.failed(error)
            return value
        for check in self.checks:
            try:
                messages = check.failure(value)
                if messages is not PASSED:
                    errors = with_messages(errors, messages)
            except ValidationError as error:
                errors = with_messages(errors, error.messages)
        if errors:
            frame.messages = errors
            frame.valid_data = None
            return FAILED
        return value

    def inner(self):
        """The steps inside this one, by label."""
        return {}

    def __repr__(self):
        return f"<{self.kind}: {self.key!r} -> {self.target!r}>"


@cython.final
@cython.no_gc_clear
cdef class OwnStep(LoadStep):
    """The field's own ``_deserialize`` converts."""

    kind = "field's own _deserialize"
    narrow = False

    cdef object convert(self, object value, object data, LoadFrame frame):
        return self.own(value, data, frame)


@cython.final
@cython.no_gc_clear
cdef class OpaqueLoadStep(LoadStep):
    """The field's own ``deserialize`` does everything."""

    kind = "field's own deserialize"
    narrow = False


@cython.final
@cython.no_gc_clear
cdef class TextStep(LoadStep):
    kind = "text"

    cdef object convert(self, object value, object data, LoadFrame frame):
        if type(value) is str:
            return value
        return self.own(value, data, frame)


@cython.final
@cython.no_gc_clear
cdef class LoadIntegerStep(LoadStep):
    kind = "int"
    cdef bint strict

    def configure(self, *, bint strict):
        self.strict = strict
        return self

    cdef object convert(self, object value, object data, LoadFrame frame):
        if type(value) is int:
            return value
        if not self.strict and type(value) is str or type(value) is float:
            try:
                if not self.strict:
                    return int(value)
            except (TypeError, ValueError, OverflowError):
                pass
        return self.own(value, data, frame)


@cython.final
@cython.no_gc_clear
cdef class LoadFloatStep(LoadStep):
    kind = "float"
    cdef bint allow_nan

    def configure(self, *, bint allow_nan):
        self.allow_nan = allow_nan
        return self

    cdef object convert(self, object value, object data, LoadFrame frame):
        cdef double number
        cdef object converted = value
        if type(value) is int or type(value) is str:
            try:
                converted = float(value)
            except (TypeError, ValueError, OverflowError):
                return self.own(value, data, frame)
        elif type(value) is not float:
            return self.own(value, data, frame)
        if not self.allow_nan:
            number = <double>converted
            if number != number or number == INFINITY_ or number == -INFINITY_:
                return self.own(value, data, frame)
        return converted


@cython.final
@cython.no_gc_clear
cdef class LoadDecimalStep(LoadStep):
    kind = "decimal"
    cdef object places, rounding

    def configure(self, *, places, rounding):
        self.places = places
        self.rounding = rounding
        return self

    cdef object convert(self, object value, object data, LoadFrame frame):
        cdef object number = value
        if type(value) is str or type(value) is int or type(value) is float:
            try:
                number = Decimal(value if type(value) is str else str(value))
            except (_decimal.InvalidOperation, ValueError):
                return self.own(value, data, frame)
        elif type(value) is not Decimal:
            return self.own(value, data, frame)
        if not number.is_finite():
            return self.own(value, data, frame)
        if self.places is not None:
            try:
                number = number.quantize(self.places, rounding=self.rounding)
            except _decimal.InvalidOperation:
                return self.own(value, data, frame)
        return number


@cython.final
@cython.no_gc_clear
cdef class BooleanStep(LoadStep):
    """``truthy`` and ``falsy`` are asked each time: their contents are the user's."""

    kind = "bool"
    cdef object truthy, falsy

    def configure(self, *, truthy, falsy):
        self.truthy = truthy
        self.falsy = falsy
        return self

    cdef object convert(self, object value, object data, LoadFrame frame):
        if (
            (type(value) is bool or type(value) is str or type(value) is int)
            and len(<set>self.truthy)
        ):
            try:
                if value in <set>self.truthy:
                    return True
                if value in <set>self.falsy:
                    return False
            except TypeError:
                return frame.failed(self.field.make_error("invalid", input=value))
            # Not asked again: a member's comparison may be the user's.
            return frame.failed(self.field.make_error("invalid", input=value))
        return self.own(value, data, frame)


@cython.final
@cython.no_gc_clear
cdef class ParseStep(LoadStep):
    """A date or time from text by one of the standard library's own functions."""

    kind = "date or time"
    cdef object parse

    def configure(self, *, parse):
        self.parse = parse
        return self

    cdef object convert(self, object value, object data, LoadFrame frame):
        if type(value) is str:
            try:
                return self.parse(value)
            except (TypeError, AttributeError, ValueError):
                pass
        return self.own(value, data, frame)


@cython.final
@cython.no_gc_clear
cdef class AwarenessStep(LoadStep):
    """A datetime that must, or must not, know its time zone."""

    kind = "datetime of known awareness"
    cdef object parse
    cdef bint aware

    def configure(self, *, parse, bint aware):
        self.parse = parse
        self.aware = aware
        return self

    cdef object convert(self, object value, object data, LoadFrame frame):
        cdef object parsed, zone
        if type(value) is str:
            try:
                parsed = self.parse(value)
            except (TypeError, AttributeError, ValueError):
                return self.own(value, data, frame)
            if PyDateTime_CheckExact(parsed):
                zone = datetime_tzinfo(parsed)
                if type(zone) is timezone if self.aware else zone is None:
                    return parsed
        return self.own(value, data, frame)


@cython.final
@cython.no_gc_clear
cdef class LoadTimeDeltaStep(LoadStep):
    kind = "timedelta"
    cdef str precision

    def configure(self, *, str precision):
        self.precision = precision
        return self

    cdef object convert(self, object value, object data, LoadFrame frame):
        if type(value) is int or type(value) is float or type(value) is str:
            try:
                return timedelta(**{self.precision: float(value)})
            except (TypeError, ValueError, OverflowError):
                pass
        return self.own(value, data, frame)


@cython.final
@cython.no_gc_clear
cdef class LoadUUIDStep(LoadStep):
    kind = "UUID"

    cdef object convert(self, object value, object data, LoadFrame frame):
        cdef void* number
        if type(value) is UUID:
            return value
        if type(value) is str:
            number = althaia_uuid_number(value)
            if number is not NULL:
                return made_uuid(number)
        return self.own(value, data, frame)


cdef object made_uuid(void* number):
    """A UUID as ``uuid.UUID.__init__`` leaves it, from a new reference to its integer."""
    cdef object integer = <object>number
    cdef object made = UUID.__new__(UUID)
    Py_DECREF(integer)
    PyObject_GenericSetAttr(made, "int", integer)
    PyObject_GenericSetAttr(made, "is_safe", UNKNOWN_SAFETY)
    return made


@cython.final
@cython.no_gc_clear
cdef class LoadEnumStep(LoadStep):
    """A member found where the enum class keeps its members."""

    kind = "enum"
    cdef dict members
    cdef bint by_value
    cdef LoadStep converter

    def configure(self, *, dict members, bint by_value, LoadStep converter):
        self.members = members
        self.by_value = by_value
        self.converter = converter
        return self

    cdef object convert(self, object value, object data, LoadFrame frame):
        cdef PyObject* member
        if type(value) is str or (self.by_value and type(value) is int):
            member = PyDict_GetItemWithError(self.members, value)
            if member is not NULL:
                return <object>member
        return self.own(value, data, frame)

    def inner(self):
        return {"member": self.converter}


cdef int note_item(LoadFrame frame, list items, dict errors, object index) except -1:
    """Keep what a failed item of a collection left behind."""
    if frame.valid_data is not None:
        items.append(frame.valid_data)
    errors[index] = frame.messages
    return 0


cdef object fail(LoadFrame frame, object messages, object valid_data):
    frame.messages = messages
    frame.valid_data = valid_data
    return FAILED


@cython.final
@cython.no_gc_clear
cdef class LoadListStep(LoadStep):
    kind = "list"
    cdef LoadStep item

    def configure(self, *, LoadStep item):
        self.item = item
        return self

    cdef object convert(self, object value, object data, LoadFrame frame):
        cdef list items
        cdef dict errors = None
        cdef Py_ssize_t index = 0
        if type(value) is not list and type(value) is not tuple:
            return self.own(value, data, frame)
        items = []
        for each in value:
            althaia_tick()
            loaded = self.item.load(each, None, frame)
            if loaded is FAILED:
                if errors is None:
                    errors = {}
                note_item(frame, items, errors, index)
            else:
                items.append(loaded)
            index += 1
        return items if errors is None else fail(frame, errors, items)

    def inner(self):
        return {"items": self.item}


@cython.final
@cython.no_gc_clear
cdef class LoadTupleStep(LoadStep):
    kind = "tuple"
    cdef tuple items

    def configure(self, *, tuple items):
        self.items = items
        return self

    cdef object convert(self, object value, object data, LoadFrame frame):
        cdef list items = []
        cdef dict errors = None
        cdef Py_ssize_t index, size = len(self.items)
        cdef tuple values
        if type(value) is tuple:
            values = <tuple>value
        elif type(value) is list:
            values = tuple(<list>value)
        else:
            return self.own(value, data, frame)
        if len(values) != size:
            return self.own(value, data, frame)
        for index in range(size):
            loaded = (<LoadStep>PyTuple_GET_ITEM(self.items, index)).load(
                values[index], None, frame
            )
            if loaded is FAILED:
                if errors is None:
                    errors = {}
                note_item(frame, items, errors, index)
            else:
                items.append(loaded)
        return tuple(items) if errors is None else fail(frame, errors, items)

    def inner(self):
        return {str(index): step for index, step in enumerate(self.items)}


@cython.final
@cython.no_gc_clear
cdef class LoadDictStep(LoadStep):
    kind = "dict"
    cdef LoadStep keys, values

    def configure(self, *, LoadStep keys, LoadStep values):
        self.keys = keys
        self.values = values
        return self

    cdef object convert(self, object value, object data, LoadFrame frame):
        if type(value) is not dict or not althaia_has_simple_keys(<dict>value):
            return self.own(value, data, frame)
        if self.keys is None and self.values is None:
            return dict(value)
        return self._convert_dict(<dict>value, frame)

    cdef object _convert_dict(self, dict value, LoadFrame frame):
        cdef dict keys = None, result = {}
        cdef object errors = None
        if self.keys is not None:
            keys = {}
            for key in value:
                althaia_tick()
                loaded = self.keys.load(key, None, frame)
                if loaded is FAILED:
                    if errors is None:
                        errors = defaultdict(dict)
                    errors[key]["key"] = frame.messages
                else:
                    keys[key] = loaded
        for key, each in value.items():
            althaia_tick()
            if self.values is not None:
                each = self.values.load(each, None, frame)
                if each is FAILED:
                    if errors is None:
                        errors = defaultdict(dict)
                    errors[key]["value"] = frame.messages
                    each = MISSING if frame.valid_data is None else frame.valid_data
                    if each is MISSING:
                        continue
            if keys is None:
                result[key] = each
            elif key in keys:
                result[keys[key]] = each
        return result if errors is None else fail(frame, errors, result)

    def inner(self):
        return {
            label: step
            for label, step in (("keys", self.keys), ("values", self.values))
            if step is not None
        }


@cython.final
@cython.no_gc_clear
cdef class CallStep(LoadStep):
    """A function of the user's, called with the value: a Method or Function field."""

    kind = "function"
    cdef object function, method

    def configure(self, *, schema, function):
        if type(function) is MethodType and function.__self__ is schema:
            self.method = function.__func__
        self.function = function
        return self

    cdef object convert(self, object value, object data, LoadFrame frame):
        if self.method is not None:
            return self.method(frame.schema, value)
        return self.function(value)


@cython.final
@cython.no_gc_clear
cdef class LoadConstantStep(LoadStep):
    kind = "constant"
    cdef object constant

    def configure(self, *, constant):
        self.constant = constant
        return self

    cdef object convert(self, object value, object data, LoadFrame frame):
        return self.constant


@cython.final
@cython.no_gc_clear
cdef class LoadNestedStep(LoadStep):
    """Another schema, resolved when the first value reaches it, as upstream does."""

    kind = "nested schema"
    cdef int site
    cdef bint pluck

    def configure(self, *, int site, bint pluck=False):
        self.site = site
        self.pluck = pluck
        return self

    cdef object convert(self, object value, object data, LoadFrame frame):
        cdef LoadFrame child
        cdef bint many
        partial = None if frame.kwargs is None else (<dict>frame.kwargs)["partial"]
        if frame.children[self.site] is None:
            field = nested_field(self.field, frame.schema)
            if field._schema is not None and not althaia_is_simply_true(type(field._schema)):
                return own_load(field, value, self.key, data, frame)
        child = self.child_of(frame, partial)
        many = True if child.schema.many or self.field.many else False
        if many and type(value) is not list and not is_collection(value):
            return frame.failed(
                self.field.make_error("type", input=value, type=value.__class__.__name__)
            )
        if self.pluck:
            # The key is asked for each value, as upstream does: an empty list needs none.
            if self.field.many:
                value = [{self.key_in(child, frame): each} for each in value]
            else:
                value = {self.key_in(child, frame): value}
        # A schema that may be false is resolved again each time that upstream asks for it.
        if child.plan is None or not althaia_is_simply_true(type(child.schema)):
            return self.load_by_call(value, partial, frame)
        althaia_enter()
        try:
            return self.load_by_plan(child, value, frame)
        finally:
            althaia_leave()

    cdef object key_in(self, LoadFrame child, LoadFrame frame):
        """The key of the plucked field in its schema's input."""
        if althaia_is_simply_true(type(child.schema)):
            return plucked_key(self.field, child.schema)
        return nested_field(self.field, frame.schema)._field_data_key

    cdef LoadFrame child_of(self, LoadFrame frame, object partial):
        cdef LoadFrame child = <LoadFrame>frame.children[self.site]
        cdef LoadPlan plan
        if child is not None:
            return child
        schema = nested_schema(nested_field(self.field, frame.schema))
        plan = <LoadPlan>find_plan(schema, frame.large)
        if partial is None:
            partial = schema.partial
        if plan is not None and not (plan.nestable and plannable_partial(partial)):
            plan = None
        unknown = self.field.unknown
        child = open_load_frame(
            plan, schema, schema.many, partial, schema.unknown if unknown is None else unknown
        )
        child.large = frame.large
        # Names in ``partial`` are a list of its own for each value, and hooks may change it.
        if frame.sub_partials is None and althaia_is_simply_true(type(schema)):
            frame.children[self.site] = child
        return child

    cdef object load_by_call(self, object value, object partial, LoadFrame frame):
        try:
            return nested_field(self.field, frame.schema)._load(value, partial=partial)
        except ValidationError as error:
            return frame.failed(error)

    cdef object load_by_plan(self, LoadFrame child, object value, LoadFrame frame):
        cdef object result
        child.store = None
        child.index = None
        if not child.plan.silent_errors:
            try:
                return load_whole(child.plan, value, child, True)
            except ValidationError as error:
                return frame.failed(error)
        result = load_whole_or_fail(child.plan, value, child, True)
        if result is FAILED:
            return fail(frame, child.messages, child.valid_data)
        return result


# ---- Plans --------------------------------------------------------------------------


@cython.final
@cython.no_gc_clear
cdef class LoadPlan(Plan):
    """How one schema loads: a :class:`LoadStep` for each loaded field.

    :param silent_errors: ``handle_error`` is upstream's, which does nothing.

    ``shows_input`` says that a field's own method is given the input, and may change it.
    """

    def __init__(self, tuple steps, Guard guard, *, bint silent_errors=False, **what):
        Plan.__init__(self, steps, guard, **what)
        self.silent_errors = silent_errors
        self.keys = {step.key for step in steps}
        self.unique_keys = len(self.keys) == len(steps)
        self.shows_input = not all(step.narrow for step in steps)
        targets = [step.target for step in steps]
        if (
            self.dict_class is dict
            and len(set(targets)) == len(targets)
            and not any(step.dotted for step in steps)
        ):
            self.template = Template(tuple(targets))


cdef object load_one(LoadPlan plan, object data, LoadFrame frame):
    """What ``Schema._deserialize`` returns for one object; errors go to the frame's store."""
    cdef object result
    cdef bint plain = type(data) is dict
    cdef bint full = plain and plan.template is not None and plan.template.full
    cdef Py_ssize_t found = 0, i, size = len(plan.steps)
    cdef LoadStep step
    cdef PyObject* entry
    cdef object value
    if full:
        result = plan.template.start()
    else:
        result = plan.dict_class()
    if not plain and not isinstance(data, Mapping):
        frame.store_error([frame.schema.error_messages["type"]], SCHEMA)
        return result
    for i in range(size):
        step = <LoadStep>PyTuple_GET_ITEM(plan.steps, i)
        if plain:
            entry = PyDict_GetItemWithError(data, step.key)
            if entry is NULL:
                value = MISSING
            else:
                value = <object>entry
                found += 1
        else:
            value = data.get(step.key, MISSING)
        if frame.partial is not None:
            if value is MISSING and frame.may_be_missing(step.attr):
                if full:
                    PyDict_DelItem(result, step.target)
                continue
            if frame.sub_partials is not None:
                # A list of its own for each, as upstream makes it: hooks are given it.
                frame.kwargs = {"partial": list(frame.sub_partials[i])}
        value = step.load(value, data, frame)
        if value is FAILED:
            value = frame.valid_data or MISSING
            frame.store_error(frame.messages, step.key)
        if value is MISSING:
            if full:
                PyDict_DelItem(result, step.target)
        elif full:
            althaia_put(<dict>result, i, step.target, value)
        elif step.dotted:
            set_value(result, step.target, value)
        else:
            result[step.target] = value
    if frame.unknown != "exclude" and not (
        plain and plan.unique_keys and not plan.shows_input and found == len(<dict>data)
    ):
        load_unknown(plan, data, result, frame)
    return result


cdef int load_unknown(LoadPlan plan, object data, object result, LoadFrame frame) except -1:
    """Treat the keys that no field asked for."""
    for key in set(data) - plan.keys:
        althaia_tick()
        value = data[key]
        if frame.unknown == "include":
            result[key] = value
        elif frame.unknown == "raise":
            frame.store_error([frame.schema.error_messages["unknown"]], key)
    return 0


cdef object load_items(LoadPlan plan, object data, bint many, LoadFrame frame):
    """What ``Schema._deserialize`` returns."""
    cdef list results
    cdef Py_ssize_t index = 0
    if not many:
        return load_one(plan, data, frame)
    results = []
    index_before = frame.index
    if type(data) is not list and not is_sequence_but_not_string(data):
        frame.store_error([frame.schema.error_messages["type"]], SCHEMA)
        return results
    for each in data:
        althaia_tick()
        if frame.index_errors:
            frame.index = index
        results.append(load_one(plan, each, frame))
        index += 1
    frame.index = index_before
    return results


# ---- Hooks --------------------------------------------------------------------------


cdef object invoke_both(object hooks, object data, object original, LoadFrame frame):
    cdef dict options = {"many": frame.many, "partial": frame.partial, "unknown": frame.unknown}
    data = invoke(hooks, frame.schema, True, data, original, options)
    return invoke(hooks, frame.schema, False, data, original, options)


cdef int validate_schema(object result, object data, LoadFrame frame) except -1:
    """Run ``validates`` and ``validates_schema`` by upstream's own methods."""
    cdef object schema = frame.schema
    cdef object hooks = hooks_of(frame.plan.hooks, "validates")
    cdef bint has_schema_validators
    # Upstream loops over them without asking whether there are any.
    if type(hooks) is not list or hooks:
        if frame.store is None:
            frame.store = ErrorStore()
        schema._invoke_field_validators(error_store=frame.store, data=result, many=frame.many)
    if hooks_of(frame.plan.hooks, "validates_schema"):
        if frame.store is None:
            frame.store = ErrorStore()
        field_errors = bool(frame.store.errors)
        for pass_collection in (True, False):
            schema._invoke_schema_validators(
                error_store=frame.store,
                pass_collection=pass_collection,
                data=result,
                original_data=data,
                many=frame.many,
                partial=frame.partial,
                unknown=frame.unknown,
                field_errors=field_errors,
            )
    return 0


cdef object load_changed(object processed, object data, LoadFrame frame, bint postprocess):
    """The rest of ``Schema._do_load`` where a ``pre_load`` hook has changed the schema."""
    cdef object schema = frame.schema, errors, result
    call = {"partial": frame.partial, "unknown": frame.unknown}
    store = ErrorStore()
    result = schema._deserialize(processed, error_store=store, many=frame.many, **call)
    schema._invoke_field_validators(error_store=store, data=result, many=frame.many)
    if schema._hooks["validates_schema"]:
        field_errors = bool(store.errors)
        for pass_collection in (True, False):
            schema._invoke_schema_validators(
                error_store=store,
                pass_collection=pass_collection,
                data=result,
                original_data=data,
                many=frame.many,
                field_errors=field_errors,
                **call,
            )
    errors = store.errors
    if not errors and postprocess and schema._hooks["post_load"]:
        try:
            result = schema._invoke_load_processors(
                "post_load", result, many=frame.many, original_data=data, **call
            )
        except ValidationError as error:
            errors = error.normalized_messages()
    return fail(frame, errors, result) if errors else result


cdef object load_whole_or_fail(LoadPlan plan, object data, LoadFrame frame, bint postprocess):
    """What ``Schema._do_load`` returns, or FAILED with errors and result in the frame."""
    cdef object errors = None, result = None, processed = data
    cdef bint preprocessed = True
    cdef object hooks = hooks_of(plan.hooks, "pre_load")
    if hooks:
        try:
            processed = invoke_both(hooks, data, data, frame)
        except ValidationError as error:
            errors = error.normalized_messages()
            preprocessed = False
        else:
            if valid_plan(frame.schema, LOAD) is not plan or not plannable_partial(frame.partial):
                return load_changed(processed, data, frame, postprocess)
            if frame.sub_partials is not None:
                frame.sub_partials = sub_partials(plan, frame.partial)
    if not errors:
        if not preprocessed:
            raise UnboundLocalError(
                "cannot access local variable 'processed_data' where it is not associated "
                "with a value"
            )
        result = load_items(plan, processed, True if frame.many else False, frame)
        validate_schema(result, data, frame)
        errors = None if frame.store is None else frame.store.errors
        if not errors and postprocess:
            hooks = hooks_of(plan.hooks, "post_load")
            if hooks:
                try:
                    result = invoke_both(hooks, result, data, frame)
                except ValidationError as error:
                    errors = error.normalized_messages()
    if errors:
        return fail(frame, errors, result)
    return result


cdef object load_whole(LoadPlan plan, object data, LoadFrame frame, bint postprocess):
    """What ``Schema._do_load`` returns or raises."""
    cdef object result = load_whole_or_fail(plan, data, frame, postprocess)
    if result is not FAILED:
        return result
    error = ValidationError(frame.messages, data=data, valid_data=frame.valid_data)
    frame.schema.handle_error(error, data, many=frame.many, partial=frame.partial)
    raise error
