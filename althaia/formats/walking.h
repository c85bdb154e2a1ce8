/* Iterating over containers that user code may change meanwhile, and json's messages about them. */
#ifndef ALTHAIA_WALKING_H
#define ALTHAIA_WALKING_H

#include <Python.h>

/* From Python 3.14 on json adds a note to an error for each container around the value that could
 * not be encoded. */
#if PY_VERSION_HEX >= 0x030E0000
#define ALTHAIA_ADDS_NOTES 1
#else
#define ALTHAIA_ADDS_NOTES 0
#endif

/* Without a GIL another thread may change a dictionary while it is iterated without a copy. */
#ifdef Py_GIL_DISABLED
#define ALTHAIA_WALKS_IN_PLACE 0
#else
#define ALTHAIA_WALKS_IN_PLACE 1
#endif

/* Return the name of a class as json's C code writes it: with its module, unless that is builtins
 * or __main__. */
static PyObject *
althaia_class_name(PyObject *cls)
{
#if PY_VERSION_HEX >= 0x030D0000
    return PyType_GetFullyQualifiedName((PyTypeObject *)cls);
#else
    return PyType_GetQualName((PyTypeObject *)cls);
#endif
}

/* Return an item of a list or tuple as a new reference; NULL without an error after the last. */
static inline void *
althaia_item(PyObject *items, Py_ssize_t index)
{
#ifdef Py_GIL_DISABLED
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
 * identity and in order, and return 1. Return 0 if it holds others, and without the GIL. */
static int
althaia_values_by_keys(PyObject *dict, PyObject *keys, PyObject **values)
{
    Py_ssize_t size = PyTuple_GET_SIZE(keys), at = 0, position = 0;
    PyObject *key;
    int same;
    same = ALTHAIA_WALKS_IN_PLACE && PyDict_GET_SIZE(dict) == size;
    while (same && at < size && PyDict_Next(dict, &position, &key, &values[at])) {
        same = key == PyTuple_GET_ITEM(keys, at);
        at++;
    }
    same = same && at == size;
    for (at = 0; same && at < size; at++) {
        Py_INCREF(values[at]);
    }
    return same;
}

#endif
