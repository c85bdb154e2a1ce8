"""Templates: dictionaries that are created with all their keys, so that storing a value needs no
look-up."""


# CPython never shares more keys than this (SHARED_KEYS_MAX_SIZE in its dictobject.c).
cdef int MOST_SHARED_KEYS = 30

# Fills the last free slot of the shared keys; no copy has a value for it.
cdef str FILLER = "no more keys"

# An empty dictionary grows when it gets more keys than this; copying a larger one is cheaper.
cdef int FEW_KEYS = 5


cpdef dict template_of(tuple keys):
    """Return a dictionary that has all the keys, in order, with the value None. A result is a copy
    of it, in which :func:`althaia_put` stores the values.

    Return None if an empty dictionary to start from is cheaper.

    :param keys: distinct keys.
    """
    cdef dict shared = share_keys(keys)
    if shared is not None:
        return shared
    # Without the GIL a copy locks the template and waits for other threads that copy it.
    return dict.fromkeys(keys) if ALTHAIA_HAS_GIL and len(keys) > FEW_KEYS else None


cdef Py_ssize_t fewest_keys(dict template):
    """Return the number of keys from which on an ordinary dictionary takes about half of the memory
    that a copy of the template takes."""
    cdef dict ordinary = {}
    # With 86 to 128 keys 2.1 times: copying all results that lack a few would take longer.
    half = dict.__sizeof__(PyDict_Copy(template)) * 5 // 11
    for key in template:
        if dict.__sizeof__(ordinary) >= half:
            break
        ordinary[key] = None
    return len(ordinary)


cdef dict share_keys(tuple keys):
    """Return a split-table dictionary of these keys, whose copies share them; None if CPython has
    no such dictionaries."""
    cdef int _i
    if not ALTHAIA_KNOWS_ENTRIES:
        return None
    if len(keys) > MOST_SHARED_KEYS or not all(type(key) is str for key in keys):
        return None

    class Owner:
        """Only instance dictionaries are created as split-table dictionaries."""

    filled_dict(Owner(), keys)
    # With each instance CPython reserves less room for further keys.
    for _i in range(MOST_SHARED_KEYS):
        owner = Owner()
    # Fill the last free slot of the shared keys. Otherwise a key that some result gets later would
    # be added there and live as long as the plan.
    filled_dict(Owner(), (*keys, FILLER))
    # A copy is no longer the dictionary of an instance.
    shared = <dict>PyDict_Copy(filled_dict(owner, keys))
    if not althaia_lies_in_order(shared, keys):
        return None
    for key in keys:
        shared[key] = None
    return shared


cdef dict filled_dict(owner, tuple keys):
    """Return the owner's instance dictionary, after setting each key to itself."""
    cdef dict mapping = owner.__dict__
    for key in keys:
        mapping[key] = key
    return mapping
