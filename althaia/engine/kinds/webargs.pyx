# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""webargs: lists that are one text, ``DelimitedList``.

The mixin joins what ``List`` dumps and splits what it loads. Its two methods are recognised by the
digests of their sources; of a release that nobody has read, the field's own methods run.
"""

cimport cython

from althaia.engine.run.dump cimport DumpFrame, DumpStep
from althaia.engine.run.load_step cimport LoadFrame, LoadStep

from althaia.engine.analysis.steps import PackageKind
from althaia.engine.kinds.containers import dump_list, load_list
from althaia.engine.plan.not_plannable import NotPlannable
from althaia.engine.upstream import definers

DIGESTS = frozenset({"3c8b0360132b7fd6", "efd3408f9dd69222"})
"""``DelimitedFieldMixin._serialize`` of 8.0 to 8.7, its ``_deserialize`` of 8.4 to 8.7."""


@cython.final
@cython.no_gc_clear
cdef class DumpDelimited(DumpStep):
    kind = "delimited list"
    cdef DumpStep items
    cdef str delimiter

    def __init__(self, field, *, DumpStep items, str delimiter, **options):
        DumpStep.__init__(self, field, **options)
        self.items = items
        self.delimiter = delimiter

    cdef object convert(self, object value, object obj, DumpFrame frame):
        # In a generator, as upstream: what is not iterable, or ends the iteration, fails alike.
        return self.delimiter.join(formatted(self.items.convert(value, obj, frame)))

    def inner(self):
        return self.items.inner()


def formatted(values):
    """What is joined, one by one."""
    return (format(each) for each in values)


@cython.final
@cython.no_gc_clear
cdef class LoadDelimited(LoadStep):
    kind = "delimited list"
    cdef LoadStep items
    cdef str delimiter
    cdef object empty

    def __init__(self, field, *, LoadStep items, str delimiter, empty, **options):
        LoadStep.__init__(self, field, **options)
        self.items = items
        self.delimiter = delimiter
        self.empty = empty

    cdef object convert(self, object value, object data, LoadFrame frame):
        cdef list values
        if type(value) is not str:
            return self.own(value, data, frame)
        values = (<str>value).split(self.delimiter) if value else []
        return self.items.convert([each or self.empty for each in values], data, frame)

    def inner(self):
        return self.items.inner()


def dump_delimited(analysis, field, options):
    delimiter = checked_delimiter(analysis, field, "_serialize")
    # What it is inside says where the value comes from.
    items = dump_list(analysis, field, {"attr": options["attr"]})
    return DumpDelimited(field, items=items, delimiter=delimiter, **options)


def load_delimited(analysis, field, options):
    delimiter = checked_delimiter(analysis, field, "_deserialize")
    items = load_list(analysis, field, {})
    empty = analysis.field_value(field, "empty_value")
    if "own_slot" not in options:
        options = options | {"own_slot": analysis.new_slot()}
    return LoadDelimited(field, items=items, delimiter=delimiter, empty=empty, **options)


def checked_delimiter(analysis, field, method):
    """A field's delimiter.

    :raises NotPlannable: ``super()`` in the mixin's method is not ``List``.
    """
    items = analysis.upstream.fields["List"]
    owners = definers(type(field), method)
    if owners[1:2] != [items]:
        raise NotPlannable(f"{method} of DelimitedFieldMixin goes on to another than List's")
    analysis.class_method(items, method)
    delimiter = analysis.field_value(field, "delimiter")
    if type(delimiter) is not str or not delimiter:
        raise NotPlannable("delimiter is no text")
    return delimiter


KINDS = (
    PackageKind(
        "webargs.fields.DelimitedFieldMixin", DIGESTS, dump=dump_delimited, load=load_delimited
    ),
)
