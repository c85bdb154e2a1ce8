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
    PyObject *module, *repeat = NULL, *result = NULL, **all;
    Py_ssize_t size = count;
    if (names != NULL && !PyTuple_Check(names)) {
        names = NULL;
    }
    size += names != NULL ? PyTuple_GET_SIZE(names) : 0;
    module = PyImport_ImportModule("althaia.call_errors");
    if (module == NULL) {
        return NULL;
    }
    all = PyMem_New(PyObject *, (size_t)size + 1);
    if (all != NULL && (repeat = PyObject_GetAttrString(module, "repeat")) != NULL) {
        all[0] = function;
        memcpy(all + 1, args, (size_t)size * sizeof(PyObject *));
        result = PyObject_Vectorcall(repeat, all, (size_t)count + 1, names);
        Py_DECREF(repeat);
    }
    PyMem_Free(all);
    Py_DECREF(module);
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
