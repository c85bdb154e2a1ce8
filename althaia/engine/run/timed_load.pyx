"""The steps with which an object is loaded while it is measured."""


@cython.final
@cython.no_gc_clear
cdef class TimedLoadStep(LoadStep):
    """Another step, and the time that it takes. See :file:`plan/timing.pyx`."""

    cdef LoadStep step
    # Which code the step runs: the user's, or the plan of another schema.
    cdef bint runs_user_code, nested
    cdef Place of_objects, of_text

    def __init__(self, LoadStep step, Counters counters):
        LoadStep.__init__(
            self, step.field, attr=step.attr, key=step.key, target=step.target,
            dotted=step.dotted, own_slot=step.own_slot,
        )
        self.step = step
        self.nested = holds_schema(step)
        self.runs_user_code = not self.nested and (
            step.own_validate
            or step.pre_load is not None
            or step.post_load is not None
            or not has_quiet_steps(step)
        )
        self.of_objects = counters.timing(False).place("field", step.attr)
        self.of_text = counters.timing(True).place("field", step.attr)

    cdef object load(self, object value, object data, LoadFrame frame):
        cdef int64_t began = book_reading(&frame.stopwatch, self.place(frame), False)
        frame.stopwatch.validated = 0
        try:
            return self.step.load(value, data, frame)
        finally:
            self.left(frame, began)

    cdef object read(self, Tape tape, Py_ssize_t at, LoadFrame frame):
        cdef int64_t began = book_reading(&frame.stopwatch, self.place(frame), False)
        frame.stopwatch.validated = 0
        try:
            return self.step.read(tape, at, frame)
        finally:
            self.left(frame, began)

    cdef Place place(self, LoadFrame frame):
        return self.of_text if (<Timing>frame.stopwatch.timing).text else self.of_objects

    cdef int left(self, LoadFrame frame, int64_t began) except -1:
        """Book the time in which the value was converted and validated."""
        cdef Place place = self.place(frame)
        cdef int64_t spent = book_conversion(&frame.stopwatch, place, began, self.nested)
        if not self.runs_user_code:
            spent = min(spent, frame.stopwatch.validated * frame.stopwatch.weight)
        althaia_count(&place.own, spent)
        return 0

    def inner(self):
        return self.step.inner()
