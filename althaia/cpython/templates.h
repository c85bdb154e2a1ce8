/* Templates: dictionaries that are created with all their keys.
 *
 * A copy of a split-table dictionary is a split-table dictionary with the same keys. Its values are
 * in the order of the keys, so that the value of the n-th key is stored without a look-up. In any
 * other dictionary a value is stored by PyDict_SetItem().
 */
#ifndef ALTHAIA_TEMPLATES_H
#define ALTHAIA_TEMPLATES_H

#include <Python.h>

#include "althaia/cpython/layout.h"

/* Return 1 if a dictionary that holds this value must be tracked by the GC. */
static inline int
althaia_may_be_tracked(PyObject *value)
{
    /* PyObject_IS_GC() asks the same, but is no macro. */
    return PyType_IS_GC(Py_TYPE(value))
        && (Py_TYPE(value)->tp_is_gc == NULL || PyObject_IS_GC(value))
        && (!PyTuple_CheckExact(value) || althaia_is_tracked(value));
}

/* Set dict[key] = value. The dictionary is a copy of a template, and `key` is the n-th key of that.
 * The n-th value is replaced only if it still is the template's None: user code may have found the
 * dictionary through the gc module and changed it. Return 0, or -1 on error. */
static inline int
althaia_put(PyObject *dict, Py_ssize_t n, PyObject *key, PyObject *value)
{
#if ALTHAIA_KNOWS_ENTRIES
    althaia_values *apart = althaia_values_of(dict);
    if (apart != NULL && apart->values[n] == Py_None) {
        if (althaia_may_be_tracked(value) && !althaia_is_tracked(dict)) {
            PyObject_GC_Track(dict);
        }
        apart->values[n] = Py_NewRef(value);
        Py_DECREF(Py_None);
        return 0;
    }
#endif
    return PyDict_SetItem(dict, key, value);
}

#endif
