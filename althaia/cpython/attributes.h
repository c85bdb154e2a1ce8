/* Reading the value of a field from an object, as marshmallow.utils.get_value does. */
#ifndef ALTHAIA_ATTRIBUTES_H
#define ALTHAIA_ATTRIBUTES_H

#include <Python.h>

#include "althaia/cpython/layout.h"

static PyObject *althaia_getitem_name = NULL;

/* Clear the current exception and return 1 if marshmallow.utils._get_value_for_key ignores
 * exceptions of this type; else return 0 and leave it set. */
static int
althaia_swallow_lookup_error(void)
{
    if (PyErr_ExceptionMatches(PyExc_KeyError) || PyErr_ExceptionMatches(PyExc_IndexError)
        || PyErr_ExceptionMatches(PyExc_TypeError)
        || PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        return 1;
    }
    return 0;
}

/* Return 1 if `obj[str]` raises TypeError for this type without running user code, so that the call
 * can be skipped. */
static int
althaia_refuses_str_keys(PyTypeObject *type)
{
    return type->tp_getattro == PyObject_GenericGetAttr && type->tp_as_mapping != NULL
        && (type->tp_as_mapping->mp_subscript == PyTuple_Type.tp_as_mapping->mp_subscript
            || type == &PyList_Type || type == &PyUnicode_Type || type == &PyBytes_Type);
}

/* Return 1 if attributes are read by object.__getattribute__ and the type has no subscript slot.
 * `obj[key]` then raises TypeError without running user code, even if the instance dictionary
 * holds a `__getitem__`; upstream continues with getattr(). */
static inline int
althaia_has_no_items(PyTypeObject *type)
{
    return type->tp_getattro == PyObject_GenericGetAttr
        && (type->tp_as_mapping == NULL || type->tp_as_mapping->mp_subscript == NULL)
        && (type->tp_as_sequence == NULL || type->tp_as_sequence->sq_item == NULL);
}

/* Read one key of one object as marshmallow.utils._get_value_for_key does: `obj[key]` if the
 * object has __getitem__, then `getattr(obj, key, missing)`.
 * `key` is an exact str. Return a new reference, or NULL on error. */
static PyObject *
althaia_get_value(PyObject *obj, PyObject *key, PyObject *missing)
{
    PyTypeObject *type = Py_TYPE(obj);
    PyObject *getitem, *value;
    if (type == &PyDict_Type) {
        if (althaia_dict_get(obj, key, &value) > 0) {
            return value;
        }
        if (PyErr_Occurred() && !althaia_swallow_lookup_error()) {
            return NULL;
        }
    }
    else if (!althaia_has_no_items(type) && !althaia_refuses_str_keys(type)) {
        getitem = althaia_read(&althaia_getitem_name);
        if (getitem == NULL) {
            /* Threads that come here at once get the same object. */
            getitem = PyUnicode_InternFromString("__getitem__");
            althaia_write(&althaia_getitem_name, getitem);
        }
        if (getitem == NULL || althaia_optional_attr(obj, getitem, &value) < 0) {
            return NULL;
        }
        if (value != NULL) {
            Py_DECREF(value);
            value = PyObject_GetItem(obj, key);
            if (value != NULL || !althaia_swallow_lookup_error()) {
                return value;
            }
        }
    }
    if (althaia_optional_attr(obj, key, &value) < 0) {
        return NULL;
    }
    return value != NULL ? value : Py_NewRef(missing);
}

/* Return 1 if instances of the class are true without running user code (no __bool__, no __len__).
 * Upstream tests the truth of a nested schema in each call and resolves a false one again, so that
 * plans accept only classes for which this is 1. */
static int
althaia_is_simply_true(PyObject *cls)
{
    PyTypeObject *type = (PyTypeObject *)cls;
    return (type->tp_as_number == NULL || type->tp_as_number->nb_bool == NULL)
        && (type->tp_as_mapping == NULL || type->tp_as_mapping->mp_length == NULL)
        && (type->tp_as_sequence == NULL || type->tp_as_sequence->sq_length == NULL);
}

#endif
