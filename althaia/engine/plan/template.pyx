"""Templates: dictionaries that are created with all their keys, so that storing a value needs no
look-up."""


# CPython never shares more keys than this (SHARED_KEYS_MAX_SIZE in its dictobject.c).
cdef int MOST_SHARED_KEYS = 30

# Fills the last free slot of the shared keys; no copy has a value for it.
cdef str FILLER = "no more keys"

# An empty dictionary grows when it gets more keys than this; copying a larger one is cheaper.
cdef int FEW_KEYS = 5


@cython.final
@cython.no_gc_clear
cdef class Template:
    """Creates the dictionaries for the results of one plan.

    :param keys: their keys, in order and distinct.
    :param wait: how many results are made before the template is filled. Filling it takes as long
        as a full template saves in some hundred results.

    If ``full`` is true, a new dictionary has all the keys with the value None; otherwise it is
    empty, because that is cheaper. In both cases :func:`althaia_put` stores the values. Whoever
    makes a result reads ``full`` once: a result inside it may be the one that fills the template.
    """

    def __init__(self, tuple keys, int wait=0):
        self.keys = keys
        self.wait = wait
        # Without the GIL another thread may be reading the template while it is filled.
        if wait == 0 or not ALTHAIA_HAS_GIL:
            self.fill()

    cdef bint fills(self) except -1:
        """Count one result of a template that is not full. Return whether it is from now on."""
        if self.keys is None:
            return False
        self.wait -= 1
        if self.wait <= 0:
            self.fill()
        return self.full

    cdef int fill(self) except -1:
        cdef tuple keys = self.keys
        cdef bint full
        shared = share_keys(keys)
        self.keys = None
        # Without the GIL a copy locks the template and waits for other threads that copy it.
        full = shared is not None or (ALTHAIA_HAS_GIL and len(keys) > FEW_KEYS)
        if full:
            self.mapping = dict.fromkeys(keys) if shared is None else shared
        self.full = full
        return 0


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


cdef dict filled_dict(object owner, tuple keys):
    """Return the owner's instance dictionary, after setting each key to itself."""
    cdef dict mapping = owner.__dict__
    for key in keys:
        mapping[key] = key
    return mapping
