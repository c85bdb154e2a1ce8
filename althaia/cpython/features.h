/* Which of CPython's internals work as expected: checked when an extension module is imported. */
#ifndef ALTHAIA_FEATURES_H
#define ALTHAIA_FEATURES_H

#include <Python.h>

#include "althaia/cpython/layout.h"

enum {
    ALTHAIA_SHARED_VALUES = 1,
    ALTHAIA_INLINE_VALUES = 2,
    ALTHAIA_DICT_VERSIONS = 4,
    ALTHAIA_TYPE_TAGS = 8,
    ALTHAIA_DICT_WATCHERS = 16,
    ALTHAIA_ENTRIES = 32,
    ALTHAIA_INLINE_WATCHERS = 64,
};

/* The features that work here. Each extension module has its own copy of this variable. A module
 * that uses a feature calls althaia_try_features() when it is imported. Only then it may call
 * althaia_start_watching(), which adds the two features of dict watchers. */
static unsigned int althaia_features = 0;

/* Return three attribute names as a new tuple. */
static inline PyObject *
althaia_new_names(void)
{
    return Py_BuildValue("(NNN)", PyUnicode_InternFromString("first"),
                         PyUnicode_InternFromString("second"), PyUnicode_InternFromString("third"));
}

/* Return a new empty class, as a new reference. */
static inline PyObject *
althaia_new_class(void)
{
    return PyObject_CallFunction((PyObject *)&PyType_Type, "s(){}", "Trial");
}

/* Return a new instance with an attribute for each of the names; its value is the name itself. */
static inline PyObject *
althaia_new_instance(PyObject *cls, PyObject *names)
{
    PyObject *instance = PyObject_CallNoArgs(cls);
    for (Py_ssize_t i = 0; instance != NULL && i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        if (PyObject_SetAttr(instance, name, name) < 0) {
            Py_CLEAR(instance);
        }
    }
    return instance;
}

/* Check that a copy of a split-table dictionary has its values in the order of the keys, and that
 * PyDict_SetItem() stores there. */
static inline int
althaia_try_shared_values(PyObject *cls, PyObject *names)
{
    int holds = 0;
    PyObject *instance = althaia_new_instance(cls, names);
    PyObject *dict = instance != NULL ? PyObject_GenericGetDict(instance, NULL) : NULL;
    PyObject *copy = dict != NULL ? PyDict_Copy(dict) : NULL;
    if (copy != NULL && althaia_lies_in_order(copy, names)) {
        PyObject *last = PyTuple_GET_ITEM(names, PyTuple_GET_SIZE(names) - 1);
        holds = PyDict_SetItem(copy, last, Py_None) == 0
            && althaia_values_of(copy)->values[PyTuple_GET_SIZE(names) - 1] == Py_None;
    }
    Py_XDECREF(copy);
    Py_XDECREF(dict);
    Py_XDECREF(instance);
    return holds;
}

/* Check that an instance has inline values in the order of assignment, and that deleting an
 * attribute changes them or marks them invalid. */
static inline int
althaia_try_inline_values(PyObject *cls, PyObject *names)
{
    int holds = 0;
#if ALTHAIA_KNOWS_INLINE_VALUES
    PyObject *instance = althaia_new_instance(cls, names);
    althaia_values *values = instance != NULL ? althaia_inline_values(instance) : NULL;
    Py_ssize_t size = PyTuple_GET_SIZE(names);
    if (values != NULL && values->valid && values->size == size && values->capacity >= size) {
        holds = 1;
        for (Py_ssize_t i = 0; i < size; i++) {
            holds = holds && values->values[i] == PyTuple_GET_ITEM(names, i)
                && althaia_inline_order(values)[i] == i;
        }
        holds = holds && PyObject_DelAttr(instance, PyTuple_GET_ITEM(names, 0)) == 0
            && (!values->valid || (values->size == size - 1 && values->values[0] == NULL));
    }
    Py_XDECREF(instance);
#else
    (void)cls;
    (void)names;
#endif
    return holds;
}

/* Check that the values of a dictionary and of an instance are found by the index of their key,
 * and that nothing is found at the index of another, a deleted or a missing key. */
static inline int
althaia_try_entries(PyObject *cls, PyObject *names)
{
    int holds = 0;
#if ALTHAIA_KNOWS_ENTRIES
    PyObject *first = PyTuple_GET_ITEM(names, 0), *second = PyTuple_GET_ITEM(names, 1);
    PyObject *instance = althaia_new_instance(cls, names);
    PyObject *other = althaia_new_instance(cls, names);
    PyObject *dict = PyDict_New();
    PyObject *shared = other != NULL ? PyObject_GenericGetDict(other, NULL) : NULL;
    if (instance != NULL && shared != NULL && dict != NULL
        && althaia_keeps_attributes(Py_TYPE(instance))
        && PyDict_SetItem(dict, first, Py_None) == 0
        && PyDict_SetItem(dict, second, second) == 0) {
        holds = althaia_find_key(althaia_keys_of(dict), second) == 1
            && althaia_value_at(dict, first, 0) == Py_None
            && althaia_value_at(dict, second, 1) == second
            && althaia_value_at(dict, second, 0) == NULL
            && althaia_value_at(dict, second, 2) == NULL
            && althaia_value_at(dict, second, -1) == NULL
            && PyDict_DelItem(dict, first) == 0 && althaia_value_at(dict, first, 0) == NULL
            && PyDict_SetItem(dict, Py_None, Py_None) == 0
            && althaia_value_at(dict, second, althaia_find_key(althaia_keys_of(dict), second)) == NULL;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
            PyObject *name = PyTuple_GET_ITEM(names, i);
            holds = holds && althaia_find_key(althaia_keys_of_instance(instance), name) == i
                && althaia_find_key(althaia_keys_of_instance(other), name) == i
                && althaia_attribute_at(instance, name, i) == name
                && althaia_attribute_at(other, name, i) == name
                && althaia_value_at(shared, name, i) == name
                && althaia_attribute_at(instance, name, i + 1) == NULL;
        }
        holds = holds && PyObject_DelAttr(instance, second) == 0
            && althaia_attribute_at(instance, second, 1) == NULL
            && PyObject_SetAttr(other, second, Py_None) == 0
            && (althaia_attribute_at(other, second, 1) == Py_None
                || althaia_attribute_at(other, second, 1) == NULL);
    }
    Py_XDECREF(shared);
    Py_XDECREF(dict);
    Py_XDECREF(other);
    Py_XDECREF(instance);
#else
    (void)cls;
    (void)names;
#endif
    return holds;
}

/* Check that this dictionary's version changes when the dictionary changes, and only then. */
static inline int
althaia_try_version_of(PyObject *dict, PyObject *name)
{
    uint64_t before;
    if (dict == NULL || PyDict_SetItem(dict, name, name) < 0) {
        return 0;
    }
    before = althaia_dict_version(dict);
    return before != 0 && PyDict_GetItemWithError(dict, name) == name
        && althaia_dict_version(dict) == before && PyDict_SetItem(dict, name, Py_None) == 0
        && althaia_dict_version(dict) != before;
}

/* Check the versions of an ordinary dictionary and of a split-table dictionary. */
static inline int
althaia_try_dict_versions(PyObject *cls, PyObject *names)
{
    PyObject *name = PyTuple_GET_ITEM(names, 0);
    PyObject *instance = althaia_new_instance(cls, names);
    PyObject *shared = instance != NULL ? PyObject_GenericGetDict(instance, NULL) : NULL;
    PyObject *copy = shared != NULL ? PyDict_Copy(shared) : NULL;
    PyObject *dict = PyDict_New();
    int holds = althaia_try_version_of(dict, name) && althaia_try_version_of(copy, name);
    Py_XDECREF(dict);
    Py_XDECREF(copy);
    Py_XDECREF(shared);
    Py_XDECREF(instance);
    return holds;
}

/* Check that a type loses its type version when its base changes, and then gets another one. */
static inline int
althaia_try_type_tags(PyObject *cls, PyObject *names)
{
    PyObject *derived = PyObject_CallFunction((PyObject *)&PyType_Type, "s(O){}", "Derived", cls);
    unsigned int before = derived != NULL ? althaia_type_tag(derived) : 0;
    int holds = before != 0 && ALTHAIA_TYPE_TAG(derived) == before
        && PyObject_SetAttr(cls, PyTuple_GET_ITEM(names, 0), Py_None) == 0
        && ALTHAIA_TYPE_TAG(derived) != before && althaia_type_tag(derived) != before;
    Py_XDECREF(derived);
    return holds;
}

/* Run all checks and set althaia_features. Return 0, or -1 with an exception set. */
static inline int
althaia_try_features(void)
{
    PyObject *names = althaia_new_names();
    PyObject *cls = names != NULL ? althaia_new_class() : NULL;
    unsigned int found = 0;
    if (cls != NULL) {
        found |= althaia_try_shared_values(cls, names) ? ALTHAIA_SHARED_VALUES : 0;
        found |= althaia_try_inline_values(cls, names) ? ALTHAIA_INLINE_VALUES : 0;
        found |= althaia_try_entries(cls, names) ? ALTHAIA_ENTRIES : 0;
        found |= althaia_try_dict_versions(cls, names) ? ALTHAIA_DICT_VERSIONS : 0;
        found |= althaia_try_type_tags(cls, names) ? ALTHAIA_TYPE_TAGS : 0;
    }
    Py_XDECREF(cls);
    Py_XDECREF(names);
    if (PyErr_Occurred()) {
        return -1;
    }
    althaia_features = found;
    return 0;
}

/* ---- Watched dictionaries ------------------------------------------------------------ */

/* A counter that each change of any watched dictionary increases; 0 if dict watchers are not used.
 * One counter serves all watched dictionaries: they hardly ever change, and each call reads it. */
static uint64_t althaia_epoch = 0;

#if ALTHAIA_KNOWS_DICT_WATCHERS
static int althaia_watcher = -1;
#endif

/* Watch a dictionary: from now on each change of it increases althaia_epoch. Return 0, or -1 on
 * error. */
static inline int
althaia_watch_dict(PyObject *dict)
{
#if ALTHAIA_KNOWS_DICT_WATCHERS
    return PyDict_Watch(althaia_watcher, dict);
#else
    (void)dict;
    return 0;
#endif
}

#if ALTHAIA_KNOWS_DICT_WATCHERS

static int
althaia_at_dict_event(PyDict_WatchEvent event, PyObject *dict, PyObject *key, PyObject *value)
{
    (void)event;
    (void)dict;
    (void)key;
    (void)value;
    althaia_epoch++;
    return 0;
}

/* Return 1 if the change succeeded (`done` is its return value) and increased the epoch above
 * `*before`. Store the present epoch in `*before` for the next change. */
static inline int
althaia_epoch_grew(int done, uint64_t *before)
{
    int grew = done >= 0 && althaia_epoch != *before;
    *before = althaia_epoch;
    return grew;
}

/* Check that CPython calls the watcher for each way of changing a dictionary. */
static inline int
althaia_try_dict_watchers(PyObject *names)
{
    PyObject *first = PyTuple_GET_ITEM(names, 0), *second = PyTuple_GET_ITEM(names, 1);
    PyObject *dict = PyDict_New(), *other = PyDict_New(), *popped = NULL;
    uint64_t before = althaia_epoch;
    int holds = dict != NULL && other != NULL && althaia_watch_dict(dict) == 0
        && althaia_epoch_grew(PyDict_SetItem(dict, first, first), &before)
        && althaia_epoch_grew(PyDict_SetItem(dict, first, Py_None), &before)
        && PyDict_SetItem(other, second, second) == 0
        && althaia_epoch_grew(PyDict_Update(dict, other), &before)
        && althaia_epoch_grew(PyDict_DelItem(dict, first), &before)
        && (popped = PyObject_CallMethod(dict, "popitem", NULL)) != NULL
        && althaia_epoch_grew(0, &before)
        && althaia_epoch_grew(PyDict_Update(dict, other), &before);
    if (holds) {
        PyDict_Clear(dict);
        holds = althaia_epoch_grew(0, &before);
    }
    Py_XDECREF(popped);
    Py_XDECREF(dict);
    Py_XDECREF(other);
    return holds && althaia_epoch_grew(0, &before);
}

/* Check that CPython calls the watcher for each way of changing inline values, once the instance
 * has a dictionary. While it has none, the interpreter's specialised instructions set inline
 * values without calling a watcher. */
static inline int
althaia_try_inline_watchers(PyObject *cls, PyObject *names)
{
    int holds = 0;
#if ALTHAIA_KNOWS_INLINE_VALUES
    PyObject *first = PyTuple_GET_ITEM(names, 0), *second = PyTuple_GET_ITEM(names, 1);
    PyObject *instance = althaia_new_instance(cls, names);
    PyObject *dict = instance != NULL ? PyObject_GenericGetDict(instance, NULL) : NULL;
    uint64_t before = althaia_epoch;
    if (dict != NULL && althaia_values_of(dict) != NULL && althaia_values_of(dict)->embedded
        && althaia_watch_dict(dict) == 0) {
        holds = althaia_epoch_grew(PyObject_SetAttr(instance, first, Py_None), &before)
            && althaia_epoch_grew(PyObject_DelAttr(instance, first), &before)
            && althaia_epoch_grew(PyObject_SetAttr(instance, first, first), &before)
            && althaia_epoch_grew(PyDict_SetItem(dict, second, Py_None), &before)
            && althaia_epoch_grew(PyDict_DelItem(dict, second), &before)
            && althaia_epoch_grew(PyObject_SetAttr(instance, second, second), &before);
    }
    Py_XDECREF(dict);
    Py_XDECREF(instance);
#else
    (void)cls;
    (void)names;
#endif
    return holds;
}

#endif

/* Register the dict watcher. Only one extension module may call this, because a process has few
 * watcher ids. Return 0, or -1 with an exception set. */
static inline int
althaia_start_watching(void)
{
#if ALTHAIA_KNOWS_DICT_WATCHERS
    PyObject *names = althaia_new_names();
    PyObject *cls = names != NULL ? althaia_new_class() : NULL;
    unsigned int found = 0;
    if (cls == NULL) {
        Py_XDECREF(names);
        return -1;
    }
    althaia_watcher = PyDict_AddWatcher(althaia_at_dict_event);
    if (althaia_watcher >= 0 && althaia_try_dict_watchers(names)) {
        found = ALTHAIA_DICT_WATCHERS;
        found |= althaia_try_inline_watchers(cls, names) ? ALTHAIA_INLINE_WATCHERS : 0;
    }
    Py_DECREF(cls);
    Py_DECREF(names);
    if (found && !PyErr_Occurred()) {
        althaia_features |= found;
    }
    else {
        /* No watcher id is free, or CPython does not call the watcher for every change. */
        PyErr_Clear();
        althaia_epoch = 0;
        if (althaia_watcher >= 0 && PyDict_ClearWatcher(althaia_watcher) < 0) {
            PyErr_Clear();
        }
        althaia_watcher = -1;
    }
#endif
    return 0;
}

#endif
