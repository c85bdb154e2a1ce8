"""Copy the declared fields of an instance that upstream's code makes.

The seam calls :func:`copied_fields` in the place of ``copy.deepcopy``.
"""


cdef object COPY = copy
# Recorded when marshmallow was imported, because a test may have replaced them since.
cdef dict AS_SHIPPED = dict(seam.defined.get("copy", vars(copy)))
cdef object shipped_deepcopy = AS_SHIPPED["deepcopy"]
cdef object shallow_copy = AS_SHIPPED["copy"]
# Methods that ``copy`` looks up on a field's class and ``object.__reduce_ex__`` on the field.
cdef tuple METHODS_OF_COPYING = (
    "__new__", "__reduce_ex__", "__reduce__", "__getstate__", "__getattribute__", "__copy__",
    "__setstate__", "__getnewargs_ex__", "__getnewargs__", "__getattr__",
)


def copied_fields(declared, deepcopy):
    """Return what ``deepcopy(declared)`` returns, in ``Schema.__init__``."""
    if (
        deepcopy is not shipped_deepcopy
        or type(declared) is not dict
        or not copies_simply(<dict>declared)
    ):
        return deepcopy(declared)
    return copies_by_name(declared)


cdef bint copies_simply(dict declared) except -1:
    """Whether ``copy.deepcopy(declared)`` makes a dictionary with a ``copy.copy`` of each field.
    marshmallow-sqlalchemy declares None for a name that ``Meta.exclude`` leaves out."""
    if (
        upstream.live["schema"].get("copy") is not COPY
        or upstream.live["fields"].get("copy") is not COPY
        or COPY.deepcopy is not shipped_deepcopy
        or COPY.copy is not shallow_copy
    ):
        return False
    for name, field in declared.items():
        if type(name) is not str or (field is not None and not copies_as_object(field)):
            return False
    return True


cdef bint copies_as_object(object field) except -1:
    """Whether ``copy.copy`` copies a field by its class and its instance dictionary."""
    if type(althaia_dict_or_none(field)) is not dict:
        return False
    if not upstream.has_passed(type(field), COPIED_AS_OBJECT):
        if not has_simple_copies(type(field)):
            return False
        upstream.note_passed(type(field), COPIED_AS_OBJECT)
    return True


cdef bint has_simple_copies(object cls) except -1:
    """Whether no class of a field's MRO defines a copy method or slots."""
    if althaia_type_lookup(cls, "__deepcopy__") is not upstream.raw(
        upstream.Field, "__deepcopy__"
    ):
        return False
    for name in METHODS_OF_COPYING:
        if static(cls, name) is not object.__dict__.get(name, ABSENT):
            return False
    # clone() does not copy slots.
    return cls.__basicsize__ == upstream.Field.__basicsize__
