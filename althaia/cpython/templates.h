/* Dictionaries that start with all their keys in place.
 *
 * A copy of a dictionary that shares its keys shares them too, and its values lie in the order
 * of the keys: what is known to be the n-th can be stored without a look-up. For dictionaries
 * of any other form PyDict_SetItem stores.
 */
#ifndef ALTHAIA_TEMPLATES_H
#define ALTHAIA_TEMPLATES_H

#include <Python.h>

#include "althaia/cpython/layout.h"

/* 1 where CPython would show a dictionary with this value to the collector. */
static inline int
althaia_may_be_tracked(PyObject *value)
{
    /* What most types answer does not need a call. */
    return PyType_IS_GC(Py_TYPE(value)) && PyObject_IS_GC(value)
        && (!PyTuple_CheckExact(value) || PyObject_GC_IsTracked(value));
}

/* dict[key] = value, the key being the n-th of the template that the dictionary is a copy of.
 * The place is taken for the key's only while it holds the template's None: somebody may have
 * found the dictionary through the garbage collector and changed it. 0, or -1 on error. */
static inline int
althaia_put(PyObject *dict, Py_ssize_t n, PyObject *key, PyObject *value)
{
#if ALTHAIA_KNOWS_SHARED_VALUES
    althaia_values *apart = althaia_values_of(dict);
    if (apart != NULL && apart->values[n] == Py_None) {
        if (althaia_may_be_tracked(value) && !PyObject_GC_IsTracked(dict)) {
            PyObject_GC_Track(dict);
        }
        apart->values[n] = Py_NewRef(value);
        Py_DECREF(Py_None);
        return 0;
    }
#else
    (void)n;
#endif
    return PyDict_SetItem(dict, key, value);
}

#endif
