/* Converts UUIDs between their 128-bit integer and their text. */
#ifndef ALTHAIA_IDENTIFIERS_H
#define ALTHAIA_IDENTIFIERS_H

#include <Python.h>
#include <stdint.h>
#include <string.h>

/* Store the 16 octets of a UUID's integer (an exact int), the highest one first. Return 0 without
 * an error if it does not fit. */
static int
althaia_octets_of(PyObject *number, unsigned char *octets)
{
#if PY_VERSION_HEX >= 0x030E0000
    uint64_t high = 0, low = 0;
    PyLongExport parts;
    if (PyLong_Export(number, &parts) < 0) {
        PyErr_Clear();
        return 0;
    }
    if (parts.digits == NULL) {
        if (parts.value < 0) {
            return 0;
        }
        low = (uint64_t)parts.value;
    }
    else {
        const PyLongLayout *layout = PyLong_GetNativeLayout();
        const int bits = layout->bits_per_digit;
        int fits = !parts.negative && layout->digit_size == 4 && layout->digits_order == -1;
        for (Py_ssize_t i = parts.ndigits - 1; fits && i >= 0; i--) {
            fits = high >> (64 - bits) == 0;
            high = high << bits | low >> (64 - bits);
            low = low << bits | ((const uint32_t *)parts.digits)[i];
        }
        PyLong_FreeExport(&parts);
        if (!fits) {
            return 0;
        }
    }
    for (int i = 0; i < 8; i++) {
        octets[i] = (unsigned char)(high >> (56 - 8 * i));
        octets[8 + i] = (unsigned char)(low >> (56 - 8 * i));
    }
    return 1;
#elif PY_VERSION_HEX >= 0x030D0000
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

/* Store the 16 octets of a UUID text (an exact str) with its four hyphens; return 0 for any other
 * form. */
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

/* Return the integer of 16 octets. */
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
