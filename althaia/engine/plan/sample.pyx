"""Chooses the calls that compare mode compares.

The number of calls up to the next chosen one is drawn ahead, so that a call that is not chosen
costs one subtraction, and nothing if compare mode is off. While a chosen call runs, each call reads
from a context variable in which of the two runs it is.
"""

cdef object DECLINED = seam.DECLINED
# The call is not compared. Not None, which may be the result of a call.
cdef object GO_ON = object()


cdef class Sample:
    """The calls that are chosen. One object for the process, :data:`sample`.

    ``take(call, schema, args)`` answers a chosen call, or returns ``go_on``. ``turn`` is a context
    variable: None outside of a chosen call, inside of it ``"planned"`` or ``"upstream"``.
    """

    @property
    def go_on(self):
        return GO_ON

    def start(self, take, turn, int64_t left):
        """Choose the call after the next ``left`` ones."""
        self.take, self.turn = take, turn
        self.left = left
        self.on = True

    def stop(self):
        """Choose no further call. A chosen call that is running still reads ``turn``."""
        self.take = None
        self.on = self.running > 0

    def wait(self, int64_t left):
        """Choose the call after the next ``left`` ones."""
        self.left = left

    def entered(self):
        """Record that a chosen call begins, which runs twice."""
        althaia_count(&self.running, 1)

    def left_again(self):
        """Record that a chosen call has ended."""
        althaia_count(&self.running, -1)
        if self.take is None:
            self.stop()


cdef Sample sample = Sample()


def the_sample():
    """Return the object by which calls are chosen."""
    return sample


cdef object decide(Sample sample, str call, object schema, tuple args):
    """Return the result of a compared call, DECLINED where upstream's code must run, or GO_ON."""
    cdef object turn = sample.turn.get()
    cdef object take
    if turn is not None:
        # Calls within a chosen one are not counted.
        althaia_count(&sample.left, 1)
        return DECLINED if turn == "upstream" else GO_ON
    take = sample.take
    if take is None or althaia_counted(&sample.left) >= 0:
        return GO_ON
    return take(call, schema, args)


cdef bint is_upstreams_turn(Sample sample) except -1:
    """Return whether upstream's own code must run."""
    return sample.on and althaia_counted(&sample.running) > 0 and sample.turn.get() == "upstream"
