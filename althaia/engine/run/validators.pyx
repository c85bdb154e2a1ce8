"""Checks: compiled forms of upstream's own validators, and calls of all others.

Each check replaces one validator. A value that is certainly valid passes, and one that is certainly
invalid is refused by a message, without a call. Any other value is passed to the validator itself.
"""

cdef extern from "althaia/engine/run/addresses.h":
    bint althaia_email_is_plain(object text)
    bint althaia_url_is_plain(object text, bint fragments)

cdef object PASSED = object()


@cython.no_gc_clear
cdef class Check:
    """One validator of a field. This base class calls it.

    :param text: its message for a refused value.
    :param low_text: its message for a value that is too small or too short.
    :param words: what the messages name in braces; None if its own ``_format_error`` is called.
    """

    label = "called"

    def __init__(self, validator, **own):
        self.validator = validator
        set_attributes(self, own)

    cdef failure(self, value):
        """Return PASSED or the messages. A ValidationError of user code propagates."""
        self.validator(value)
        return PASSED

    cdef refusal(self, text, value):
        """Return the messages for a value that the validator refuses."""
        message = None if self.words is None else message_of(text, self.words, value)
        # If there is none, the validator itself refuses the value.
        return Check.failure(self, value) if message is None else [message]


@cython.final
@cython.no_gc_clear
cdef class LengthCheck(Check):
    label = "length"
    cdef public Py_ssize_t least, most

    cdef failure(self, value):
        cdef Py_ssize_t size
        if type(value) is str:
            size = len(<str>value)
        elif type(value) is list or type(value) is dict or type(value) is tuple:
            size = len(value)
        else:
            return Check.failure(self, value)
        if size < self.least:
            return self.refusal(self.low_text, value)
        return PASSED if size <= self.most else self.refusal(self.text, value)


@cython.final
@cython.no_gc_clear
cdef class RangeCheck(Check):
    label = "range"
    cdef public object low, high
    cdef public bint low_inclusive, high_inclusive

    cdef failure(self, value):
        if type(value) is not int and type(value) is not float:
            return Check.failure(self, value)
        if self.low is not None and (
            value < self.low if self.low_inclusive else value <= self.low
        ):
            return self.refusal(self.low_text, value)
        if self.high is not None and (
            value > self.high if self.high_inclusive else value >= self.high
        ):
            return self.refusal(self.text, value)
        return PASSED


@cython.final
@cython.no_gc_clear
cdef class ChoiceCheck(Check):
    """``OneOf``."""

    label = "choice"
    cdef public object choices

    cdef failure(self, value):
        try:
            if value in self.choices:
                return PASSED
        except TypeError:
            # As in upstream, a value that cannot be compared is none of them.
            pass
        return self.refusal(self.text, value)


@cython.final
@cython.no_gc_clear
cdef class RegexpCheck(Check):
    label = "regexp"
    cdef public object match

    cdef failure(self, value):
        if self.match(value) is None:
            return self.refusal(self.text, value)
        return PASSED


@cython.final
@cython.no_gc_clear
cdef class EmailCheck(Check):
    """Accepts addresses of the common form without a regular expression."""

    label = "e-mail"

    cdef failure(self, value):
        if type(value) is str:
            if althaia_email_is_plain(value):
                return PASSED
            if "@" not in <str>value:
                return self.refusal(self.text, value)
        return Check.failure(self, value)


@cython.final
@cython.no_gc_clear
cdef class UrlCheck(Check):
    """Accepts http and https addresses of the common form without a regular expression."""

    label = "URL"
    cdef public set schemes
    cdef public bint absolute

    cdef failure(self, value):
        if type(value) is str:
            if (
                althaia_url_is_plain(value, upstream.fragment_follows_host)
                and ("https" if (<str>value)[4] == "s" else "http") in self.schemes
            ):
                return PASSED
            if self.absolute and "://" not in <str>value:
                return self.refusal(self.text, value)
        return Check.failure(self, value)


# ---- Analysis ----------------------------------------------------------------------


def check_for(analysis, validator):
    """Return the check for one validator of a field: a compiled one for upstream's own, else one
    that calls the validator.

    :raises NotPlannable: in this release a function that returns False has refused the value, and
        ``And`` warns of it at the line that calls ``And``.
    """
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
    known = analysis.upstream.validate
    if analysis.upstream.false_is_an_error and (
        isinstance(validator, known["And"]) or not issubclass(type(validator), known["Validator"])
    ):
        raise NotPlannable("a validator may return False")
    return Check(validator)


def wording(analysis, validator, name, low="", high="", **words):
    """Return what a check needs to make the messages of a validator, as keyword arguments; nothing
    if only the validator can make them.

    :param name: the class whose ``_format_error`` it must have.
    :param low, high: the attributes with the messages if no ``error`` is given.
    :param words: what messages may name, and the validator's attribute for it.
    """
    try:
        analysis.field_method(validator, "_format_error", analysis.upstream.validate[name])
        error = analysis.field_value(validator, "error")
        texts = [
            error if error or not each else analysis.field_value(validator, each)
            for each in (low, high)
        ]
        named = {word: analysis.field_value(validator, words[word]) for word in words}
    except NotPlannable:
        return {}
    if error is not None and type(error) is not str:
        return {}
    return {
        "words": {**INPUT_WORD, **named} if named else INPUT_WORD,
        "low_text": texts[0],
        "text": texts[1],
    }


def bounds(analysis, validator):
    """Return the attributes with the messages for a value below and above the bounds of ``Length``
    or ``Range``."""
    low, high = (analysis.field_value(validator, name) for name in ("min", "max"))
    both = low is not None and high is not None
    return {"low": "message_all" if both else "message_min",
            "high": "message_all" if both else "message_max"}


def length_check(analysis, validator):
    texts = bounds(analysis, validator)
    least, most, equal = (analysis.field_value(validator, name) for name in ("min", "max", "equal"))
    if equal is not None:
        least = most = equal
        texts = {"low": "message_equal", "high": "message_equal"}
    least = 0 if least is None else least
    most = LONGEST if most is None else most
    if not all([type(each) is int and abs(each) <= LONGEST for each in (least, most)]):
        raise NotPlannable("a bound is no small number")
    said = wording(analysis, validator, "Length", **texts, **LIMITS, equal="equal")
    return LengthCheck(validator, least=least, most=most, **said)


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
        **wording(analysis, validator, "Range", **bounds(analysis, validator), **LIMITS),
    )


LIMITS = {"min": "min", "max": "max"}


def choice_check(analysis, validator):
    said = wording(analysis, validator, "OneOf", choices="choices_text", labels="labels_text")
    return ChoiceCheck(validator, choices=analysis.field_value(validator, "choices"), **said)


def regexp_check(analysis, validator):
    regex = analysis.typed_value(validator, "regex", re.Pattern)
    said = wording(analysis, validator, "Regexp")
    if said:
        said["words"] = {**INPUT_WORD, "regex": regex.pattern}
    return RegexpCheck(validator, match=regex.match, **said)


def email_check(analysis, validator):
    owner = analysis.upstream.validate["Email"]
    # The class attributes are the regular expressions that accept addresses of the common form.
    analysis.require_reviewed("validate.Email")
    for name in ("USER_REGEX", "DOMAIN_REGEX"):
        pattern = analysis.upstream.raw(owner, name)
        found = analysis.state_of(validator).get(name, static(type(validator), name))
        if found is not pattern and (found is not pattern.compiled or found is None):
            raise NotPlannable(f"{name} is not upstream's")
    return EmailCheck(validator, **wording(analysis, validator, "Email"))


# The methods that create the regular expression that accepts addresses of the common form.
MEMOIZER = ("__init__", "__call__", "_regex_generator")


def url_check(analysis, validator):
    owner = analysis.upstream.validate["URL"]
    analysis.require_reviewed(*[f"validate.URL.RegexMemoizer.{name}" for name in MEMOIZER])
    if static(type(validator), "_regex") is not analysis.upstream.raw(owner, "_regex"):
        raise NotPlannable("_regex is not upstream's")
    if (
        analysis.upstream.urls_have_absolute
        and analysis.field_value(validator, "absolute") is not True
    ):
        raise NotPlannable("it wants relative addresses")
    schemes = analysis.typed_value(validator, "schemes", set)
    if not {"http", "https"} <= schemes:
        raise NotPlannable("its schemes are not the web's")
    absolute = analysis.field_value(validator, "relative") is False
    said = wording(analysis, validator, "URL")
    return UrlCheck(validator, schemes=schemes, absolute=absolute, **said)


CHECKS = {
    "Length": length_check,
    "Range": range_check,
    "OneOf": choice_check,
    "Regexp": regexp_check,
    "Email": email_check,
    "URL": url_check,
}
