// Tells text that is no number without an exception, whose message takes most of the time of a refusal.
#ifndef ALTHAIA_NUMBERS_H
#define ALTHAIA_NUMBERS_H

#include <Python.h>

/* Whether a str has an ASCII letter, so that int(value) must fail. */
static inline int althaia_is_no_integer(PyObject *value)
{
    if (!PyUnicode_CheckExact(value) || !PyUnicode_IS_COMPACT_ASCII(value)) {
        return 0;
    }
    const unsigned char *at = (const unsigned char *)PyUnicode_1BYTE_DATA(value);
    const unsigned char *end = at + PyUnicode_GET_LENGTH(value);
    for (; at < end; at++) {
        if (((*at | 0x20) >= 'a') && ((*at | 0x20) <= 'z')) {
            return 1;
        }
    }
    return 0;
}

#endif
