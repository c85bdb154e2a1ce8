"""Numbers: ``Integer``, ``Float``, ``Decimal``."""

# Taken from a number, because a test may have replaced the class in its module by now.
cdef object Decimal = type(decimal.DefaultContext.create_decimal())
cdef object InvalidOperation = decimal.InvalidOperation
cdef object getcontext = decimal.getcontext
cdef bint HAS_CONTEXT = type(decimal.getcontext) is BuiltinFunctionType
cdef object IS_NAN = math.isnan if type(math.isnan) is BuiltinFunctionType else None


cdef quantized(number, places, rounding):
    """Return ``number.quantize(places, rounding=rounding)``. Keywords take as long as the rest."""
    return number.quantize(places) if rounding is None else number.quantize(places, rounding)


# ---- Dump --------------------------------------------------------------------------


@cython.no_gc_clear
cdef class DumpNumber(DumpStep):
    """Converts to ``num_type``, int or float."""

    cdef public str label
    cdef public object num_type
    cdef public bint as_string

    cdef convert(self, value, obj, DumpFrame frame):
        if value is None:
            return None
        if type(value) is not self.num_type:
            value = self.num_type(value)
        return str(value) if self.as_string else value


@cython.no_gc_clear
cdef class DumpDecimal(DumpStep):
    """:param decimals: the digits after the point that quantizing leaves; 0 if not known."""

    label = "decimal"
    cdef public bint as_string, allow_nan
    cdef public object places, rounding
    cdef public Py_ssize_t decimals

    cdef convert(self, value, obj, DumpFrame frame):
        text = None
        if value is None:
            return None
        if type(value) is not Decimal or self.allow_nan:
            return self.by_field(value, obj, frame)
        # Upstream computes Decimal(str(d)), which equals d in all digits, sign and payload.
        if self.as_string and self.decimals:
            text = str(value)
            # A number that has its decimals already stays as it is, unless it has too many digits.
            if has_decimals(text, self.decimals) and len(<str>text) <= getcontext().prec:
                return text
        if self.places is not None and value.is_finite():
            value = quantized(value, self.places, self.rounding)
            text = None
        if not self.as_string:
            return value
        # Without an exponent str() gives the same text in a third of the time.
        if text is None:
            text = str(value)
        return format(value, "f") if "E" in text or "e" in text else text


cdef bint has_decimals(str text, Py_ssize_t decimals) noexcept:
    """Return whether the text of a Decimal ends in a point and so many digits."""
    cdef Py_ssize_t at, point = len(text) - 1 - decimals
    if point < 1 or text[point] != ".":
        return False
    for at in range(point + 1, len(text)):
        if not "0" <= text[at] <= "9":
            return False
    return True


# ---- Load --------------------------------------------------------------------------


@cython.no_gc_clear
cdef class LoadInteger(LoadStep):
    label = "int"
    cdef public bint strict

    cdef convert(self, value, data, LoadFrame frame):
        cdef str key = "invalid"
        if type(value) is int:
            return value
        if not is_of_json(value):
            return self.by_field(value, data, frame)
        # Making the message of int()'s exception takes most of the time of a refusal.
        if not self.strict and type(value) is not bool and not (
            type(value) is str and (<str>value)[:1].isalpha()
        ):
            try:
                return int(value)
            except (TypeError, ValueError):
                pass
            except OverflowError:
                key = "too_large"
        return self.refuse(key, INPUT_WORD, value, data, frame)


@cython.no_gc_clear
cdef class LoadFloat(LoadStep):
    label = "float"
    cdef public bint allow_nan

    cdef convert(self, value, data, LoadFrame frame):
        converted = value if type(value) is float else None
        cdef str key = "invalid"
        if type(value) is float and (self.allow_nan or isfinite(<double>value)):
            return value
        if type(value) is int or type(value) is str:
            try:
                converted = float(value)
            except (TypeError, ValueError):
                pass
            except OverflowError:
                key = "too_large"
        # Outside the except block, so that errors of the field's own code do not get the first
        # error as their __context__.
        if converted is None:
            return self.refuse_json(key, INPUT_WORD, value, data, frame)
        if not self.allow_nan and not isfinite(<double>converted):
            return self.refuse("special", NO_WORDS, value, data, frame)
        return converted


@cython.no_gc_clear
cdef class LoadDecimal(LoadStep):
    label = "decimal"
    cdef public object places, rounding

    cdef convert(self, value, data, LoadFrame frame):
        number = None
        cdef bint invalid = False
        if type(value) is str or type(value) is int or type(value) is float:
            try:
                number = Decimal(value if type(value) is str else str(value))
            except InvalidOperation:
                invalid = True
            except ValueError:
                pass
        elif type(value) is Decimal:
            number = value
        if number is not None and number.is_finite():
            if self.places is None:
                return number
            try:
                number = quantized(number, self.places, self.rounding)
                # If the context does not trap InvalidOperation, quantize() returns NaN for a value
                # with too many digits.
                if number.is_finite():
                    return number
            except InvalidOperation:
                invalid = True
            except (TypeError, ValueError, OverflowError):
                pass
        if invalid:
            return self.refuse("invalid", NO_WORDS, value, data, frame)
        return self.by_field(value, data, frame)


# ---- Analysis ----------------------------------------------------------------------

ROUNDINGS = {value for name, value in vars(decimal).items() if name.startswith("ROUND_")}


def dump_number(analysis, field, options):
    is_decimal = isinstance(field, analysis.upstream.fields["Decimal"])
    owner = analysis.upstream.fields["Decimal" if is_decimal else "Number"]
    analysis.field_method(field, "_format_num", owner)
    analysis.field_method(field, "_to_string", owner)
    options = options | {"as_string": analysis.typed_value(field, "as_string", bool)}
    if is_decimal:
        check_decimal(analysis)
        allow_nan = analysis.typed_value(field, "allow_nan", bool)
        rounds = places_of(analysis, field)
        return DumpDecimal(
            field, allow_nan=allow_nan, decimals=decimals_of(**rounds), **rounds, **options
        )
    num_type = analysis.field_value(field, "num_type")
    if num_type is not int and num_type is not float:
        raise another_type(num_type)
    return DumpNumber(field, label=num_type.__name__, num_type=num_type, **options)


def another_type(num_type):
    return NotPlannable(f"num_type is {getattr(num_type, '__qualname__', num_type)!s}")


def places_of(analysis, field):
    """Return how a Decimal rounds, as keyword arguments of a step."""
    return {name: analysis.field_value(field, name) for name in ("places", "rounding")}


def decimals_of(places, rounding):
    """Return how many digits a Decimal has after the point when it is quantized, which cannot fail
    by ``rounding``; 0 if there are none or it is not known."""
    if not HAS_CONTEXT or type(places) is not Decimal or not places.is_finite() or not (
        rounding is None or (type(rounding) is str and rounding in ROUNDINGS)
    ):
        return 0
    return max(0, -places.as_tuple().exponent)


def load_number(analysis, field, options):
    fields = analysis.upstream.fields
    number, integer, floating = fields["Number"], fields["Integer"], fields["Float"]
    is_decimal = isinstance(field, fields["Decimal"])
    if "_validated" in analysis.state_of(field):
        raise NotPlannable("_validated is set on the field instance")
    analysis.field_method(field, "_format_num", fields["Decimal"] if is_decimal else number)
    validated = definers(type(field), "_validated")
    for owner in validated:
        analysis.class_method(owner, "_validated")
    if is_decimal:
        if validated != [fields["Decimal"], number]:
            raise NotPlannable("_validated is not upstream's alone")
        check_decimal(analysis)
        analysis.field_value(field, "allow_nan")
        return LoadDecimal(field, **places_of(analysis, field), **options)
    num_type = analysis.field_value(field, "num_type")
    if num_type is int and validated in ([integer, number], [number]):
        strict = validated[0] is integer and analysis.typed_value(field, "strict", bool)
        if strict:
            analysis.field_function("fields", "numbers")
        return LoadInteger(field, strict=strict, **options)
    if num_type is float and validated == [floating, number]:
        analysis.field_function("fields", "math")
        analysis.watch_original(math, "isnan", IS_NAN)
        allow_nan = analysis.field_value(field, "allow_nan") is not False
        return LoadFloat(field, allow_nan=allow_nan, **options)
    raise another_type(num_type)


def check_decimal(analysis):
    """Make sure that upstream creates its numbers by the standard library's Decimal."""
    if analysis.watch_entry(analysis.upstream.live["fields"], "decimal") is not decimal:
        raise NotPlannable("marshmallow.fields.decimal is replaced")
    analysis.watch_original(decimal, "Decimal", Decimal)


# Integer, Float and Decimal take `_serialize` and `_deserialize` from this class.
KINDS.append(Kind("Number", dump=dump_number, load=load_number))
