/* Dict watchers: CPython calls a function of ours for each change of a watched dictionary. */
#ifndef ALTHAIA_WATCHERS_H
#define ALTHAIA_WATCHERS_H

#include <Python.h>

#include "althaia/cpython/layout.h"

/* A counter that each change of any watched dictionary increases; 0 if dict watchers are not used.
 * One counter serves all watched dictionaries: they hardly ever change, and each call reads it. */
static uint64_t althaia_epoch = 0;

#if ALTHAIA_KNOWS_DICT_WATCHERS

static int althaia_watcher = -1;

static int
althaia_at_dict_event(PyDict_WatchEvent event, PyObject *dict, PyObject *key, PyObject *value)
{
    (void)event, (void)dict, (void)key, (void)value;
    althaia_epoch++;
    return 0;
}

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

#endif
