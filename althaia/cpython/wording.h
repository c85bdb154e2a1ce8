/* Gives errors that compiled code detects the messages that the interpreter uses for them.
 *
 * Everything is static: each extension module that includes this file has its own copy.
 */
#ifndef ALTHAIA_WORDING_H
#define ALTHAIA_WORDING_H

#include <Python.h>

/* For a Cython wrapper that has set a TypeError about its arguments. */
#define ALTHAIA_WRONG_CALL() althaia_wrong_call(__pyx_self, __pyx_args, __pyx_nargs, __pyx_kwds)

static PyObject *
althaia_repeat_call(PyObject *function, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *module, *positional = NULL, *named = NULL, *result = NULL;
    Py_ssize_t i;
    module = PyImport_ImportModule("althaia.calls");
    if (module == NULL) {
        return NULL;
    }
    positional = PyTuple_New(count);
    named = PyDict_New();
    if (positional == NULL || named == NULL) {
        goto done;
    }
    for (i = 0; i < count; i++) {
        Py_INCREF(args[i]);
        PyTuple_SET_ITEM(positional, i, args[i]);
    }
    if (names != NULL && PyTuple_Check(names)) {
        for (i = 0; i < PyTuple_GET_SIZE(names); i++) {
            if (PyDict_SetItem(named, PyTuple_GET_ITEM(names, i), args[count + i]) < 0) {
                goto done;
            }
        }
    }
    result = PyObject_CallMethod(module, "repeat", "OOO", function, positional, named);
done:
    Py_DECREF(module);
    Py_XDECREF(positional);
    Py_XDECREF(named);
    return result;
}

/* Replace the TypeError that is set by the one that the interpreter raises for the same call. Keep
 * the error that is set if it is another one, or if the interpreter accepts the call. */
static void
althaia_wrong_call(PyObject *function, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *type, *value, *traceback, *result;
    if (function == NULL || !PyErr_ExceptionMatches(PyExc_TypeError)) {
        return;
    }
    PyErr_Fetch(&type, &value, &traceback);
    result = althaia_repeat_call(function, args, count, names);
    if (result == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
        /* Drop the traceback: its frames belong to the repeated call, not to the user's. */
        PyErr_Fetch(&type, &value, &traceback);
        PyErr_NormalizeException(&type, &value, &traceback);
        PyException_SetTraceback(value, Py_None);
        Py_CLEAR(traceback);
    }
    Py_XDECREF(result);
    PyErr_Restore(type, value, traceback);
}

/* PyObject_GetIter() with the message that `a, b = value` raises. */
static PyObject *
althaia_iterate_to_unpack(PyObject *value)
{
    PyObject *iterator = PyObject_GetIter(value);
    if (iterator == NULL && Py_TYPE(value)->tp_iter == NULL && !PySequence_Check(value)
        && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Format(PyExc_TypeError, "cannot unpack non-iterable %.200s object",
                     Py_TYPE(value)->tp_name);
    }
    return iterator;
}

/* Return `{**mapping}` as a new dictionary; `f(**mapping)` does the same for a mapping that is no
 * dict. */
static PyObject *
althaia_unpack_mapping(PyObject *mapping)
{
    PyObject *unpacked = PyDict_New();
    if (unpacked != NULL && PyDict_Update(unpacked, mapping) < 0) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
            PyErr_Format(PyExc_TypeError, "'%.200s' object is not a mapping",
                         Py_TYPE(mapping)->tp_name);
        }
        Py_CLEAR(unpacked);
    }
    return unpacked;
}

static void
althaia_too_few_to_unpack(Py_ssize_t expected, Py_ssize_t got)
{
    PyErr_Format(PyExc_ValueError, "not enough values to unpack (expected %zd, got %zd)",
                 expected, got);
}

/* For a list or a tuple. From 3.14 on the message says how many items there are. */
static void
althaia_too_many_to_unpack(Py_ssize_t expected, Py_ssize_t got)
{
#if PY_VERSION_HEX >= 0x030E0000
    PyErr_Format(PyExc_ValueError, "too many values to unpack (expected %zd, got %zd)",
                 expected, got);
#else
    (void)got;
    PyErr_Format(PyExc_ValueError, "too many values to unpack (expected %zd)", expected);
#endif
}

#endif
