"""Fields that do not convert their values: ``Raw``, and every field that only validates. And
``Inferred``, which finds the field of another class by each value's type."""


def dump_raw(analysis, field, options):
    return DumpStep(field, **options)


def load_raw(analysis, field, options):
    return LoadStep(field, **options)


def dump_inferred(analysis, field, options):
    options = analysis.with_own_slot(options)
    return CallDumpStep(field, method_slot=analysis.new_slot(), **options)


KINDS += [
    Kind("Field", dump=dump_raw, load=load_raw),
    Kind("Inferred", dump=dump_inferred),
]
