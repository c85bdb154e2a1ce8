/* Iterating over containers that user code may change meanwhile. */
#ifndef ALTHAIA_WALKING_H
#define ALTHAIA_WALKING_H

#include <Python.h>

#include "althaia/cpython/layout.h"

/* Return an item of a list or tuple as a new reference; NULL without an error after the last. */
static inline void *
althaia_item(PyObject *items, Py_ssize_t index)
{
#if !ALTHAIA_HAS_GIL
    if (PyList_Check(items)) {
        PyObject *item = PyList_GetItemRef(items, index);
        if (item == NULL) {
            PyErr_Clear();
        }
        return item;
    }
#endif
    if (index >= PySequence_Fast_GET_SIZE(items)) {
        return NULL;
    }
    return Py_NewRef(PySequence_Fast_GET_ITEM(items, index));
}

/* Store new references to the values of a dictionary that holds exactly these keys, compared by
 * identity and in order, and return 1; else return 0. */
static int
althaia_values_by_keys(PyObject *dict, PyObject *names, PyObject **values)
{
    Py_ssize_t size = PyTuple_GET_SIZE(names), position = 0, count = 0;
    PyObject *key, *value;
    ALTHAIA_BEGIN_CRITICAL(dict);
    if (PyDict_GET_SIZE(dict) == size) {
        while (PyDict_Next(dict, &position, &key, &value) && key == PyTuple_GET_ITEM(names, count)) {
            values[count++] = Py_NewRef(value);
        }
    }
    ALTHAIA_END_CRITICAL();
    if (count == size) {
        return 1;
    }
    while (count > 0) {
        Py_DECREF(values[--count]);
    }
    return 0;
}

#endif
