"""Reads the settings of a call once, before the call runs.

Each function returns a setting as upstream first reads it: the argument of the call, else the
schema's. It returns ``EXTRAORDINARY`` if reading the setting, or converting it to bool, would run
user code. The call is then left to upstream's code, which reads it in its documented order.
"""

cdef tuple UNKNOWN = ("exclude", "include", "raise")


cdef setting(schema, str name):
    """Return ``getattr(schema, name)`` for a schema with a plan: its class does not compute it."""
    state = existing_dict(schema)
    return EXTRAORDINARY if state is None else althaia_dict_item(state, name, EXTRAORDINARY)


cdef many_of(schema, given):
    """Return ``many``: the argument converted to bool, else the schema's value."""
    many = setting(schema, "many") if given is None else given
    if not is_plain_flag(many):
        return EXTRAORDINARY
    return many if given is None else bool(many)


cdef unknown_of(schema, given):
    """Return ``unknown``, which is compared with str and never converted.

    Some releases of marshmallow reject other values than the three; the call is then left to them.
    """
    if given is None:
        return setting(schema, "unknown")
    if upstream.checks_unknown and not (type(given) is str and given in UNKNOWN):
        return EXTRAORDINARY
    return given


cdef partial_of(schema, given):
    """Return ``partial``: a flag, or a plain collection of names."""
    partial = setting(schema, "partial") if given is None else given
    return partial if is_plain_partial(partial) else EXTRAORDINARY


cdef bint is_plain_partial(partial) except -1:
    """Return whether ``partial`` is a flag, or a plain collection of names."""
    if partial is None or partial is True or partial is False:
        return True
    if type(partial) not in (list, tuple, set, frozenset):
        return False
    for name in partial:
        if type(name) is not str:
            return False
    return True
