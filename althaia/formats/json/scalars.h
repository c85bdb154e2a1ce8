/* Writes values of built-in types that cannot change, and whose encoding cannot fail. */
#ifndef ALTHAIA_SCALARS_H
#define ALTHAIA_SCALARS_H

#include <Python.h>
#include <math.h>

#include "althaia/formats/json/number_text.h"
#include "althaia/formats/json/quoting.h"

/* Write a value and return 1. Return 0, with nothing written, if it is none that can be written at
 * once; -1 on error. */
static inline int
althaia_put_scalar(althaia_buffer *buffer, PyObject *value, int ensure_ascii)
{
    if (PyUnicode_CheckExact(value)) {
        return althaia_put_text(buffer, value, ensure_ascii);
    }
    if (PyLong_CheckExact(value)) {
        /* One of more than 64 bits may have more digits than the interpreter accepts. */
        return althaia_put_small_integer(buffer, value);
    }
    if (PyFloat_CheckExact(value)) {
        double number = PyFloat_AS_DOUBLE(value);
        if (!isfinite(number)) {
            return 0;
        }
        return althaia_put_double(buffer, number) < 0 ? -1 : 1;
    }
    if (value == Py_None) {
        return althaia_put_bytes(buffer, "null", 4) < 0 ? -1 : 1;
    }
    if (value == Py_True) {
        return althaia_put_bytes(buffer, "true", 4) < 0 ? -1 : 1;
    }
    if (value == Py_False) {
        return althaia_put_bytes(buffer, "false", 5) < 0 ? -1 : 1;
    }
    return 0;
}

/* Write the entries of a dictionary from a rank on, up to one whose value is no scalar, or all of
 * them. Return the rank of that one, whose key is written; -1 on error. */
static Py_ssize_t
althaia_put_entries(althaia_buffer *buffer, const althaia_key_texts *keys, PyObject **values,
                    Py_ssize_t rank, int ensure_ascii)
{
    for (; rank < keys->count; rank++) {
        Py_ssize_t at = keys->order[rank];
        int done;
        if (althaia_put_key(buffer, keys, at, rank == 0) < 0) {
            return -1;
        }
        done = althaia_put_scalar(buffer, values[at], ensure_ascii);
        if (done <= 0) {
            return done < 0 ? -1 : rank;
        }
    }
    return rank;
}

#endif
