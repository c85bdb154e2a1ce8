/* Converts UUIDs between their 128-bit integer and their text. */
#ifndef ALTHAIA_IDENTIFIERS_H
#define ALTHAIA_IDENTIFIERS_H

#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "althaia/formats/words.h"

/* Store the 16 octets of a UUID's integer (an exact int), the highest one first. Return 0 without
 * an error if it does not fit. */
static int
althaia_octets_of(PyObject *number, unsigned char *octets)
{
#if PY_VERSION_HEX >= 0x030D0000
    Py_ssize_t size = PyLong_AsNativeBytes(
        number, octets, 16,
        Py_ASNATIVEBYTES_BIG_ENDIAN | Py_ASNATIVEBYTES_UNSIGNED_BUFFER
            | Py_ASNATIVEBYTES_REJECT_NEGATIVE);
    if (size < 0) {
        PyErr_Clear();
    }
    return 0 <= size && size <= 16;
#else
    if (_PyLong_AsByteArray((PyLongObject *)number, octets, 16, 0, 0) < 0) {
        PyErr_Clear();
        return 0;
    }
    return 1;
#endif
}

/* Write the text of a UUID from its integer (an exact int) and return its length, 36. Return 0
 * without an error if the integer does not fit. */
static Py_ssize_t
althaia_format_uuid(PyObject *number, char *at)
{
    unsigned char octets[16], digits[32];
    if (!althaia_octets_of(number, octets)) {
        return 0;
    }
    /* Without a table, so that the compiler can vectorize the loops. */
    for (int i = 0; i < 16; i++) {
        digits[2 * i] = octets[i] >> 4;
        digits[2 * i + 1] = octets[i] & 15;
    }
    for (int i = 0; i < 32; i++) {
        digits[i] += '0' + (digits[i] > 9) * ('a' - '0' - 10);
    }
    memcpy(at, digits, 8);
    at[8] = '-';
    memcpy(at + 9, digits + 8, 4);
    at[13] = '-';
    memcpy(at + 14, digits + 12, 4);
    at[18] = '-';
    memcpy(at + 19, digits + 16, 4);
    at[23] = '-';
    memcpy(at + 24, digits + 20, 12);
    return 36;
}

/* Return the integer of a UUID text (an exact str) of 32 digits with its four hyphens; None for any
 * other form. */
static PyObject *
althaia_uuid_number(PyObject *text)
{
    unsigned char octets[16];
    const Py_UCS1 *at;
    if (PyUnicode_GET_LENGTH(text) != 36 || !PyUnicode_IS_ASCII(text)) {
        return Py_NewRef(Py_None);
    }
    at = PyUnicode_1BYTE_DATA(text);
    for (int i = 0; i < 16; i++, at += 2) {
        if ((i == 4 || i == 6 || i == 8 || i == 10) && *at++ != '-') {
            return Py_NewRef(Py_None);
        }
        if (!Py_ISXDIGIT(at[0]) || !Py_ISXDIGIT(at[1])) {
            return Py_NewRef(Py_None);
        }
        octets[i] = (unsigned char)(althaia_hexadecimal(at[0]) << 4 | althaia_hexadecimal(at[1]));
    }
#if PY_VERSION_HEX < 0x030D0000
    return _PyLong_FromByteArray(octets, 16, 0, 0);
#else
    return PyLong_FromUnsignedNativeBytes(octets, 16, Py_ASNATIVEBYTES_BIG_ENDIAN);
#endif
}

#endif
