/* Checks whether a Python function has changed since it was recorded.
 *
 * A program may replace a function's code or defaults, or the values in its keyword defaults; the
 * function is still the same object. The recorded objects are never freed, so that no other object
 * gets their addresses. Nothing here runs user code.
 */
#ifndef ALTHAIA_FUNCTIONS_H
#define ALTHAIA_FUNCTIONS_H

#include <Python.h>

typedef struct {
    PyObject *function;
    PyObject *code;
    PyObject *defaults;
    PyObject *keyword_defaults;
    /* A copy of `keyword_defaults`, or NULL. */
    PyObject *entries;
} althaia_function;

/* Record a function, which must be an exact types.FunctionType. Return 0, or -1 on error. */
static int
althaia_note_function(althaia_function *noted, PyObject *function)
{
    PyObject *keyword_defaults = PyFunction_GET_KW_DEFAULTS(function);
    PyObject *entries = NULL;
    if (keyword_defaults != NULL && (entries = PyDict_Copy(keyword_defaults)) == NULL) {
        return -1;
    }
    noted->entries = entries;
    noted->function = Py_NewRef(function);
    noted->code = Py_NewRef(PyFunction_GET_CODE(function));
    noted->defaults = Py_XNewRef(PyFunction_GET_DEFAULTS(function));
    noted->keyword_defaults = Py_XNewRef(keyword_defaults);
    return 0;
}

/* Return 1 if both dictionaries hold the same objects in the same order. */
static int
althaia_has_entries(PyObject *mapping, PyObject *entries)
{
    Py_ssize_t at = 0, there = 0;
    PyObject *key, *value, *expected_key, *expected;
    int same = 1;
#ifdef Py_GIL_DISABLED
    Py_BEGIN_CRITICAL_SECTION2(mapping, entries);
#endif
    while (same && PyDict_Next(entries, &there, &expected_key, &expected)) {
        same = PyDict_Next(mapping, &at, &key, &value) && key == expected_key && value == expected;
    }
    same = same && PyDict_GET_SIZE(mapping) == PyDict_GET_SIZE(entries);
#ifdef Py_GIL_DISABLED
    Py_END_CRITICAL_SECTION2();
#endif
    return same;
}

/* Return 1 if the function has its recorded code, defaults and keyword defaults. */
static int
althaia_is_unchanged(const althaia_function *noted)
{
    PyObject *function = noted->function;
    return PyFunction_GET_CODE(function) == noted->code
        && PyFunction_GET_DEFAULTS(function) == noted->defaults
        && PyFunction_GET_KW_DEFAULTS(function) == noted->keyword_defaults
        && (noted->entries == NULL || althaia_has_entries(noted->keyword_defaults, noted->entries));
}

#endif
