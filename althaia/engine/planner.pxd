"""What other floors may use of this one."""

from cpython.sequence cimport PySequence_Fast_GET_SIZE
from cpython.set cimport PySet_GET_SIZE

from althaia.engine.plan cimport Plan


cdef enum:
    # Upstream's compiled code dumps this many objects in the time that making a plan takes.
    LARGE = 24


cdef plain_many(schema)
cdef bint note_first_call(schema, int direction, bint inside) except -1
cdef Plan plan_anew(schema, int direction, bint large)
cdef Plan usable_plan(schema, int direction, bint large)


cdef inline bint is_plainly_true(flag):
    """Return whether a flag is true, as far as that is known without running user code."""
    return (type(flag) is bool or type(flag) is int) and flag


cdef inline bint is_large(obj, many):
    """Whether a plan is likely to pay off in this call alone."""
    if obj is None or not is_plainly_true(many):
        return False
    # Not by len(), which may call user code: SQLAlchemy's relationships are subclasses of list.
    if isinstance(obj, (list, tuple)):
        return PySequence_Fast_GET_SIZE(obj) >= LARGE
    if isinstance(obj, (set, frozenset)):
        return PySet_GET_SIZE(obj) >= LARGE
    return True
