"""Times calls, and the Python functions that run inside them, while somebody asks for that.

Nothing of it stands in the code that answers a call: a *hook* of this module stands around the
seam's function, and CPython tells which functions run. Compiled code has none, so that what is left
is marshmallow's work. Times are in nanoseconds.
"""

cdef extern from "Python.h":
    ctypedef struct PyFrameObject
    ctypedef int (*Py_tracefunc)(PyObject*, PyFrameObject*, int, PyObject*) except -1
    enum:
        PyTrace_CALL
        PyTrace_RETURN
    void PyEval_SetProfile(Py_tracefunc function, PyObject* argument)
    # The cast: a PyCodeObject* is no object to Cython, and to GCC 14 an error.
    object PyFrame_GetCode "(PyObject *)PyFrame_GetCode"(PyFrameObject* frame)

# The innermost measured call. A context variable, because another thread, task or greenlet may call
# meanwhile.
cdef object _now = ContextVar("althaia_timing", default=None)
cdef object _lock = Lock()
# The Lines to which each call is added.
cdef list _measuring = []


@cython.final
cdef class Call:
    """A call that is measured."""
    cdef object schema
    cdef str direction
    cdef Call around
    # The seam's function that declines once, because upstream's method calls it a second time.
    cdef str declines
    cdef bint ended, outside
    # What calls inside have taken.
    cdef int64_t inside
    # The user's function that runs now (the outermost one): its code, how often it is entered, when
    # it was first, and what `inside` was then.
    cdef object code
    cdef int depth
    cdef int64_t entered, before
    cdef dict used

    cdef bint is_inside_its_class(self):
        cdef Call call = self.around
        while call is not None:
            if type(call.schema) is type(self.schema) and call.direction == self.direction:
                return True
            call = call.around
        return False


@cython.final
cdef class Line:
    """What was measured of one schema class in one direction."""
    cdef readonly object schema_class
    cdef readonly int64_t calls, objects, total, own, user, outside_calls, outside
    cdef readonly dict code

    cdef int add(self, Call call, int64_t spent, Py_ssize_t objects) except -1:
        cdef int64_t own = max(spent - call.inside, 0)
        self.calls += 1
        self.objects += objects
        self.own += own
        if not call.is_inside_its_class():
            self.total += spent
        if call.outside:
            self.outside_calls += 1
            self.outside += own
        if call.used is not None:
            for code, taken in call.used.values():
                place = (code.co_filename, code.co_firstlineno, code.co_qualname)
                self.code[place] = self.code.get(place, 0) + taken
                self.user += taken
        return 0


@cython.final
cdef class Lines:
    """The lines of one measurement, by the class's module and name, and by direction."""
    cdef readonly dict found

    def __cinit__(self):
        self.found = {}

    def switch(self, bint on):
        """Begin or stop adding calls to it. Return whether any measurement is going on."""
        with _lock:
            if on:
                _measuring.append(self)
            elif self in _measuring:
                _measuring.remove(self)
            return bool(_measuring)

    cdef Line of(self, Call call):
        cdef object cls = type(call.schema)
        cdef tuple key = (cls.__module__, cls.__qualname__, call.direction)
        cdef Line line = self.found.get(key)
        if line is None:
            line = self.found[key] = Line.__new__(Line)
            line.code = {}
        if line.schema_class is None or line.schema_class() is not cls:
            line.schema_class = ref(cls)
        return line


def measured(str name, str direction, inner, run_upstream):
    """Return a function for the seam that measures the calls of another one.

    :param inner: the seam's function.
    :param run_upstream: calls upstream's method: ``run_upstream(name, schema, args)``.
    """

    def hook(schema, *args):
        cdef Call call = get_value(_now)
        if call is not None and call.ended:
            call = None
        if call is not None and call.schema is schema and call.code is None:
            # A part of that call, as upstream's `dumps` calls `dump`.
            if call.declines == name:
                call.declines = None
                return DECLINED
            result = inner(schema, *args)
            # Compare mode lets upstream's code answer a second time.
            call.outside |= result is DECLINED and not is_upstreams_turn(sample)
            return result
        return answered(new_call(schema, direction, call), name, inner, run_upstream, args)

    return hook


cdef Call new_call(object schema, str direction, Call around):
    cdef Call call = Call.__new__(Call)
    call.schema = schema
    call.direction = direction
    call.around = around
    return call


cdef object answered(Call call, str name, object inner, object run_upstream, tuple args):
    """Run a call to its end and measure it."""
    cdef object token = _now.set(call), result = None
    cdef bint alone = call.around is None and begin()
    cdef int64_t spent, began = perf_counter_ns()
    try:
        result = inner(call.schema, *args)
        if result is DECLINED:
            # Nothing would stop the clock at the end of upstream's method.
            call.declines = name
            call.outside = name in ("dump", "load")
            result = run_upstream(name, call.schema, args)
        return result
    finally:
        spent = perf_counter_ns() - began
        if alone:
            PyEval_SetProfile(NULL, NULL)
        call.ended = True
        _now.reset(token)
        if call.around is not None:
            call.around.inside += spent
        with _lock:
            for lines in _measuring:
                (<Lines>lines).of(call).add(call, spent, objects_of(args[0], result))


cdef Py_ssize_t objects_of(object given, object result) except -1:
    """Return how many objects a call was given. A named tuple is one."""
    for each in (given, result):
        if isinstance(each, list) or type(each) is tuple:
            return len(each)
    return 1


# ---- The user's functions --------------------------------------------------------------

cdef bint _watched = False
cdef int _tool = -1


@cache
def is_users(str file):
    """Return whether a file's functions are neither ours, marshmallow's nor the standard
    library's."""
    for name in ("althaia", "marshmallow", "althaia.marshmallow", "os"):
        module = sys.modules.get(name)
        folder = module and os.path.join(os.path.dirname(module.__file__), "")
        if folder and file.startswith(folder):
            return module is os and "site-packages" in file
    return not file.startswith(("<frozen", "<althaia"))


def entered(code, offset=None, value=None):
    """CPython tells that a function begins, or goes on after a ``yield``."""
    cdef Call call = get_value(_now)
    if call is None:
        return
    if call.code is code:
        call.depth += 1
    elif call.code is None and is_users(code.co_filename):
        call.code = code
        call.depth = 1
        call.before = call.inside
        call.entered = perf_counter_ns()


def left(code, offset=None, value=None):
    """CPython tells that a function ends, by an exception or a ``yield``, too."""
    cdef Call call = get_value(_now)
    cdef int64_t taken
    if call is None or call.code is not code:
        return
    call.depth -= 1
    if call.depth:
        return
    taken = perf_counter_ns() - call.entered - (call.inside - call.before)
    if call.used is None:
        call.used = {}
    # By identity: the hash of a code object is that of all its constants.
    found = call.used.get(id(code))
    call.used[id(code)] = (code, taken if found is None else found[1] + taken)
    call.code = None


cdef int told(PyObject* argument, PyFrameObject* frame, int what, PyObject* value) except -1:
    if what == PyTrace_CALL:
        entered(PyFrame_GetCode(frame))
    elif what == PyTrace_RETURN:
        left(PyFrame_GetCode(frame))
    return 0


cdef bint begin() except -1:
    """Before CPython 3.12: let it tell the functions of this thread, unless it tells another."""
    if not _watched or sys.version_info >= (3, 12) or sys.getprofile() is not None:
        return False
    PyEval_SetProfile(told, NULL)
    return True


def watch_functions(bint on):
    """Let CPython tell functions, or no more. Return False if all its tools are taken."""
    global _watched, _tool
    _watched = on
    if sys.version_info < (3, 12):
        return True
    monitoring = sys.monitoring
    if not on:
        if _tool >= 0:
            monitoring.set_events(_tool, 0)
            monitoring.free_tool_id(_tool)
        return True
    free = [tool for tool in (monitoring.PROFILER_ID, 3, 4) if monitoring.get_tool(tool) is None]
    _tool = free[0] if free else -1
    if _tool < 0:
        return False
    monitoring.use_tool_id(_tool, "althaia.profile")
    events = 0
    for callback, names in ((entered, "PY_START PY_RESUME PY_THROW"),
                            (left, "PY_RETURN PY_YIELD PY_UNWIND")):
        for name in names.split():
            event = getattr(monitoring.events, name)
            monitoring.register_callback(_tool, event, callback)
            events |= event
    monitoring.set_events(_tool, events)
    return True
