/* Held containers: lists and dictionaries that a running call has made, outside the GC's lists.
 *
 * The GC runs after a number of allocations and traverses the objects in its lists. While a large
 * result grows, all of it is alive, so that these runs find nothing, and each takes longer than the
 * last. A held container is in a list of the call, linked as in the GC's. Hence it counts as
 * tracked, and CPython can untrack or free it. When the call ends, however it does, the whole list
 * is put into the GC's youngest generation.
 */
#ifndef ALTHAIA_GROWTH_H
#define ALTHAIA_GROWTH_H

#include <Python.h>

#include "althaia/cpython/layout.h"

/* A call that makes fewer containers leaves them to the GC, which hardly runs in it. */
#define ALTHAIA_LEFT_TRACKED 1000

/* How many containers a call has made, and the head of the list of those it holds. */
typedef struct {
    Py_ssize_t made;
    althaia_gc_head held;
} althaia_growth;

#if ALTHAIA_KNOWS_GC_LISTS

/* Move an object from the list in which it is to the end of the call's. */
static inline void
althaia_hold(althaia_growth *growth, PyObject *made)
{
    althaia_gc_head *head = &growth->held, *moved = althaia_gc_head_of(made);
    if (moved->next == 0 || !althaia_knows_gc()) {
        return;
    }
    if (head->next == 0) {
        head->next = head->previous = (uintptr_t)head;
    }
    althaia_gc_link(althaia_gc_previous(moved), (althaia_gc_head *)moved->next);
    althaia_gc_link(althaia_gc_previous(head), moved);
    althaia_gc_link(moved, head);
}

/* Give the held containers back. An object that CPython tracks anew is the last of the youngest
 * generation; the others are put before it. */
static inline void
althaia_give_back(althaia_growth *growth)
{
    althaia_gc_head *head = &growth->held, *last = (althaia_gc_head *)head->next;
    if (last == NULL || last == head) {
        return;
    }
    PyObject_GC_UnTrack(last + 1);
    PyObject_GC_Track(last + 1);
    if (head->next != (uintptr_t)head) {
        althaia_gc_link(althaia_gc_previous(last), (althaia_gc_head *)head->next);
        althaia_gc_link(althaia_gc_previous(head), last);
    }
    head->next = 0;
}

#else
#define althaia_hold(growth, made) ((void)(made))
#define althaia_give_back(growth) ((void)(growth))
#endif

/* Count a list or dictionary that is complete; hold it if the result is large. */
static inline void
althaia_completed(althaia_growth *growth, PyObject *made)
{
    if (++growth->made > ALTHAIA_LEFT_TRACKED) {
        althaia_hold(growth, made);
    }
}

#endif
