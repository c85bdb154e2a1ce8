"""Fields that do not convert their values: ``Raw``, and every field that only validates. And
``Inferred``, which converts each value as the field of another class does."""


@cython.no_gc_clear
cdef class DumpInferred(DumpStep):
    """Converts as a field of the class that the schema has for the value's type.

    :param classes: ``Schema.TYPE_MAPPING``, which each value is looked up in.
    :param steps: by class of upstream's: the step of a field that nobody else has. For None, which
        any other type has: that of a field which does not convert.
    :param found: the field's ``_field_cache``, which a program may look into. The first value of
        each class is left to the field, which fills it.
    """

    label = "by the value's type"
    cdef public dict classes, steps, found

    cdef DumpStep step_for(self, value):
        """Return the step that converts a value; None if the field must."""
        cls = self.classes.get(type(value))
        return self.steps.get(cls) if cls is None or cls in self.found else None

    cdef convert(self, value, obj, DumpFrame frame):
        step = self.step_for(value)
        if step is None:
            return self.by_field(value, obj, frame)
        return step.convert(value, obj, frame)

    cdef bint write(self, value, obj, DumpFrame frame, Sink sink) except -1:
        step = self.step_for(value)
        if step is None:
            return DumpStep.write(self, value, obj, frame, sink)
        return step.write(value, obj, frame, sink)


# What upstream has for types of values; no field of another class is made for a plan.
INFERRED = (
    "String", "DateTime", "Float", "Boolean", "Raw", "Integer", "UUID", "Time", "Date",
    "TimeDelta", "Decimal",
)


def dump_inferred(analysis, field, options):
    classes = analysis.schema_value("TYPE_MAPPING")
    if type(classes) is not dict:
        raise NotPlannable(f"TYPE_MAPPING is a {type(classes).__qualname__}")
    if analysis.field_value(field, "parent") is not analysis.schema:
        raise NotPlannable("it was bound to another schema")
    if analysis.inferred is None:
        analysis.inferred = inferred_steps(analysis)
    options = analysis.with_own_slot(options)
    found = analysis.typed_value(field, "_field_cache", dict)
    return DumpInferred(field, classes=classes, steps=analysis.inferred, found=found, **options)


def inferred_steps(analysis):
    """Return the steps that the ``Inferred`` fields of a schema share, by class."""
    cdef dict steps = {}
    for cls in [analysis.upstream.fields[name] for name in INFERRED]:
        for name in ("__init__", "_bind_to_schema"):
            # What these call in turn is another one of the classes'.
            analysis.class_method(definers(cls, name)[0], name)
        field = cls()
        field._bind_to_schema("", analysis.schema)
        step = inner_dump_step(analysis, field, None)
        if step.narrow:
            steps[cls] = step
    steps[None] = steps.get(analysis.upstream.fields["Raw"])
    return steps


KINDS += [
    Kind("Field", dump=maker_of(DumpStep), load=maker_of(LoadStep)),
    Kind("Inferred", dump=dump_inferred),
]
