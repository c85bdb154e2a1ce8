"""Fields that do not convert their values: ``Raw``, and every field that only validates."""


def dump_raw(analysis, field, options):
    return DumpStep(field, **options)


def load_raw(analysis, field, options):
    return LoadStep(field, **options)


cdef tuple RAW = (Kind("Field", dump=dump_raw, load=load_raw),)
