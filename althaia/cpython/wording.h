/* Gives a wrong call of a compiled function the message that the interpreter has for it.
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
    module = PyImport_ImportModule("althaia.call_errors");
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

#endif
