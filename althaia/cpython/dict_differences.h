/* Finding the entries in which two dictionaries of the same keys differ. */
#ifndef ALTHAIA_DICT_DIFFERENCES_H
#define ALTHAIA_DICT_DIFFERENCES_H

#include <Python.h>

#include "althaia/cpython/layout.h"

/* Find the next entry, from index `at` on, whose values in two dictionaries are not the same
 * object, and set `at` to the index after it. Return 1 and borrowed values; 0 if there is no such
 * entry; -1 if the dictionaries do not have the same keys at the same indexes, or if their layout
 * is not known. */
static int
althaia_next_difference(
    PyObject *mine, PyObject *theirs, Py_ssize_t *at, PyObject **my_value, PyObject **their_value)
{
#if ALTHAIA_KNOWS_ENTRIES
    althaia_keys *keys = althaia_keys_of(mine), *others = althaia_keys_of(theirs);
    /* Instances share their keys, so that there may be more keys than values. */
    Py_ssize_t most = keys->used > others->used ? keys->used : others->used;
    if (keys->kind == ALTHAIA_GENERAL_KEYS || others->kind == ALTHAIA_GENERAL_KEYS) {
        return -1;
    }
    for (Py_ssize_t i = *at; i < most; i++) {
        *my_value = althaia_nth_value(mine, keys, i);
        *their_value = althaia_nth_value(theirs, others, i);
        if (*my_value == NULL && *their_value == NULL) {
            continue;
        }
        if (*my_value == NULL || *their_value == NULL
            || althaia_entries(keys)[i].key != althaia_entries(others)[i].key) {
            return -1;
        }
        if (*my_value != *their_value) {
            *at = i + 1;
            return 1;
        }
    }
    return 0;
#else
    (void)mine, (void)theirs, (void)at, (void)my_value, (void)their_value;
    return -1;
#endif
}

#endif
