/* Functions in the type slots of schema classes that have lazy instances.
 *
 * Python code does not see them. Only `engine/instances/` includes this file.
 */
#ifndef ALTHAIA_INTERCEPTORS_H
#define ALTHAIA_INTERCEPTORS_H

#include "althaia/cpython/layout.h"

/* The names that concern a lazy instance, and the function that is then called first. It returns
 * the attribute, or None if it is read as usual. */
static PyObject *althaia_intercepted_names = NULL;
static PyObject *(*althaia_interceptor)(PyObject *obj, PyObject *name) = NULL;
/* A bit for the hash of each of these names: most other names need no look-up. */
static uint64_t althaia_intercepted_bits[4];

/* Return 0 if a name is none of those, 1 if it may be one. */
static inline int
althaia_may_concern(PyObject *name)
{
    size_t hash = (size_t)((PyASCIIObject *)name)->hash;
    return !PyUnicode_CheckExact(name) || hash == (size_t)-1
        || (althaia_intercepted_bits[hash >> 6 & 3] >> (hash & 63) & 1);
}

/* The tp_getattro of a class with lazy instances. It is written in C because Cython adds a line to
 * the traceback of each error that passes through a function of its own. */
static PyObject *
althaia_intercepted_getattr(PyObject *obj, PyObject *name)
{
    PyObject *found, *dict = althaia_dict_there(obj);
    int present, concerns = 0;
    if (dict != NULL && !PyDict_CheckExact(dict) && althaia_may_concern(name)) {
        /* What the instance has is read as usual. A key's `__eq__` may replace the dictionary. */
        Py_INCREF(dict);
        present = PyDict_Contains(dict, name);
        Py_DECREF(dict);
        if (present <= 0) {
            concerns = present < 0 ? -1 : PySet_Contains(althaia_intercepted_names, name);
        }
    }
    if (concerns != 0) {
        found = concerns < 0 ? NULL : althaia_interceptor(obj, name);
        if (found != Py_None) {
            return found;
        }
        Py_DECREF(found);
    }
    return PyObject_GenericGetAttr(obj, name);
}

/* Return 1 if our function is the tp_getattro of the class. */
static inline int
althaia_is_intercepted(PyObject *cls)
{
    return ((PyTypeObject *)cls)->tp_getattro == althaia_intercepted_getattr;
}

/* Replace the tp_getattro of the class by our function, if it is CPython's own. */
static inline void
althaia_intercept(PyObject *cls)
{
    PyTypeObject *type = (PyTypeObject *)cls;
    if (type->tp_getattro == PyObject_GenericGetAttr) {
        type->tp_getattro = althaia_intercepted_getattr;
        PyType_Modified(type);
    }
}

static initproc althaia_plain_init = NULL;

/* Replace the tp_init of the class by our function, if it is slot_tp_init(), which calls
 * `__init__`. `plain` is a class that has this slot, because it defines `__init__`. CPython
 * restores the slot when `__init__` of the class or of a base is replaced. */
static inline void
althaia_intercept_init(PyObject *cls, PyObject *plain, initproc init)
{
    PyTypeObject *type = (PyTypeObject *)cls;
    if (althaia_plain_init == NULL) {
        althaia_plain_init = ((PyTypeObject *)plain)->tp_init;
    }
    if (type->tp_init == althaia_plain_init) {
        type->tp_init = init;
    }
}

/* Return 1 if the frames of this thread's calls may be seen: by a debugger, a profiler, or a
 * replaced frame evaluation function (PEP 523). */
static inline int
althaia_is_traced(void)
{
#if ALTHAIA_KNOWS_TRACING
    PyThreadState *thread = PyThreadState_Get();
    return thread->cframe->use_tracing
        || _PyInterpreterState_GetEvalFrameFunc(thread->interp) != _PyEval_EvalFrameDefault;
#else
    return 1;
#endif
}

static PyGetSetDef althaia_intercepted_dict;
static getter althaia_plain_dict = NULL;

/* Replace the getter of the `__dict__` descriptor by our function: vars() and others call the
 * descriptor without tp_getattro. */
static inline void
althaia_intercept_dict(PyObject *descriptor, getter interceptor)
{
    if (althaia_plain_dict == NULL && Py_IS_TYPE(descriptor, &PyGetSetDescr_Type)) {
        PyGetSetDescrObject *found = (PyGetSetDescrObject *)descriptor;
        PyGetSetDef plain = *found->d_getset;
        /* Without the GIL another thread may have been sooner. */
        if (plain.get != interceptor) {
            althaia_plain_dict = plain.get;
            plain.get = interceptor;
            althaia_intercepted_dict = plain;
            found->d_getset = &althaia_intercepted_dict;
        }
    }
}

#endif
