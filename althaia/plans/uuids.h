/* UUIDs: from their numbers to text and back. */
#ifndef ALTHAIA_UUIDS_H
#define ALTHAIA_UUIDS_H

#include <Python.h>

/* The text form of a UUID from its 128-bit integer (an exact int); NULL without an
 * error where the integer does not fit. */
static PyObject *
althaia_uuid_text(PyObject *number)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[16];
    PyObject *text;
    Py_UCS1 *at;
#if PY_VERSION_HEX < 0x030D0000
    if (_PyLong_AsByteArray((PyLongObject *)number, bytes, 16, 0, 0) < 0) {
        PyErr_Clear();
        return NULL;
    }
#else
    Py_ssize_t size = PyLong_AsNativeBytes(
        number, bytes, 16,
        Py_ASNATIVEBYTES_BIG_ENDIAN | Py_ASNATIVEBYTES_UNSIGNED_BUFFER
            | Py_ASNATIVEBYTES_REJECT_NEGATIVE);
    if (size < 0) {
        PyErr_Clear();
        return NULL;
    }
    if (size > 16) {
        return NULL;
    }
#endif
    text = PyUnicode_New(36, 127);
    if (text == NULL) {
        PyErr_Clear();
        return NULL;
    }
    at = PyUnicode_1BYTE_DATA(text);
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            *at++ = '-';
        }
        *at++ = (Py_UCS1)digits[bytes[i] >> 4];
        *at++ = (Py_UCS1)digits[bytes[i] & 15];
    }
    return text;
}

static int
althaia_hex_digit(Py_UCS1 c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return -1;
}

/* The integer of a UUID written with its four hyphens (an exact str), as a new reference;
 * NULL without an error for every other form. */
static PyObject *
althaia_uuid_number(PyObject *text)
{
    unsigned char bytes[16];
    const Py_UCS1 *at;
    PyObject *number;
    if (PyUnicode_GET_LENGTH(text) != 36 || !PyUnicode_IS_ASCII(text)) {
        return NULL;
    }
    at = PyUnicode_1BYTE_DATA(text);
    for (int i = 0; i < 16; i++) {
        int high, low;
        if ((i == 4 || i == 6 || i == 8 || i == 10) && *at++ != '-') {
            return NULL;
        }
        high = althaia_hex_digit(at[0]);
        low = althaia_hex_digit(at[1]);
        if (high < 0 || low < 0) {
            return NULL;
        }
        bytes[i] = (unsigned char)(high << 4 | low);
        at += 2;
    }
#if PY_VERSION_HEX < 0x030D0000
    number = _PyLong_FromByteArray(bytes, 16, 0, 0);
#else
    number = PyLong_FromUnsignedNativeBytes(bytes, 16, Py_ASNATIVEBYTES_BIG_ENDIAN);
#endif
    if (number == NULL) {
        PyErr_Clear();
    }
    return number;
}

#endif
