/* What CPython does between the bytecodes of interpreted code, and compiled code has to do
 * itself: notice that the C stack is nearly used up, run signal handlers, hand over the GIL.
 *
 * Compiled functions recurse on the C stack, and CPython 3.11 to 3.13 count such calls
 * wrongly or not at all: what bounds them here is the stack itself. Everything is static:
 * each extension module that includes this file has its own copy.
 */
#ifndef ALTHAIA_CHECKS_H
#define ALTHAIA_CHECKS_H

#include <Python.h>
#include <stdint.h>

#if defined(_WIN32)
#include <windows.h>
#else
#include <pthread.h>
#include <sys/resource.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#endif

#if defined(_MSC_VER)
#include <intrin.h>
#define ALTHAIA_THREAD_LOCAL __declspec(thread)
#define ALTHAIA_HERE() ((uintptr_t)_AddressOfReturnAddress())
#define ALTHAIA_SELDOM(condition) (condition)
#define ALTHAIA_OUT_OF_LINE __declspec(noinline)
#else
#define ALTHAIA_THREAD_LOCAL __thread
/* Not the address of a local: a sanitizer may keep locals elsewhere. */
#define ALTHAIA_HERE() ((uintptr_t)__builtin_frame_address(0))
#define ALTHAIA_SELDOM(condition) __builtin_expect((condition), 0)
#define ALTHAIA_OUT_OF_LINE __attribute__((noinline, cold))
#endif

/* A stack without a limit must not turn endless recursion into exhausted memory. */
#define ALTHAIA_STACK_USED_AT_MOST ((uintptr_t)256 << 20)
/* On a stack whose bounds nobody knows: taken to be left from where it was first seen. */
#define ALTHAIA_STACK_ASSUMED ((uintptr_t)64 << 10)
#if PY_VERSION_HEX >= 0x030D0000 && PY_VERSION_HEX < 0x030E0000
/* What hangs together in a chain is freed up to 10,000 levels deep here (50 before, bounded by
 * the stack later), and a garbage collection may do that at any moment: 1.6 MB. */
#define ALTHAIA_MARGIN_AT_MOST ((uintptr_t)2 << 20)
#else
#define ALTHAIA_MARGIN_AT_MOST ((uintptr_t)256 << 10)
#endif
/* Enough for the deepest thing CPython does below us that does not recurse with the data:
 * importing a module. */
#define ALTHAIA_MARGIN_AT_LEAST ((uintptr_t)40 << 10)

/* How many checks pass between two looks at what waits for this thread. */
#define ALTHAIA_CHECKS_A_LOOK 64

/* What is known of this thread: its stack is [low, high) and nothing begins below `floor`
 * (all zero: not known yet); how many checks are left until the next look. */
typedef struct {
    uintptr_t low;
    uintptr_t floor;
    uintptr_t high;
    int checks_left;
} althaia_thread_state;

static ALTHAIA_THREAD_LOCAL althaia_thread_state althaia_thread;

/* 1 and the bounds where the platform knows them, else 0. */
static int
althaia_ask_stack_bounds(uintptr_t *low, uintptr_t *high)
{
#if defined(_WIN32)
    ULONG_PTR lowest, highest;
    GetCurrentThreadStackLimits(&lowest, &highest);
    *low = (uintptr_t)lowest;
    *high = (uintptr_t)highest;
    return 1;
#elif defined(__APPLE__)
    *high = (uintptr_t)pthread_get_stackaddr_np(pthread_self());
    *low = *high - (uintptr_t)pthread_get_stacksize_np(pthread_self());
    return 1;
#elif defined(__linux__)
    pthread_attr_t attributes;
    void *address;
    size_t size;
    int failed;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
        return 0;
    }
    failed = pthread_attr_getstack(&attributes, &address, &size);
    pthread_attr_destroy(&attributes);
    if (failed) {
        return 0;
    }
    *low = (uintptr_t)address;
    *high = *low + size;
#if !defined(__GLIBC__)
    /* musl answers with what the main thread's stack has grown to, not with its limit. */
    if (getpid() == (pid_t)syscall(SYS_gettid)) {
        struct rlimit limit;
        uintptr_t most = (uintptr_t)8 << 20;
        if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
            most = (uintptr_t)limit.rlim_cur;
        }
        if (most > size && most < *high) {
            *low = *high - most;
        }
    }
#endif
    return 1;
#else
    (void)low;
    (void)high;
    return 0;
#endif
}

/* Find the bounds for a thread, or a stack, not seen before. */
static ALTHAIA_OUT_OF_LINE void
althaia_find_stack(uintptr_t here)
{
    uintptr_t low, high, size, margin;
    if (!althaia_ask_stack_bounds(&low, &high) || here < low || here >= high) {
        low = here - ALTHAIA_STACK_ASSUMED;
        high = here + ALTHAIA_STACK_ASSUMED;
    }
    if (high - low > ALTHAIA_STACK_USED_AT_MOST) {
        low = high - ALTHAIA_STACK_USED_AT_MOST;
    }
    size = high - low;
    margin = size < (uintptr_t)1 << 20 ? size / 4 : size / 2;
    if (margin < ALTHAIA_MARGIN_AT_LEAST) {
        margin = ALTHAIA_MARGIN_AT_LEAST;
    }
    if (margin > ALTHAIA_MARGIN_AT_MOST) {
        margin = ALTHAIA_MARGIN_AT_MOST;
    }
    if (margin > size / 2) {
        margin = size / 2;
    }
    althaia_thread.low = low;
    althaia_thread.floor = low + margin;
    althaia_thread.high = high;
}

static ALTHAIA_OUT_OF_LINE int
althaia_stack_below_floor(uintptr_t here)
{
    if (here < althaia_thread.low || here >= althaia_thread.high) {
        althaia_find_stack(here);
        if (here >= althaia_thread.floor) {
            return 0;
        }
    }
    PyErr_SetString(PyExc_RecursionError,
                    "maximum recursion depth exceeded: the thread's stack is used up");
    return -1;
}

/* An interpreted function that does nothing, named for those who meet it in a profile; NULL with
 * an error set where it cannot be made. */
static PyObject *
althaia_make_pause(void)
{
    PyObject *code = Py_CompileString("def pause(): pass", "<althaia>", Py_file_input);
    PyObject *names = code != NULL ? PyDict_New() : NULL;
    PyObject *done = names != NULL ? PyEval_EvalCode(code, names, names) : NULL;
    PyObject *pause = done != NULL ? Py_XNewRef(PyDict_GetItemString(names, "pause")) : NULL;
    Py_XDECREF(done);
    Py_XDECREF(names);
    Py_XDECREF(code);
    return pause;
}

/* The same function in each call, borrowed: the first thread that needs it makes it for all. */
static PyObject *
althaia_the_pause(void)
{
    static PyObject *pause = NULL;
#ifdef Py_GIL_DISABLED
    PyObject *found = _Py_atomic_load_ptr_acquire(&pause), *none = NULL;
    if (found != NULL || (found = althaia_make_pause()) == NULL) {
        return found;
    }
    if (_Py_atomic_compare_exchange_ptr(&pause, &none, found)) {
        return found;
    }
    Py_DECREF(found);
    return none;
#else
    if (pause == NULL) {
        pause = althaia_make_pause();
    }
    return pause;
#endif
}

/* Do what waits for this thread: signal handlers, a request for the GIL, asynchronous
 * exceptions, a garbage collection. 0, or -1 with what one of them raised.
 *
 * There is no function in the C API for all of it, but each interpreted function begins with
 * it. Letting go of the GIL unasked is no substitute: whoever waits for it is woken, finds it
 * taken again and starts to wait anew. */
static ALTHAIA_OUT_OF_LINE int
althaia_look_around(void)
{
    PyObject *nothing, *pause;
    althaia_thread.checks_left = ALTHAIA_CHECKS_A_LOOK;
    if (PyErr_Occurred()) {
        return 0;
    }
    if ((pause = althaia_the_pause()) == NULL) {
        return -1;
    }
    nothing = PyObject_CallNoArgs(pause);
    if (nothing == NULL) {
        return -1;
    }
    Py_DECREF(nothing);
    return 0;
}

static ALTHAIA_OUT_OF_LINE int
althaia_check_slowly(uintptr_t here)
{
    if (here < althaia_thread.floor || here >= althaia_thread.high) {
        if (althaia_stack_below_floor(here) < 0) {
            return -1;
        }
    }
    return althaia_thread.checks_left < 0 ? althaia_look_around() : 0;
}

/* Before going deeper: 0, or -1 with RecursionError set where too little stack is left. */
static inline int
althaia_check_stack(void)
{
    uintptr_t here = ALTHAIA_HERE();
    if (ALTHAIA_SELDOM(here < althaia_thread.floor || here >= althaia_thread.high)) {
        return althaia_stack_below_floor(here);
    }
    return 0;
}

/* CPython 3.11 runs signal handlers in PyObject_Repr() as well, and where that is called for
 * an error message, as by int("x"), it loses what the handler raises. So they get every other
 * opportunity to run before. */
static inline int
althaia_check_signals(void)
{
#if PY_VERSION_HEX < 0x030C0000
    return PyErr_CheckSignals();
#else
    return 0;
#endif
}

/* Once in each round of a loop: 0, or -1 with what a signal handler raised. */
static inline int
althaia_tick(void)
{
    return ALTHAIA_SELDOM(--althaia_thread.checks_left < 0) ? althaia_look_around()
                                                            : althaia_check_signals();
}

/* Both. */
static inline int
althaia_check(void)
{
    uintptr_t here = ALTHAIA_HERE();
    if (ALTHAIA_SELDOM(here < althaia_thread.floor || here >= althaia_thread.high
                       || --althaia_thread.checks_left < 0)) {
        return althaia_check_slowly(here);
    }
    return althaia_check_signals();
}

/* The first statement of a function that returns a new reference. */
#define ALTHAIA_CHECK      \
    if (althaia_check()) { \
        return NULL;       \
    }

/* Begin a level of recursion: 0, or -1 with RecursionError set. Every 0 is matched by
 * althaia_leave(). */
static inline int
althaia_enter(void)
{
    if (althaia_check_stack() < 0) {
        return -1;
    }
    /* It answers 1 where it refuses. */
    return Py_EnterRecursiveCall("") ? -1 : 0;
}

static inline void
althaia_leave(void)
{
    Py_LeaveRecursiveCall();
}

#endif
