"""``Enum``: members of an enum, by name, by value or by a field that the user gives."""

# ---- Dump --------------------------------------------------------------------------


@cython.no_gc_clear
cdef class DumpEnum(DumpStep):
    """Dumps a member's name or value by an inner step.

    ``enum_class`` is the class whose members have the standard ``name`` and ``value``, which are
    read from ``_name_`` and ``_value_``; or None.
    """

    label = "enum"
    cdef public object enum_class
    cdef public bint by_value
    cdef public DumpStep converter

    cdef convert(self, value, obj, DumpFrame frame):
        if value is None:
            return None
        if type(value) is self.enum_class:
            value = value._value_ if self.by_value else value._name_
        else:
            value = value.value if self.by_value else value.name
        return self.converter.convert(value, obj, frame)

    def inner(self):
        return {"value" if self.by_value else "name": self.converter}


# ---- Load --------------------------------------------------------------------------


@cython.no_gc_clear
cdef class LoadEnum(LoadStep):
    """Finds a member in the dictionary in which the enum class keeps its members."""

    label = "enum"
    cdef public object enum_class
    cdef public dict members, words
    cdef public bint by_value
    cdef public LoadStep converter

    cdef convert(self, value, data, LoadFrame frame):
        if type(value) is str or (self.by_value and type(value) is int):
            member = althaia_dict_item(self.members, value, None)
            if member is not None:
                return member
            if self.is_no_member(value):
                return self.refuse("unknown", self.words, value, data, frame)
        return self.by_field(value, data, frame)

    cdef bint is_no_member(self, value):
        """Return whether the enum class knows no other way to find a member."""
        if self.by_value:
            return static(self.enum_class, "_missing_") is FINDS_NOTHING
        # Some releases look the name up as an attribute.
        return static(self.enum_class, value) is ABSENT and static(EnumMeta, value) is ABSENT

    def inner(self):
        return {"member": self.converter}


# ---- Analysis ----------------------------------------------------------------------


# Taken from a member, because a test may have replaced the class in its module by now.
*_derived, Enum, _object = type(enum.STRICT).__mro__
EnumMeta = type(Enum)
FINDS_NOTHING = Enum.__dict__["_missing_"]
ENUM_ATTRIBUTES = {"name": Enum.__dict__["name"], "value": Enum.__dict__["value"]}


def dump_enum(analysis, field, options):
    by_value = analysis.field_value(field, "by_value")
    given_a_field = isinstance(by_value, analysis.upstream.Field) or isinstance(by_value, type)
    if type(by_value) is not bool and not given_a_field:
        raise NotPlannable("by_value is neither True nor False nor a field")
    converter = inner_dump_step(analysis, analysis.field_value(field, "field"), options["attr"])
    name = "value" if by_value else "name"
    return DumpEnum(
        field,
        enum_class=stock_enum(analysis, analysis.field_value(field, "enum"), name),
        by_value=bool(by_value),
        converter=converter,
        **options,
    )


def stock_enum(analysis, cls, name):
    """Return the enum class if its members' ``name`` or ``value`` is the standard one, else None.
    The guard watches the class."""
    if not isinstance(cls, type):
        return None
    analysis.watch_type(cls)
    is_stock = (
        static(cls, name) is ENUM_ATTRIBUTES[name]
        and static(cls, "__getattribute__") is object.__getattribute__
    )
    return cls if is_stock else None


def load_enum(analysis, field, options):
    by_value = analysis.field_value(field, "by_value")
    if type(by_value) is not bool:
        raise NotPlannable("it loads by a field of the user's")
    cls = analysis.field_value(field, "enum")
    if type(cls) is not EnumMeta:
        raise NotPlannable("its enum looks members up in its own way")
    analysis.watch_type(cls)
    members = cls._value2member_map_ if by_value else cls._member_map_
    if type(members) is not dict:
        raise NotPlannable("its enum keeps its members in no plain dictionary")
    converter = load_conversion(analysis, analysis.field_value(field, "field"))
    if type(converter) is not (LoadStep if by_value else LoadText):
        raise NotPlannable("its inner field is none of upstream's")
    return LoadEnum(
        field,
        enum_class=cls,
        members=members,
        words={"choices": analysis.field_value(field, "choices_text")},
        by_value=by_value,
        converter=converter,
        **options,
    )


KINDS.append(Kind("Enum", dump=dump_enum, load=load_enum))
