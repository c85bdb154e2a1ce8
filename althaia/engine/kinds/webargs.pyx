"""webargs: lists and tuples as one delimited text, ``DelimitedList`` and ``DelimitedTuple``.

The mixin joins the items that its base dumps, and splits the text for its base to load. Its two
methods are recognised by the digests of their sources. If a release has other sources, the field's
own methods run.
"""

WITHOUT_EMPTY_VALUE = frozenset({"82d51b583dcccbd7"})
"""``DelimitedFieldMixin._deserialize`` of 8.0 to 8.3: an empty item stays empty."""

DIGESTS = frozenset({"3f9a6cdae3804d35", "61e89781272be632"}) | WITHOUT_EMPTY_VALUE
"""``DelimitedFieldMixin._serialize`` of 8.0 to 8.7, its ``_deserialize`` of 8.4 to 8.7."""


@cython.no_gc_clear
cdef class DumpDelimited(DumpStep):
    """``size``: the number of items of a tuple; -1 for a list."""

    label = "delimited text"
    cdef public DumpStep items
    cdef public str delimiter
    cdef public Py_ssize_t size

    cdef convert(self, value, obj, DumpFrame frame):
        if self.size >= 0 and (type(value) is not tuple or len(<tuple>value) != self.size):
            return self.by_field(value, obj, frame)
        value = self.items.convert(value, obj, frame)
        # In a generator, as in upstream: a value that is not iterable then raises the same error.
        return self.delimiter.join(formatted(value))

    def inner(self):
        return self.items.inner()


def formatted(values):
    """Return an iterator over the texts to join."""
    return (format(each) for each in values)


@cython.no_gc_clear
cdef class LoadDelimited(LoadStep):
    """``size`` as in a dump."""

    label = "delimited text"
    cdef public LoadStep items
    cdef public str delimiter
    cdef public object empty
    cdef public Py_ssize_t size

    cdef convert(self, value, data, LoadFrame frame):
        cdef list values
        if type(value) is not str:
            return self.by_field(value, data, frame)
        values = (<str>value).split(self.delimiter) if value else []
        if self.size >= 0 and len(values) != self.size:
            return self.by_field(value, data, frame)
        return self.items.convert([each or self.empty for each in values], data, frame)

    def inner(self):
        return self.items.inner()


def dump_delimited(analysis, field, options):
    delimiter, size = checked(analysis, field, "_serialize")
    # The step around it reads the value; this one only converts.
    items = (dump_list if size < 0 else dump_tuple)(analysis, field, {"attr": options["attr"]})
    return DumpDelimited(
        field, items=items, delimiter=delimiter, size=size, **analysis.with_own_slot(options)
    )


def load_delimited(analysis, field, options):
    delimiter, size = checked(analysis, field, "_deserialize")
    items = (load_list if size < 0 else load_tuple)(analysis, field, {})
    empty = ""
    if not is_known(static(type(field), "_deserialize"), WITHOUT_EMPTY_VALUE):
        empty = analysis.field_value(field, "empty_value")
    return LoadDelimited(
        field,
        items=items,
        delimiter=delimiter,
        size=size,
        empty=empty,
        **analysis.with_own_slot(options),
    )


def checked(analysis, field, method):
    """Return a field's delimiter and its number of items; -1 for a list.

    :raises NotPlannable: ``super()`` in the mixin's method is neither ``List`` nor ``Tuple``.
    """
    owners = definers(type(field), method)[1:2]
    bases = [analysis.upstream.fields[name] for name in ("List", "Tuple")]
    if not owners or owners[0] not in bases:
        raise NotPlannable(f"{method} of DelimitedFieldMixin goes on to neither List nor Tuple")
    analysis.class_method(owners[0], method)
    delimiter = analysis.typed_value(field, "delimiter", str)
    if not delimiter:
        raise NotPlannable("delimiter is empty")
    return delimiter, -1 if owners[0] is bases[0] else len(tuple_fields(analysis, field))


PACKAGES.append(
    Kind(
        "webargs.fields.DelimitedFieldMixin",
        digests=DIGESTS,
        dump=dump_delimited,
        load=load_delimited,
    )
)
