"""Fields that do not convert their values: ``Raw``, and every field that only validates. And
``Inferred``, which finds the field of another class by each value's type."""


def dump_inferred(analysis, field, options):
    options = analysis.with_own_slot(options)
    return CallDumpStep(field, method_slot=analysis.new_slot(), **options)


KINDS += [
    Kind("Field", dump=maker_of(DumpStep), load=maker_of(LoadStep)),
    Kind("Inferred", dump=dump_inferred),
]
