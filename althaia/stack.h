/* How much C stack this thread has left.
 *
 * Compiled functions recurse on the C stack, and CPython 3.11 to 3.13 count such calls
 * wrongly or not at all: what bounds them here is the stack itself. Everything is static:
 * each extension module that includes this file has its own copy.
 */
#ifndef ALTHAIA_STACK_H
#define ALTHAIA_STACK_H

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
#define ALTHAIA_MARGIN_AT_MOST ((uintptr_t)256 << 10)
/* Enough for the deepest thing CPython does below us that does not recurse with the data:
 * importing a module. */
#define ALTHAIA_MARGIN_AT_LEAST ((uintptr_t)40 << 10)

/* This thread's stack is [low, high); nothing begins below `floor`. All zero: not known yet. */
typedef struct {
    uintptr_t low;
    uintptr_t floor;
    uintptr_t high;
} althaia_stack_bounds;

static ALTHAIA_THREAD_LOCAL althaia_stack_bounds althaia_stack;

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
    margin = size / 4;
    if (margin < ALTHAIA_MARGIN_AT_LEAST) {
        margin = ALTHAIA_MARGIN_AT_LEAST;
    }
    if (margin > ALTHAIA_MARGIN_AT_MOST) {
        margin = ALTHAIA_MARGIN_AT_MOST;
    }
    if (margin > size / 2) {
        margin = size / 2;
    }
    althaia_stack.low = low;
    althaia_stack.floor = low + margin;
    althaia_stack.high = high;
}

static ALTHAIA_OUT_OF_LINE int
althaia_stack_below_floor(uintptr_t here)
{
    if (here < althaia_stack.low || here >= althaia_stack.high) {
        althaia_find_stack(here);
        if (here >= althaia_stack.floor) {
            return 0;
        }
    }
    PyErr_SetString(PyExc_RecursionError,
                    "maximum recursion depth exceeded: the thread's stack is used up");
    return 1;
}

/* 0, or 1 with RecursionError set where too little stack is left to go deeper. */
static inline int
althaia_stack_is_low(void)
{
    uintptr_t here = ALTHAIA_HERE();
    if (ALTHAIA_SELDOM(here < althaia_stack.floor || here >= althaia_stack.high)) {
        return althaia_stack_below_floor(here);
    }
    return 0;
}

/* The first statement of a function that returns a new reference. */
#define ALTHAIA_CHECK_STACK    \
    if (althaia_stack_is_low()) { \
        return NULL;           \
    }

#endif
