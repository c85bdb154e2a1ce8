# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Dictionaries that start with all their keys in place, so that storing is no look-up."""

cimport cython
from cpython.dict cimport PyDict_Copy

from althaia.cpython.primitives cimport (
    ALTHAIA_HAS_GIL,
    ALTHAIA_SHARED_VALUES,
    althaia_features,
    althaia_lies_in_order,
    althaia_try_features,
)

althaia_try_features()

# More keys than these are never shared (SHARED_KEYS_MAX_SIZE in CPython's dictobject.c).
cdef int MOST_SHARED_KEYS = 30

# Takes the last place among shared keys; no copy has a value for it.
cdef str FILLER = "no more keys"

# A new dictionary has room for so many keys; a larger one is cheaper to copy than to grow.
cdef int FEW_KEYS = 5


@cython.final
@cython.no_gc_clear
cdef class Template:
    """What the results of one plan start as.

    :param keys: their keys, in order, each once.

    ``full`` says that a new one has all the keys already, with None for each; otherwise it is
    empty, because that is cheaper. Either way :func:`althaia_put` stores the values.
    """

    def __init__(self, tuple keys):
        shared = share_keys(keys)
        # Without the GIL a copy waits for whoever else copies.
        self.full = shared is not None or (ALTHAIA_HAS_GIL and len(keys) > FEW_KEYS)
        self.mapping = dict.fromkeys(keys) if shared is None else shared

    cdef dict start(self):
        """A new dictionary."""
        return <dict>PyDict_Copy(self.mapping) if self.full else {}


cdef dict share_keys(tuple keys):
    """A dictionary of these keys whose copies share them, or None where CPython has none."""
    cdef int _i
    if not althaia_features & ALTHAIA_SHARED_VALUES:
        return None
    if len(keys) > MOST_SHARED_KEYS or not all(type(key) is str for key in keys):
        return None

    class Owner:
        """Dictionaries with shared keys are first of all those of a class's instances."""

    own_keys(Owner(), keys)
    # With each instance CPython leaves less room for keys to come.
    for _i in range(MOST_SHARED_KEYS):
        owner = Owner()
    # One free slot is left in the table of keys. It is filled here: a key that an instance adds
    # later would live as long as the plan.
    own_keys(Owner(), (*keys, FILLER))
    # A copy belongs to no owner.
    shared = <dict>PyDict_Copy(own_keys(owner, keys))
    if not althaia_lies_in_order(shared, keys):
        return None
    for key in keys:
        shared[key] = None
    return shared


cdef dict own_keys(object owner, tuple keys):
    """The owner's own dictionary, with each key for itself."""
    cdef dict mapping = owner.__dict__
    for key in keys:
        mapping[key] = key
    return mapping
