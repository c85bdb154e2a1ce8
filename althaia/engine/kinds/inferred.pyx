"""``Inferred``: a field that converts each value by its type.

Releases before 4 make one for each name of ``Meta.fields`` and ``Meta.additional`` that has no
declared field.
"""


@cython.final
@cython.no_gc_clear
cdef class DumpInferred(DumpStep):
    """Converts a value by the step of the field class that its type stands for.

    :param mapping: the schema's ``TYPE_MAPPING``, a field class by type; read for each value.
    :param field_cache: the field's ``_field_cache``, the fields that upstream's code has created.
    :param steps: the step of a field of each class for which there is one.

    Upstream's code converts the first value of each class and stores the field that it makes. A
    lazy instance gets its own copies of these fields when it is materialised.
    """

    kind = "by the value's type"
    cdef public dict mapping, field_cache, steps

    cdef object convert(self, object value, object obj, DumpFrame frame):
        cdef object cls = self.mapping.get(type(value))
        cdef object step
        if cls is None:
            return value
        step = self.steps.get(cls)
        if step is None:
            return self.own_field(frame)._serialize(value, self.attr, obj)
        if cls not in self.field_cache:
            return self.field._serialize(value, self.attr, obj)
        return (<DumpStep>step).convert(value, obj, frame)


# ---- Analysis ----------------------------------------------------------------------


def dump_inferred(analysis, field, options):
    upstream = analysis.upstream
    mapping = analysis.schema_value("TYPE_MAPPING")
    field_cache = analysis.field_value(field, "_field_cache")
    if type(mapping) is not dict or type(field_cache) is not dict:
        raise NotPlannable("TYPE_MAPPING or _field_cache is no plain dictionary")
    for name in ("parent", "root"):
        if analysis.field_value(field, name) is not analysis.schema:
            raise NotPlannable("it stands inside another field")
    # For values of other types Inferred calls its base's.
    analysis.class_method(upstream.Field, "_serialize")
    steps = {}
    for cls in {id(cls): cls for cls in mapping.values()}.values():
        step = step_of(analysis, cls) if cls in seam.pristine else None
        if step is not None:
            steps[cls] = step
    options = analysis.with_own_slot(options)
    return DumpInferred(field, mapping=mapping, field_cache=field_cache, steps=steps, **options)


def step_of(analysis, cls):
    """Return the step of a field of one of upstream's classes, or None if it has none.

    The inferred fields of a schema share it: such a step does not depend on the field's name.
    """
    if cls not in analysis.shared:
        analysis.watch_type(cls)
        for method in ("__init__", "_bind_to_schema"):
            for owner in definers(cls, method):
                if owner is not object:
                    analysis.class_method(owner, method)
        field = cls()
        field._bind_to_schema("", analysis.schema)
        step = inner_dump_step(analysis, field, "")
        analysis.shared[cls] = step if step.narrow else None
    return analysis.shared[cls]


cdef tuple INFERRED = (Kind("Inferred", dump=dump_inferred),)
