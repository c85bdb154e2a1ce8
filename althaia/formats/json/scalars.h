/* Writes values of built-in types that cannot change, and whose encoding cannot fail: numbers as
 * Python's repr does. */
#ifndef ALTHAIA_SCALARS_H
#define ALTHAIA_SCALARS_H

#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "althaia/formats/buffer.h"
#include "althaia/formats/json/doubles.h"
#include "althaia/formats/json/quoting.h"

/* At least as much as the functions below write, with the zeros that they copy behind the end. */
#define ALTHAIA_LONGEST_NUMBER 48

/* Write a number of at most eight digits. Up to seven bytes more may be written. */
static inline char *
althaia_format_few(char *at, uint32_t number)
{
    uint64_t digits;
    int zeros;
    if (number < 100) {
        *at = (char)('0' + number / 10);
        at += number >= 10;
        *at = (char)('0' + number % 10);
        return at + 1;
    }
    digits = althaia_eight_digits(number);
    zeros = althaia_trailing_zeros(digits) / 8;
    althaia_store_word(at, (digits | ALTHAIA_EACH_BYTE('0')) >> 8 * zeros);
    return at + 8 - zeros;
}

/* Write a number with eight digits, zeros before it included. */
static inline void
althaia_format_eight(char *at, uint64_t number)
{
    althaia_store_word(at, althaia_eight_digits((uint32_t)number) | ALTHAIA_EACH_BYTE('0'));
}

/* Write a number. Up to seven bytes more may be written. */
static char *
althaia_format_unsigned(char *at, uint64_t number)
{
    if (number < 100000000) {
        return althaia_format_few(at, (uint32_t)number);
    }
    at = althaia_format_unsigned(at, number / 100000000);
    althaia_format_eight(at, number % 100000000);
    return at + 8;
}

/* Write an integer of at most 64 bits and return 1. Return 0 if it has more bits, -1 on error. */
static inline int
althaia_put_small_integer(althaia_buffer *buffer, PyObject *number)
{
    int overflow = 0;
    long long value;
    char *at;
#if PY_VERSION_HEX >= 0x030C0000
    /* A call takes a seventh of the time of an integer. */
    if (PyUnstable_Long_IsCompact((PyLongObject *)number)) {
        value = PyUnstable_Long_CompactValue((PyLongObject *)number);
    }
    else
#endif
    value = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (overflow) {
        return 0;
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

/* Write an exponent with its sign and at least two digits. */
static char *
althaia_format_exponent(char *at, int exponent)
{
    *at++ = 'e';
    *at++ = exponent < 0 ? '-' : '+';
    if (abs(exponent) < 10) {
        *at++ = '0';
    }
    return althaia_format_unsigned(at, (uint64_t)abs(exponent));
}

/* Write a number of at most 15 digits, four of them after the point, without needless zeros. */
static inline char *
althaia_format_places(char *at, uint64_t number)
{
    uint64_t places = number % 10000;
    at = althaia_format_unsigned(at, number / 10000);
    if (places == 0) {
        memcpy(at, ".0", 2);
        return at + 2;
    }
    places = althaia_eight_digits((uint32_t)places * 10000);
    *at = '.';
    althaia_store_word(at + 1, places | ALTHAIA_EACH_BYTE('0'));
    return at + 9 - althaia_leading_zeros(places) / 8;
}

/* Write a finite number.
 *
 * Most numbers have few decimal places. Such text is the shortest: no two texts of at most 15 digits
 * are nearest to the same double, and the division rounds as reading the text does. */
static char *
althaia_format_double(char *at, double number)
{
    /* 24 digits, zeros before and behind included, and what may be copied with them. */
    char digits[48], *first = digits, *last = digits + 24;
    uint64_t bits, whole;
    int power, count, point;
    memcpy(&bits, &number, 8);
    if (bits >> 63) {
        *at++ = '-';
        bits &= ~(UINT64_C(1) << 63);
        number = -number;
    }
    if (number < 1e11) {
        whole = (uint64_t)(number * 10000 + 0.5);
        if ((double)whole / 10000 == number) {
            return althaia_format_places(at, whole);
        }
    }
    whole = althaia_shortest(bits, &power);
    althaia_format_eight(digits, whole / 10000000000000000u);
    althaia_format_eight(digits + 8, whole / 100000000 % 100000000);
    althaia_format_eight(digits + 16, whole % 100000000);
    *last = '0';
    while ((bits = althaia_load_word(first) ^ ALTHAIA_EACH_BYTE('0')) == 0) {
        first += 8;
    }
    first += althaia_trailing_zeros(bits) / 8;
    /* The number of digits before the point, and of all that count. */
    point = (int)(last - first) + power;
    while ((bits = althaia_load_word(last - 8) ^ ALTHAIA_EACH_BYTE('0')) == 0) {
        last -= 8;
    }
    count = (int)(last - first) - althaia_leading_zeros(bits) / 8;
    if (point > 16 || point < -3) {
        *at++ = *first;
        if (count > 1) {
            *at++ = '.';
            memcpy(at, first + 1, 16);
            at += count - 1;
        }
        return althaia_format_exponent(at, point - 1);
    }
    if (point <= 0) {
        memcpy(at, "0.000", 5);
        memcpy(at + 2 - point, first, 17);
        return at + 2 - point + count;
    }
    memcpy(at, first, 16);
    at[point] = '.';
    memcpy(at + point + 1, first + point, 16);
    return at + 1 + (count > point ? count : point + 1);
}

/* Write a finite number. */
static int
althaia_put_double(althaia_buffer *buffer, double number)
{
    char *at = althaia_reserve(buffer, ALTHAIA_LONGEST_NUMBER);
    if (at == NULL) {
        return -1;
    }
    buffer->size = althaia_format_double(at, number) - buffer->data;
    return 0;
}

/* Write a value and return 1. Return 0, with nothing written, if it is none that can be written at
 * once; -1 on error. */
static inline int
althaia_put_scalar(althaia_buffer *buffer, PyObject *value, int ensure_ascii)
{
    int done;
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
        done = althaia_put_double(buffer, number);
    }
    else if (value == Py_None) {
        done = althaia_put_bytes(buffer, "null", 4);
    }
    else if (value == Py_True) {
        done = althaia_put_bytes(buffer, "true", 4);
    }
    else if (value == Py_False) {
        done = althaia_put_bytes(buffer, "false", 5);
    }
    else {
        return 0;
    }
    return done < 0 ? -1 : 1;
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
