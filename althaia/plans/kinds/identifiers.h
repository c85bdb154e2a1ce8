/* UUIDs between their 128-bit integer and their text. */
#ifndef ALTHAIA_IDENTIFIERS_H
#define ALTHAIA_IDENTIFIERS_H

#include <Python.h>

/* The text of a UUID from its integer (an exact int): 36 characters; 0, without an error, where
 * the integer does not fit. */
static Py_ssize_t
althaia_spell_uuid(PyObject *number, char *at)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char octets[16];
#if PY_VERSION_HEX < 0x030D0000
    if (_PyLong_AsByteArray((PyLongObject *)number, octets, 16, 0, 0) < 0) {
        PyErr_Clear();
        return 0;
    }
#else
    Py_ssize_t size = PyLong_AsNativeBytes(
        number, octets, 16,
        Py_ASNATIVEBYTES_BIG_ENDIAN | Py_ASNATIVEBYTES_UNSIGNED_BUFFER
            | Py_ASNATIVEBYTES_REJECT_NEGATIVE);
    if (size < 0) {
        PyErr_Clear();
        return 0;
    }
    if (size > 16) {
        return 0;
    }
#endif
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            *at++ = '-';
        }
        *at++ = digits[octets[i] >> 4];
        *at++ = digits[octets[i] & 15];
    }
    return 36;
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

/* The 16 octets of a UUID written with its four hyphens (an exact str); 0 for every other form. */
static int
althaia_uuid_octets(PyObject *text, unsigned char *octets)
{
    const Py_UCS1 *at;
    if (PyUnicode_GET_LENGTH(text) != 36 || !PyUnicode_IS_ASCII(text)) {
        return 0;
    }
    at = PyUnicode_1BYTE_DATA(text);
    for (int i = 0; i < 16; i++) {
        int high, low;
        if ((i == 4 || i == 6 || i == 8 || i == 10) && *at++ != '-') {
            return 0;
        }
        high = althaia_hex_digit(at[0]);
        low = althaia_hex_digit(at[1]);
        if (high < 0 || low < 0) {
            return 0;
        }
        octets[i] = (unsigned char)(high << 4 | low);
        at += 2;
    }
    return 1;
}

/* The integer of 16 octets. */
static PyObject *
althaia_uuid_number(const unsigned char *octets)
{
#if PY_VERSION_HEX < 0x030D0000
    return _PyLong_FromByteArray(octets, 16, 0, 0);
#else
    return PyLong_FromUnsignedNativeBytes(octets, 16, Py_ASNATIVEBYTES_BIG_ENDIAN);
#endif
}

#endif
