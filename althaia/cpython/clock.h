/* A monotonic clock in nanoseconds, read without a Python object.
 *
 * On Linux a read costs about 20 ns, because the kernel is not entered.
 */
#ifndef ALTHAIA_CLOCK_H
#define ALTHAIA_CLOCK_H

#include <Python.h>
#include <stdint.h>

#ifdef _WIN32
#include <windows.h>
#else
#include <time.h>
#endif

/* With the GIL one counter serves all threads, because only one of them runs at a time. */
#if !defined(Py_GIL_DISABLED)
#define ALTHAIA_PER_THREAD
#elif defined(_MSC_VER)
#define ALTHAIA_PER_THREAD __declspec(thread)
#else
#define ALTHAIA_PER_THREAD _Thread_local
#endif

static inline int64_t
althaia_read_clock(void)
{
#ifdef _WIN32
    LARGE_INTEGER ticks, frequency;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&ticks);
    return (int64_t)((double)ticks.QuadPart * 1e9 / (double)frequency.QuadPart);
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
#endif
}

/* What one read costs, and how often the clock was read: 0 until it is calibrated. */
static int64_t althaia_clock_cost = 0;
static ALTHAIA_PER_THREAD int64_t althaia_clock_reads = 0;

/* Return the time minus what all reads of the clock have cost, so that measuring an object does not
 * make it look slower. */
static inline int64_t
althaia_now(void)
{
    althaia_clock_reads += 1;
    return althaia_read_clock() - althaia_clock_cost * althaia_clock_reads;
}

/* Determine what one read costs: the best of several rounds. */
static inline void
althaia_calibrate_clock(void)
{
    int64_t best = INT64_MAX;
    for (int round = 0; round < 20; round++) {
        int64_t began = althaia_read_clock();
        for (int i = 0; i < 100; i++) {
            (void)althaia_read_clock();
        }
        int64_t cost = (althaia_read_clock() - began) / 101;
        best = cost < best ? cost : best;
    }
    /* The clock must not go backwards: never more than the best. */
    althaia_clock_cost = best > 0 ? best : 0;
}

#endif
