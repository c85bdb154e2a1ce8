/* Comparing dictionaries, lists and objects with a snapshot of their former contents. */
#ifndef ALTHAIA_SNAPSHOTS_H
#define ALTHAIA_SNAPSHOTS_H

#include <Python.h>

#include "althaia/cpython/layout.h"

/* ---- Dict watchers: CPython calls a function of ours for each change of a watched dictionary ---- */

/* A counter that each change of any watched dictionary increases; 0 if dict watchers are not used.
 * One counter serves all watched dictionaries: they hardly ever change, and each call reads it. */
#if ALTHAIA_KNOWS_DICT_WATCHERS

static uint64_t althaia_epoch = 0;
static int althaia_watcher = -1;

static int
althaia_at_dict_event(PyDict_WatchEvent event, PyObject *dict, PyObject *key, PyObject *value)
{
    althaia_epoch++;
    return 0;
}

#else
enum { althaia_epoch = 0 };
#endif

/* Register the dict watcher. Only one extension module may call this, because a process has few
 * watcher ids. If none is free, contents are compared instead. */
static inline void
althaia_start_watching(void)
{
#if ALTHAIA_KNOWS_DICT_WATCHERS
    althaia_watcher = PyDict_AddWatcher(althaia_at_dict_event);
    if (althaia_watcher < 0) {
        PyErr_Clear();
        return;
    }
    althaia_epoch = 1;
#endif
}

/* ---- Snapshots ---------------------------------------------------------------------- */

/* Return 1 if the dictionary holds exactly these keys and values, compared by identity and in order.
 * Where the value is `any`, every value matches. */
static int
althaia_same_entries(PyObject *dict, PyObject *keys, PyObject *values, PyObject *any)
{
    Py_ssize_t size = PyTuple_GET_SIZE(keys), at = 0, position = 0;
    PyObject *key, *value;
    int same;
    ALTHAIA_BEGIN_CRITICAL(dict);
    same = PyDict_GET_SIZE(dict) == size;
    while (same && PyDict_Next(dict, &position, &key, &value)) {
        same = at < size && key == PyTuple_GET_ITEM(keys, at)
            && (value == PyTuple_GET_ITEM(values, at) || PyTuple_GET_ITEM(values, at) == any);
        at++;
    }
    ALTHAIA_END_CRITICAL();
    return same && at == size;
}

/* Return a number that identifies the dictionary's present contents, 0 if there is none. With dict
 * watchers it is the epoch, which each change of a watched dictionary increases; otherwise it is the
 * dict version. */
static inline uint64_t
althaia_version_to_note(PyObject *dict)
{
#if ALTHAIA_KNOWS_DICT_WATCHERS
    if (althaia_epoch != 0) {
        if (PyDict_Watch(althaia_watcher, dict) < 0) {
            PyErr_Clear();
            return 0;
        }
        return althaia_epoch;
    }
#endif
    return althaia_dict_version(dict);
}

/* Return 1 if the dictionary has not changed since it had the stored version, which another thread
 * may be writing at this moment. 0 means "unknown": the caller must compare the contents. */
static inline int
althaia_has_noted_version(PyObject *dict, uint64_t *place)
{
    uint64_t version = althaia_read(place);
    return version != 0
        && version == (althaia_epoch != 0 ? althaia_epoch : althaia_dict_version(dict));
}

/* Store the version at which a dictionary had the expected contents. The caller must read the
 * version before it compares the contents, so that a change in between is noticed. Several threads
 * may store at the same time, because each of them stores a version that it has verified. */
static inline void
althaia_note_version(uint64_t *place, uint64_t version)
{
    if (version != 0) {
        althaia_write(place, version);
    }
}

/* A copy of an object's inline values, and the index of the value that is not compared (or -1). */
typedef struct {
    int unwatched;
    althaia_values values;
} althaia_inline_copy;

/* Copy an object's inline values for later comparison. Return NULL without an error if it has no
 * inline values, or if they are others than expected. The caller frees the copy by PyMem_Free(). */
static althaia_inline_copy *
althaia_copy_inline(PyObject *object, PyObject *expected_values, PyObject *any)
{
#if ALTHAIA_KNOWS_INLINE_VALUES
    Py_ssize_t size = PyTuple_GET_SIZE(expected_values);
    althaia_values *values = althaia_inline_values(object);
    althaia_inline_copy *copy;
    size_t bytes;
    int unwatched = -1;
    if (values == NULL || !values->valid || values->size != size
        || values->size > values->capacity) {
        return NULL;
    }
    bytes = (size_t)(althaia_inline_order(values) + size - (const uint8_t *)values);
    copy = PyMem_Malloc(offsetof(althaia_inline_copy, values) + bytes);
    if (copy == NULL) {
        return NULL;
    }
    /* Compare the copy, not the original: another thread may change that. */
    memcpy(&copy->values, values, bytes);
    values = &copy->values;
    for (Py_ssize_t i = 0; i < size; i++) {
        int at = althaia_inline_order(values)[i];
        PyObject *expected = PyTuple_GET_ITEM(expected_values, i);
        if (expected == any && unwatched < 0) {
            unwatched = at;
        }
        else if (at >= values->capacity || values->values[at] != expected) {
            PyMem_Free(copy);
            return NULL;
        }
    }
    copy->unwatched = unwatched;
    return copy;
#else
    return NULL;
#endif
}

/* Return 1 if an object of the same type still holds the copied inline values. 0 means "unknown":
 * the caller must compare the contents. */
static int
althaia_same_inline(PyObject *object, const althaia_inline_copy *copy)
{
#if ALTHAIA_KNOWS_INLINE_VALUES
    const althaia_values *now, *then;
    if (copy == NULL) {
        return 0;
    }
    now = (const althaia_values *)(object + 1);
    then = &copy->values;
    if (now->capacity != then->capacity || althaia_read(&now->size) != then->size
        || !althaia_read(&now->valid)) {
        return 0;
    }
    for (int i = 0; i < then->capacity; i++) {
        if (i != copy->unwatched && althaia_read(&now->values[i]) != then->values[i]) {
            return 0;
        }
    }
    for (int i = 0; i < then->size; i++) {
        if (althaia_read(&althaia_inline_order(now)[i]) != althaia_inline_order(then)[i]) {
            return 0;
        }
    }
    return 1;
#else
    return 0;
#endif
}

/* What a guard has recorded about an object with an instance dictionary, in a tuple of all that it
 * watches: the object, its type, its instance dictionary, and the keys and values of that. */
enum {
    ALTHAIA_OBJECT,
    ALTHAIA_TYPE,
    ALTHAIA_DICT,
    ALTHAIA_KEYS,
    ALTHAIA_VALUES,
    ALTHAIA_RECORD_SIZE,
};

/* When and where the guard last found the object as recorded. */
typedef struct {
    /* The field of the object that points to its dictionary; NULL if its address is not known, or
     * if the dictionary cannot be watched. */
    PyObject **place;
    uint64_t version;
    /* Owned. */
    althaia_inline_copy *copy;
} althaia_watched;

/* Return the address of the object's field that points to this instance dictionary, so that the
 * guard can compare that pointer. Return NULL if the address is not known. */
static inline PyObject **
althaia_watched_place(PyObject *object, PyObject *dict)
{
#if ALTHAIA_KNOWS_DICT_WATCHERS && ALTHAIA_KNOWS_ENTRIES
    if (althaia_epoch != 0 && althaia_keeps_attributes(Py_TYPE(object))) {
        PyObject **place = althaia_dict_place(object);
        return *place == dict ? place : NULL;
    }
#endif
    return NULL;
}

/* Return 1 if the object still has the recorded type, and its instance dictionary the recorded
 * contents. */
static int
althaia_holds(PyObject **record, althaia_watched *each, PyObject *any)
{
    PyObject *object = record[ALTHAIA_OBJECT], *dict;
    uint64_t version = 0;
    int same;
    if ((PyObject *)Py_TYPE(object) != record[ALTHAIA_TYPE]) {
        return 0;
    }
#if ALTHAIA_KNOWS_DICT_WATCHERS
    if (each->place != NULL && *each->place == record[ALTHAIA_DICT]) {
        if (each->version == althaia_epoch) {
            return 1;
        }
        version = althaia_version_to_note(record[ALTHAIA_DICT]);
    }
#endif
    if (althaia_same_inline(object, each->copy)) {
        althaia_note_version(&each->version, version);
        return 1;
    }
    dict = althaia_instance_dict(object);
    if (dict == NULL) {
        return 0;
    }
    same = dict == record[ALTHAIA_DICT] && althaia_has_noted_version(dict, &each->version);
    if (!same) {
        version = dict == record[ALTHAIA_DICT] ? althaia_version_to_note(dict) : 0;
        /* A dict subclass is refused: a step may copy the dictionary, and a subclass can override
         * copying. */
        same = PyDict_CheckExact(dict)
            && althaia_same_entries(dict, record[ALTHAIA_KEYS], record[ALTHAIA_VALUES], any);
        if (same) {
            althaia_note_version(&each->version, version);
        }
    }
    Py_DECREF(dict);
    return same;
}

/* Return 1 if althaia_holds() for all objects of which the tuple has a record. */
static int
althaia_all_hold(PyObject *records, althaia_watched *watched, PyObject *any)
{
    PyObject **record = ((PyTupleObject *)records)->ob_item;
    PyObject **end = record + PyTuple_GET_SIZE(records);
    for (; record < end; record += ALTHAIA_RECORD_SIZE, watched++) {
        if (!althaia_holds(record, watched, any)) {
            return 0;
        }
    }
    return 1;
}

/* Return 1 if the list holds exactly the items of the tuple, compared by identity and in order. */
static int
althaia_same_items(PyObject *list, PyObject *snapshot)
{
    Py_ssize_t size = PyTuple_GET_SIZE(snapshot);
    int same;
    ALTHAIA_BEGIN_CRITICAL(list);
    same = PyList_GET_SIZE(list) == size;
    for (Py_ssize_t i = 0; same && i < size; i++) {
        same = PyList_GET_ITEM(list, i) == PyTuple_GET_ITEM(snapshot, i);
    }
    ALTHAIA_END_CRITICAL();
    return same;
}

/* Return 1 if all lists hold their items. The tuple has each list and, unless that was empty, a
 * tuple of its items. */
static int
althaia_lists_hold(PyObject *lists)
{
    PyObject **each = ((PyTupleObject *)lists)->ob_item, **end = each + PyTuple_GET_SIZE(lists);
    while (each < end) {
        PyObject *list = *each++;
        if (each < end && PyTuple_CheckExact(*each)) {
            if (!althaia_same_items(list, *each++)) {
                return 0;
            }
        }
        /* Do not lock the list: all threads share a class's empty hook lists and would wait for each
         * other. */
        else if (PyList_GET_SIZE(list) != 0) {
            return 0;
        }
    }
    return 1;
}

/* Return 1 if all types of the tuple have these type versions. */
static int
althaia_types_hold(PyObject *types, const unsigned int *tags)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(types); i++) {
        if (ALTHAIA_TYPE_TAG(PyTuple_GET_ITEM(types, i)) != tags[i]) {
            return 0;
        }
    }
    return 1;
}

/* Return 1 if `dict.get(key, absent) is value`. Never raises. */
static int
althaia_same_entry(PyObject *dict, PyObject *key, PyObject *value, PyObject *absent)
{
    PyObject *found;
    int same;
    if (althaia_dict_get(dict, key, &found) < 0) {
        PyErr_Clear();
        return 0;
    }
    same = (found != NULL ? found : absent) == value;
    Py_XDECREF(found);
    return same;
}

#endif
