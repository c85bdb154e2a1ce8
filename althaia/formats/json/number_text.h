/* Writes numbers as Python's repr does. */
#ifndef ALTHAIA_NUMBER_TEXT_H
#define ALTHAIA_NUMBER_TEXT_H

#include <Python.h>
#include <float.h>
#include <math.h>
#include <stdint.h>

#include "althaia/formats/buffer.h"

/* More than the functions below can write: an integer has at most 20 digits and a sign, a double 17
 * digits, four zeros, a sign and a point. */
#define ALTHAIA_LONGEST_NUMBER 32

static char *
althaia_format_unsigned(char *at, uint64_t number)
{
    static const char pairs[] = "0001020304050607080910111213141516171819"
                                "2021222324252627282930313233343536373839"
                                "4041424344454647484950515253545556575859"
                                "6061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    char digits[20], *first = digits + sizeof(digits);
    size_t count;
    while (number >= 100) {
        first -= 2;
        memcpy(first, pairs + number % 100 * 2, 2);
        number /= 100;
    }
    if (number >= 10) {
        first -= 2;
        memcpy(first, pairs + number * 2, 2);
    }
    else {
        *--first = (char)('0' + number);
    }
    count = (size_t)(digits + sizeof(digits) - first);
    memcpy(at, first, count);
    return at + count;
}

/* Write an integer of at most 64 bits and return 1. Return 0 if it has more bits, -1 on error. */
static int
althaia_put_small_integer(althaia_buffer *buffer, PyObject *number)
{
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
    char *at;
    if (overflow) {
        return 0;
    }
    if (value == -1 && PyErr_Occurred()) {
        return -1;
    }
    at = althaia_reserve(buffer, ALTHAIA_LONGEST_NUMBER);
    if (at == NULL) {
        return -1;
    }
    if (value < 0) {
        *at++ = '-';
    }
    at = althaia_format_unsigned(at, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    buffer->size = at - buffer->data;
    return 1;
}

/* Every power of ten that is exact as a double. */
static const double althaia_powers[] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

/* Write the number as repr does, if 15 digits suffice and no exponent is needed; else return NULL.
 *
 * The digits are the number times a power of ten, rounded to an integer below 2**53. The integer is
 * divided by that power again, which rounds once and correctly. If this gives the number, reading
 * the text gives the number too. No two texts of at most 15 digits give the same double, so that
 * the text is the shortest one. */
static char *
althaia_format_short_double(char *at, double number)
{
    double size = fabs(number), scaled;
    uint64_t digits, whole, power;
    int exponent, places;
#if FLT_EVAL_METHOD != 0 || DBL_MANT_DIG != 53
    return NULL;
#endif
    if (!(size >= 1e-4 && size < 1e15)) {
        if (size != 0) {
            return NULL;
        }
        if (signbit(number)) {
            *at++ = '-';
        }
        memcpy(at, "0.0", 3);
        return at + 3;
    }
    /* Choose the number of decimal places so that the integer has 15 digits. A bit is about 0.301
     * decimal digits, which is 1233 / 4096. */
    frexp(size, &exponent);
    places = 14 - (exponent > 0 ? exponent * 1233 >> 12 : -((4095 - exponent * 1233) >> 12));
    places = places < 0 ? 0 : places;
    scaled = size * althaia_powers[places];
    if (scaled < 1e14) {
        scaled = size * althaia_powers[++places];
    }
    digits = (uint64_t)(scaled + 0.5);
    if ((double)digits / althaia_powers[places] != size || digits >= 1000000000000000u) {
        return NULL;
    }
    while (places >= 4 && digits % 10000 == 0) {
        digits /= 10000;
        places -= 4;
    }
    while (places > 1 && digits % 10 == 0) {
        digits /= 10;
        places--;
    }
    if (number < 0) {
        *at++ = '-';
    }
    if (places == 0) {
        at = althaia_format_unsigned(at, digits);
        memcpy(at, ".0", 2);
        return at + 2;
    }
    for (power = 1, exponent = 0; exponent < places; exponent++) {
        power *= 10;
    }
    whole = digits / power;
    digits %= power;
    at = althaia_format_unsigned(at, whole);
    *at++ = '.';
    for (power /= 10; power > 1 && digits < power; power /= 10) {
        *at++ = '0';
    }
    return althaia_format_unsigned(at, digits);
}

/* Write a finite number. */
static int
althaia_put_double(althaia_buffer *buffer, double number)
{
    char *text, *at = althaia_reserve(buffer, ALTHAIA_LONGEST_NUMBER);
    int failed;
    if (at == NULL) {
        return -1;
    }
    at = althaia_format_short_double(at, number);
    if (at != NULL) {
        buffer->size = at - buffer->data;
        return 0;
    }
    text = PyOS_double_to_string(number, 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
    if (text == NULL) {
        return -1;
    }
    failed = althaia_put_bytes(buffer, text, (Py_ssize_t)strlen(text));
    PyMem_Free(text);
    return failed;
}

#endif
