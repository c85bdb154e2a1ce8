/* What CPython does between bytecodes, and what compiled code has to do itself: check that the C
 * stack is not used up, run signal handlers, give other threads the GIL.
 *
 * Compiled functions recurse on the C stack, and CPython 3.11 to 3.13 count such calls wrongly or
 * not at all. Hence the remaining stack is measured. Everything is static: each extension module
 * that includes this file has its own copy.
 */
#ifndef ALTHAIA_STACK_H
#define ALTHAIA_STACK_H

#include <Python.h>
#include <stdint.h>
#include <string.h>

#if defined(_WIN32)
#include <windows.h>
#else
#include <pthread.h>
#include <sys/resource.h>
#if defined(__linux__)
#include <sys/auxv.h>
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
/* Not the address of a local variable: a sanitizer may place those on another stack. */
#define ALTHAIA_HERE() ((uintptr_t)__builtin_frame_address(0))
#define ALTHAIA_SELDOM(condition) __builtin_expect((condition), 0)
#define ALTHAIA_OUT_OF_LINE __attribute__((noinline, cold))
#endif

/* On a stack without a limit, endless recursion would use up the memory. */
#define ALTHAIA_STACK_USED_AT_MOST ((uintptr_t)256 << 20)
/* The kernel keeps at least 128 MB free below the end of a process's first stack, whatever the limit
 * was when the process began. The environment and the arguments are part of that. */
#define ALTHAIA_STACK_RESERVED ((uintptr_t)64 << 20)
/* If the platform does not know the bounds of a stack, this much is assumed to be left on both
 * sides of the address that was first seen. */
#define ALTHAIA_STACK_ASSUMED ((uintptr_t)64 << 10)
#if PY_VERSION_HEX >= 0x030D0000 && PY_VERSION_HEX < 0x030E0000
/* CPython 3.13 frees a chain of objects by up to 10,000 nested calls (50 before; later versions
 * measure the stack), which takes 1.6 MB. The GC may do that at any moment. */
#define ALTHAIA_MARGIN_AT_MOST ((uintptr_t)2 << 20)
#else
#define ALTHAIA_MARGIN_AT_MOST ((uintptr_t)256 << 10)
#endif
/* Enough for an import, which is the deepest call into CPython whose depth does not depend on the
 * data. */
#define ALTHAIA_MARGIN_AT_LEAST ((uintptr_t)40 << 10)

/* How many checks pass before althaia_look_around() is called again. */
#define ALTHAIA_CHECKS_A_LOOK 64

/* The state of this thread. Its stack is [low, high), and no call may begin below `floor`; all
 * three are 0 until the first check. `checks_left` counts down to the next
 * althaia_look_around(). */
typedef struct {
    uintptr_t low;
    uintptr_t floor;
    uintptr_t high;
    int checks_left;
} althaia_thread_state;

static ALTHAIA_THREAD_LOCAL althaia_thread_state althaia_thread;

#if defined(__linux__)
/* Return 1 and the bounds of the stack that the kernel gave the process, if this is its first
 * thread, else 0.
 *
 * pthread_getattr_np() would do, but for this thread glibc reads /proc/self/maps, which takes
 * milliseconds in a process that has loaded many libraries, and musl returns the present size
 * instead of the limit. The kernel places the program's name and one null pointer at the end of the
 * stack. */
static int
althaia_main_stack_bounds(uintptr_t *low, uintptr_t *high)
{
    const uintptr_t page = 4096;
    const char *name = (const char *)getauxval(AT_EXECFN);
    uintptr_t most = ALTHAIA_STACK_RESERVED;
    struct rlimit limit;
    if (name == NULL || getpid() != (pid_t)syscall(SYS_gettid)
        || getrlimit(RLIMIT_STACK, &limit) != 0) {
        return 0;
    }
    if (limit.rlim_cur < most) {
        most = (uintptr_t)limit.rlim_cur;
    }
    *high = ((uintptr_t)name + strlen(name) + 1 + sizeof(void *) + page - 1) & ~(page - 1);
    *low = *high - most;
    return 1;
}
#endif

/* Return 1 and the bounds of the stack that `here` is in if the platform knows them, else 0. */
static int
althaia_stack_bounds(uintptr_t here, uintptr_t *low, uintptr_t *high)
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
    if (althaia_main_stack_bounds(low, high) && here >= *low && here < *high) {
        return 1;
    }
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
    return 1;
#else
    return 0;
#endif
}

/* Determine the bounds of a stack that this thread has not used before. */
static ALTHAIA_OUT_OF_LINE void
althaia_find_stack(uintptr_t here)
{
    uintptr_t low, high, size, margin;
    if (!althaia_stack_bounds(here, &low, &high) || here < low || here >= high) {
        low = here - ALTHAIA_STACK_ASSUMED;
        high = here + ALTHAIA_STACK_ASSUMED;
    }
    if (high - low > ALTHAIA_STACK_USED_AT_MOST) {
        low = high - ALTHAIA_STACK_USED_AT_MOST;
    }
    size = high - low;
    margin = size < (uintptr_t)1 << 20 ? size / 4 : size / 2;
    margin = Py_MAX(margin, ALTHAIA_MARGIN_AT_LEAST);
    margin = Py_MIN(margin, Py_MIN(ALTHAIA_MARGIN_AT_MOST, size / 2));
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

/* Process what is pending for this thread: signal handlers, a request for the GIL, asynchronous
 * exceptions, a garbage collection. Return 0, or -1 with the exception that one of them raised.
 *
 * The C API has no function for all of these, but each call of an interpreted function processes
 * them: `althaia.seam.pause`, which does nothing. It is looked up, not made: compiling Python source
 * in the middle of a call ends CPython 3.11 if the memory is exhausted. Releasing and re-acquiring
 * the GIL is no substitute: a waiting thread is woken, finds the GIL taken again and continues to
 * wait. */
static ALTHAIA_OUT_OF_LINE int
althaia_look_around(void)
{
    /* It stays when the modules are gone. Threads that find it at once store the same function. */
    static PyObject *known = NULL;
    PyObject *pause = known, *name, *seam, *nothing;
    althaia_thread.checks_left = ALTHAIA_CHECKS_A_LOOK;
    if (PyErr_Occurred()) {
        return 0;
    }
    if (pause == NULL && (name = PyUnicode_FromString("althaia.seam")) != NULL) {
        seam = PyImport_GetModule(name);
        Py_DECREF(name);
        if (seam != NULL) {
            known = pause = PyObject_GetAttrString(seam, "pause");
            Py_DECREF(seam);
        }
    }
    if (pause == NULL) {
        return PyErr_Occurred() ? -1 : PyErr_CheckSignals();
    }
    nothing = PyObject_CallNoArgs(pause);
    Py_XDECREF(nothing);
    return nothing == NULL ? -1 : 0;
}

/* Check the stack before a deeper call. Return 0, or -1 with RecursionError set if too little is
 * left. */
static inline int
althaia_check_stack(void)
{
    uintptr_t here = ALTHAIA_HERE();
    if (ALTHAIA_SELDOM(here < althaia_thread.floor || here >= althaia_thread.high)) {
        return althaia_stack_below_floor(here);
    }
    return 0;
}

/* Run signal handlers in each check on CPython 3.11. There PyObject_Repr() runs them too, and if it
 * is called for an error message, as by int("x"), what the handler raises is lost. Checking often
 * makes that unlikely. */
static inline int
althaia_check_signals(void)
{
#if PY_VERSION_HEX < 0x030C0000
    return PyErr_CheckSignals();
#else
    return 0;
#endif
}

/* Call once in each iteration of a loop. Return 0, or -1 with the exception that a signal handler
 * raised. */
static inline int
althaia_tick(void)
{
    return ALTHAIA_SELDOM(--althaia_thread.checks_left < 0) ? althaia_look_around()
                                                            : althaia_check_signals();
}

/* The first statement of a function that returns a new reference: return NULL if a check fails. */
#define ALTHAIA_CHECK                                      \
    if (althaia_check_stack() < 0 || althaia_tick() < 0) { \
        return NULL;                                       \
    }

/* How many interpreted functions a nested schema counts for. Upstream calls four or more for each, so
 * that sys.getrecursionlimit() ends a recursion here somewhat later than there. */
#define ALTHAIA_FRAMES_A_LEVEL 3
/* What is left of that limit, which interpreted functions count down. Py_EnterRecursiveCall() counts
 * something else from CPython 3.12 on. */
#if PY_VERSION_HEX < 0x030C0000
#define ALTHAIA_FRAMES_LEFT (PyThreadState_Get()->recursion_remaining)
#else
#define ALTHAIA_FRAMES_LEFT (PyThreadState_Get()->py_recursion_remaining)
#endif

/* Begin a level of recursion. Return 0, or -1 with RecursionError set. After each 0 the caller must
 * call althaia_leave(). */
static inline int
althaia_enter(void)
{
    if (althaia_check_stack() < 0) {
        return -1;
    }
    if (ALTHAIA_FRAMES_LEFT <= ALTHAIA_FRAMES_A_LEVEL) {
        PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded");
        return -1;
    }
    ALTHAIA_FRAMES_LEFT -= ALTHAIA_FRAMES_A_LEVEL;
    return 0;
}

static inline void
althaia_leave(void)
{
    ALTHAIA_FRAMES_LEFT += ALTHAIA_FRAMES_A_LEVEL;
}

#endif
