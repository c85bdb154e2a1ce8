"""marshmallow-sqlalchemy: the keys of related objects, ``Related``.

``Related`` asks SQLAlchemy for each value which columns are the keys. They follow from the model
and do not change, so that the step asks once. Loading is left to the field: it queries a session.

Each ``load`` and ``validate`` of its schemas calls ``_cast_data``, which returns what it is given.
To please type checkers it reads marshmallow's version from the installed files, which takes up to a
hundred times as long as the load itself. The first planned load replaces it.
"""

RELATED = frozenset({"c273ac938c15ed12", "da05db81be5cf110"})
"""``Related._serialize`` of 0.28 to 1.3, and of 1.4 to 1.6."""

PROPERTIES = {
    "model": frozenset({"fc0a6f0ca16e2eba", "7d07ace7c923457f"}),
    "related_model": frozenset({"877067faa9fd4c64", "8a56813055a9f6eb", "38a7ac2157da8f5a"}),
    "related_keys": frozenset({"19448a7b2203e681"}),
}
"""What ``_serialize`` reads of the field, in the same releases."""

PRIMARY_KEYS = frozenset({"4e64c24c4063f9ee"})
"""``get_primary_keys`` of the same releases."""

LOADED = frozenset({"18f14f10db682326", "33a873d31ca69612"})
"""``LoadInstanceMixin.Schema.load`` of 1.4.1, and of 1.4.2 to 1.6: it calls ``_cast_data``."""

CAST_DATA = frozenset({"c59f1c3e22ed0273", "cbaf62c091522825"})
"""``_cast_data`` of 1.4.1, and of 1.4.2 to 1.6: it returns what it is given."""


@cython.no_gc_clear
cdef class DumpRelated(DumpStep):
    """``keys``: the names of the related model's keys, found with the first value."""

    label = "related keys"
    cdef tuple keys

    cdef convert(self, value, obj, DumpFrame frame):
        cdef tuple keys, _before
        with cython.critical_section(self):
            keys = self.keys
        if keys is None:
            keys = keys_of(self.field)
            if keys is None:
                return self.by_field(value, obj, frame)
            with cython.critical_section(self):
                _before, self.keys = self.keys, keys
        if len(keys) == 1:
            return getattr(value, <str>keys[0], None)
        return {key: getattr(value, key, None) for key in keys}


cdef tuple keys_of(field):
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
    analysis.watch_list(analysis.typed_value(field, "columns", list))
    if analysis.field_value(field, "root") is not analysis.schema:
        raise NotPlannable("root is not the schema")
    opts = analysis.schema_value("opts")
    analysis.watch_field(opts)
    model = analysis.field_value(opts, "model")
    if isinstance(model, type):
        analysis.watch_type(model)
    return DumpRelated(field, **analysis.with_own_slot(options))


def _cast_data(data):
    return data


def answer_once(load):
    """Replace the ``_cast_data`` that a ``load`` calls, unless somebody else has replaced it.

    The present load has called it, so that it finds a version.
    """
    namespace = load.__globals__
    theirs = namespace.get("_cast_data")
    if is_known(theirs, CAST_DATA):
        seam.replaced.append((namespace, "_cast_data", theirs, _cast_data))
        namespace["_cast_data"] = _cast_data


PACKAGES += [
    Kind(
        "marshmallow_sqlalchemy.load_instance_mixin.LoadInstanceMixin.Schema",
        digests=LOADED,
        prepare_load=(answer_once, "marshmallow's version is looked up once, not in each call"),
    ),
    Kind("marshmallow_sqlalchemy.fields.Related", digests=RELATED, dump=dump_related),
]
