/* Loose containers: lists and dictionaries that a running call has made and the GC does not track.
 *
 * The GC runs after a number of allocations and traverses what it tracks. While a large result
 * grows, all of it is alive, so that these runs find nothing, and each takes longer than the last.
 *
 * Only C variables and loose containers refer to a loose container. Whoever hands it to user code or
 * puts it anywhere else settles it first: what CPython would track in it is tracked then. If a call
 * fails, its loose containers are freed with its C variables.
 */
#ifndef ALTHAIA_LOOSE_H
#define ALTHAIA_LOOSE_H

#include <Python.h>

#include "althaia/cpython/layout.h"

/* A call that makes fewer containers leaves them tracked: the GC hardly runs in it. */
#define ALTHAIA_LEFT_TRACKED 1000

/* How many containers a call has made, and whether any is or was loose. */
typedef struct {
    Py_ssize_t made;
    int loose;
} althaia_growth;

/* Count a list or dictionary that is complete and that nobody else refers to. Make it loose if it is
 * tracked and the result is large. Without the GIL the GC keeps no list of what it tracks. */
static inline void
althaia_completed(althaia_growth *growth, PyObject *made)
{
#if ALTHAIA_HAS_GIL
    if (++growth->made > ALTHAIA_LEFT_TRACKED && PyObject_GC_IsTracked(made)) {
        PyObject_GC_UnTrack(made);
        growth->loose = 1;
    }
#else
    (void)growth;
    (void)made;
#endif
}

/* Return 1 if a dictionary that holds this value must be tracked by the GC. */
static inline int
althaia_may_be_tracked(PyObject *value)
{
    /* PyObject_IS_GC() asks the same, but is no macro. */
    return PyType_IS_GC(Py_TYPE(value))
        && (Py_TYPE(value)->tp_is_gc == NULL || PyObject_IS_GC(value))
        && (!PyTuple_CheckExact(value) || PyObject_GC_IsTracked(value));
}

static inline void
althaia_track(PyObject *made)
{
    if (!PyObject_GC_IsTracked(made)) {
        PyObject_GC_Track(made);
    }
}

/* As PyDict_Next(), for values alone and in any order. */
static inline int
althaia_next_value(PyObject *dict, Py_ssize_t *at, PyObject **value)
{
#if ALTHAIA_KNOWS_ENTRIES
    althaia_values *apart = althaia_values_of(dict);
    if (apart != NULL) {
        do {
            if (*at >= althaia_keys_of(dict)->used) {
                return 0;
            }
            *value = apart->values[(*at)++];
        } while (*value == NULL);
        return 1;
    }
#endif
    return PyDict_Next(dict, at, NULL, value);
}

static inline void althaia_settle(PyObject *value);

/* Settle a list or dictionary that is not tracked. It may be a user's dictionary, in which there is
 * nothing to track.
 *
 * No user code runs here. As many calls are nested as were nested to make the containers, and each
 * takes less of the stack. */
static inline void
althaia_settle_loose(PyObject *made)
{
    Py_ssize_t at = 0;
    PyObject *value;
    if (PyList_CheckExact(made)) {
        PyObject_GC_Track(made);
        while (at < PyList_GET_SIZE(made)) {
            althaia_settle(PyList_GET_ITEM(made, at++));
        }
        return;
    }
#if PY_VERSION_HEX >= 0x030E0000
    /* From 3.14 on CPython tracks all dictionaries. */
    PyObject_GC_Track(made);
#endif
    while (althaia_next_value(made, &at, &value)) {
        if (althaia_may_be_tracked(value)) {
            althaia_track(made);
            althaia_settle(value);
        }
    }
}

/* Settle an object, whatever it is. */
static inline void
althaia_settle(PyObject *value)
{
    if (ALTHAIA_HAS_GIL && (PyDict_CheckExact(value) || PyList_CheckExact(value))
        && !PyObject_GC_IsTracked(value)) {
        althaia_settle_loose(value);
    }
}

#endif
