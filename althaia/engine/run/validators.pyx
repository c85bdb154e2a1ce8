# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Checks: compiled forms of upstream's own validators, and calls of all others.

Each check replaces one validator. A value that is certainly valid passes without a call. Any other
value is passed to the validator itself, which creates the message.
"""

import re
from functools import partial

cimport cython

from althaia.cpython.primitives cimport althaia_email_is_plain, althaia_url_is_plain
from althaia.engine.plan.plan cimport set_attributes
from althaia.engine.upstream cimport marshmallow

from althaia.engine.plan.not_plannable import NotPlannable
from althaia.engine.upstream import static


cdef object PASSED = object()


@cython.no_gc_clear
cdef class Check:
    """One validator of a field. This base class calls it."""

    kind = "called"

    def __init__(self, validator, **own):
        self.validator = validator
        set_attributes(self, own)

    cdef object failure(self, object value):
        """Return PASSED or the messages. A ValidationError of user code propagates."""
        self.validator(value)
        return PASSED

    def __repr__(self):
        return f"<{self.kind}: {self.validator!r}>"


@cython.final
@cython.no_gc_clear
cdef class FalseCheck(Check):
    """A function or another object of the user's, in a release in which its False is an error."""

    cdef public object field

    cdef object failure(self, object value):
        return refusal(self.field, value) if self.validator(value) is False else PASSED


class Refused:
    """Stands for a field whose only validator has returned False."""

    def __init__(self, error):
        self._validate_all = marshmallow.validate["And"](refuse, error=error)


def refuse(value):
    return False


cdef object refusal(object field, object value):
    """Return the messages of a validator that has returned False, and warn of it.

    Upstream's own functions do both, so that the warning names their line.
    """
    try:
        marshmallow.raw(marshmallow.Field, "_validate")(
            Refused(field.error_messages["validator_failed"]), value
        )
    except marshmallow.ValidationError as error:
        return error.messages


@cython.final
@cython.no_gc_clear
cdef class LengthCheck(Check):
    kind = "length"
    cdef public Py_ssize_t least, most

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
    cdef public object low, high
    cdef public bint low_inclusive, high_inclusive

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
    """``OneOf`` and ``NoneOf``: membership is tested once, the validator creates the message."""

    kind = "choice"
    cdef public object choices
    cdef public bint wanted

    cdef object failure(self, object value):
        try:
            if (value in self.choices) == self.wanted:
                return PASSED
            return worded(self.validator._format_error(value))
        except TypeError:
            # Either the test or the formatting of the message raised: upstream does not distinguish
            # them.
            return worded(self.validator._format_error(value)) if self.wanted else PASSED


@cython.final
@cython.no_gc_clear
cdef class EqualCheck(Check):
    kind = "equal"
    cdef public object comparable

    cdef object failure(self, object value):
        if value != self.comparable:
            return worded(self.validator._format_error(value))
        return PASSED


@cython.final
@cython.no_gc_clear
cdef class RegexpCheck(Check):
    kind = "regexp"
    cdef public object match

    cdef object failure(self, object value):
        if self.match(value) is None:
            return worded(self.validator._format_error(value))
        return PASSED


@cython.final
@cython.no_gc_clear
cdef class EmailCheck(Check):
    """Accepts addresses of the common form without a regular expression."""

    kind = "e-mail"

    cdef object failure(self, object value):
        if type(value) is str and althaia_email_is_plain(value):
            return PASSED
        return Check.failure(self, value)


@cython.final
@cython.no_gc_clear
cdef class UrlCheck(Check):
    """Accepts http and https addresses of the common form without a regular expression."""

    kind = "URL"
    cdef public set schemes

    cdef object failure(self, object value):
        if (
            type(value) is str
            and althaia_url_is_plain(value, marshmallow.fragment_follows_host)
            and ("https" if (<str>value)[4] == "s" else "http") in self.schemes
        ):
            return PASSED
        return Check.failure(self, value)


cdef object worded(object message):
    """Return the messages of a ValidationError with this message."""
    return [message] if isinstance(message, (str, bytes)) else message


# ---- Analysis ----------------------------------------------------------------------


def check_for(analysis, validator, field):
    """Return the check for one validator of a field: a compiled one for upstream's own, else one
    that calls the validator."""
    try:
        cls = type(validator)
        upstream = analysis.upstream
        for name, maker in CHECKS.items():
            owner = upstream.validate[name]
            if not isinstance(validator, owner):
                continue
            analysis.watch_type(cls)
            if upstream.defines(cls, "__call__", owner):
                analysis.check_readable(validator)
                analysis.watch_field(validator)
                return maker(analysis, validator)
    except NotPlannable:
        pass
    if analysis.upstream.false_is_an_error and not issubclass(
        type(validator), analysis.upstream.validate["Validator"]
    ):
        return FalseCheck(validator, field=field)
    return Check(validator)


def length_check(analysis, validator):
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
        raise NotPlannable("a bound is no small number")
    return LengthCheck(validator, least=least, most=most)


LONGEST = 2**31 - 1


def range_check(analysis, validator):
    low, high, low_inclusive, high_inclusive = (
        analysis.field_value(validator, name)
        for name in ("min", "max", "min_inclusive", "max_inclusive")
    )
    return RangeCheck(
        validator,
        low=low,
        high=high,
        low_inclusive=bool(low_inclusive),
        high_inclusive=bool(high_inclusive),
    )


def choice_check(analysis, validator, name, wanted):
    return ChoiceCheck(validator, choices=analysis.field_value(validator, name), wanted=wanted)


def equal_check(analysis, validator):
    return EqualCheck(validator, comparable=analysis.field_value(validator, "comparable"))


def regexp_check(analysis, validator):
    regex = analysis.field_value(validator, "regex")
    if type(regex) is not re.Pattern:
        raise NotPlannable("regex is no compiled pattern")
    return RegexpCheck(validator, match=regex.match)


def email_check(analysis, validator):
    owner = analysis.upstream.validate["Email"]
    # The class attributes are the regular expressions that accept addresses of the common form.
    analysis.known("validate.Email")
    for name in ("USER_REGEX", "DOMAIN_REGEX"):
        pattern = analysis.upstream.raw(owner, name)
        found = analysis.state_of(validator).get(name, static(type(validator), name))
        if found is not pattern and (found is not pattern.compiled or found is None):
            raise NotPlannable(f"{name} is not upstream's")
    return EmailCheck(validator)


# The methods that create the regular expression that accepts addresses of the common form.
MEMOIZER = ("__init__", "__call__", "_regex_generator")


def url_check(analysis, validator):
    owner = analysis.upstream.validate["URL"]
    analysis.known(*[f"validate.URL.RegexMemoizer.{name}" for name in MEMOIZER])
    if static(type(validator), "_regex") is not analysis.upstream.raw(owner, "_regex"):
        raise NotPlannable("_regex is not upstream's")
    if analysis.field_value(validator, "absolute") is not True:
        raise NotPlannable("it wants relative addresses")
    schemes = analysis.field_value(validator, "schemes")
    if type(schemes) is not set or not {"http", "https"} <= schemes:
        raise NotPlannable("its schemes are not the web's")
    return UrlCheck(validator, schemes=schemes)


CHECKS = {
    "Length": length_check,
    "Range": range_check,
    "OneOf": partial(choice_check, name="choices", wanted=True),
    "NoneOf": partial(choice_check, name="iterable", wanted=False),
    "Equal": equal_check,
    "Regexp": regexp_check,
    "Email": email_check,
    "URL": url_check,
}
