# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""marshmallow-sqlalchemy: the keys of related objects, ``Related``, and lists of them,
``RelatedList``.

``Related`` asks SQLAlchemy for each value which columns are the keys. They follow from the model
and do not change, so that the step asks once. Loading is left to the field: it queries a session.
"""

cimport cython

from althaia.engine.run.dump cimport DumpFrame, DumpStep

from althaia.engine.steps import PackageKind
from althaia.engine.objects.known_code import is_known
from althaia.engine.plan.not_plannable import NotPlannable
from althaia.engine.upstream import static

RELATED = frozenset({"ce21b53057c57c53", "5d44a677cc8ab9c8"})
"""``Related._serialize`` of 0.29 to 1.3, and of 1.4 to 1.6."""

PROPERTIES = {
    "model": frozenset({"55c8b73b3947fe3e", "1537f93f62c4966c"}),
    "related_model": frozenset({"c11ec12cae76db21", "88f158a8611b1f82", "155b47a87789f7b8"}),
    "related_keys": frozenset({"fbd77ffcffa3b031"}),
}
"""What ``_serialize`` reads of the field, in the same releases."""

PRIMARY_KEYS = frozenset({"dc2182d2d1cf7089", "6f1437856e880c4b"})
"""``get_primary_keys`` of the same releases."""

RELATED_LIST = frozenset({"1169665f97750533"})
"""``RelatedList.get_value`` of 0.29 to 1.6."""


@cython.final
@cython.no_gc_clear
cdef class DumpRelated(DumpStep):
    """``keys``: the names of the related model's keys, found with the first value."""

    kind = "related keys"
    cdef tuple keys

    cdef object convert(self, object value, object obj, DumpFrame frame):
        cdef tuple keys, _before
        with cython.critical_section(self):
            keys = self.keys
        if keys is None:
            keys = keys_of(self.field)
            if keys is None:
                return self.own_field(frame)._serialize(value, self.attr, obj)
            with cython.critical_section(self):
                _before, self.keys = self.keys, keys
        if len(keys) == 1:
            return getattr(value, <str>keys[0], None)
        return {key: getattr(value, key, None) for key in keys}


cdef tuple keys_of(object field):
    """Return the names that the field dumps; None if there are none, or one is no exact str."""
    keys = tuple(dict.fromkeys([prop.key for prop in field.related_keys]))
    return keys if keys and all([type(key) is str for key in keys]) else None


def dump_related(analysis, field, options):
    cls = type(field)
    for name in PROPERTIES:
        raw = static(cls, name)
        if type(raw) is not property or not is_known(raw.fget, PROPERTIES[name]):
            raise NotPlannable(f"{name} is overridden by {analysis.upstream.owner(cls, name)}")
    module = static(cls, "_serialize").__globals__
    if not is_known(analysis.watch_entry(module, "get_primary_keys"), PRIMARY_KEYS):
        raise NotPlannable("get_primary_keys is another one")
    columns = analysis.field_value(field, "columns")
    if type(columns) is list:
        analysis.watch_list(columns)
    elif type(columns) is not tuple:
        raise NotPlannable(f"columns is a {type(columns).__qualname__}")
    if analysis.field_value(field, "root") is not analysis.schema:
        raise NotPlannable("root is not the schema")
    opts = analysis.schema_value("opts")
    analysis.watch_field(opts)
    model = analysis.field_value(opts, "model")
    if isinstance(model, type):
        analysis.watch_type(model)
    return DumpRelated(field, **analysis.with_own_slot(options))


KINDS = (
    PackageKind("marshmallow_sqlalchemy.fields.Related", RELATED, dump=dump_related),
    PackageKind("marshmallow_sqlalchemy.fields.RelatedList", RELATED_LIST, get_value=True),
)
