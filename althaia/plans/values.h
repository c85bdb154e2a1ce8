/* Where CPython keeps the values of dictionaries and of instances apart from their keys
 * (PEP 412): its own affair, so nothing here is used without trying it out on the dictionary or
 * object at hand first, and only on the versions where it has been read. With a GIL only.
 */
#ifndef ALTHAIA_VALUES_H
#define ALTHAIA_VALUES_H

#include <Python.h>
#include <stddef.h>
#include <stdint.h>

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED)
#define ALTHAIA_KNOWS_VALUES 1
#else
#define ALTHAIA_KNOWS_VALUES 0
#endif

/* From 3.13 on the values of most instances lie in the instance itself. */
#if ALTHAIA_KNOWS_VALUES && PY_VERSION_HEX >= 0x030D0000
#define ALTHAIA_KNOWS_INLINE_VALUES 1
#else
#define ALTHAIA_KNOWS_INLINE_VALUES 0
#endif

/* The n-th value is that of the n-th key. From 3.13 on there are numbers before, and after
 * the values one byte for each of them: the order in which they came. */
typedef struct {
#if PY_VERSION_HEX >= 0x030D0000
    uint8_t capacity;
    uint8_t size;
    uint8_t embedded;
    uint8_t valid;
#endif
    PyObject *values[1];
} althaia_values;

/* The values of a dictionary; NULL where they lie beside their keys, as in most. */
#define ALTHAIA_VALUES_OF(dict) ((althaia_values *)((PyDictObject *)(dict))->ma_values)

#endif
