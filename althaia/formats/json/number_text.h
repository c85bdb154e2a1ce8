/* Writes numbers as Python's repr does. */
#ifndef ALTHAIA_NUMBER_TEXT_H
#define ALTHAIA_NUMBER_TEXT_H

#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "althaia/formats/buffer.h"
#include "althaia/formats/json/doubles.h"

/* At least as much as the functions below write, with the zeros that they copy behind the end. */
#define ALTHAIA_LONGEST_NUMBER 48

static const char althaia_pairs[] = "0001020304050607080910111213141516171819"
                                    "2021222324252627282930313233343536373839"
                                    "4041424344454647484950515253545556575859"
                                    "6061626364656667686970717273747576777879"
                                    "8081828384858687888990919293949596979899";

static inline char *
althaia_format_unsigned(char *at, uint64_t number)
{
    /* The digits end in the middle, so that a constant number of bytes can be copied. */
    char digits[40], *end = digits + 20, *first = end;
    while (number >= 100) {
        first -= 2;
        memcpy(first, althaia_pairs + number % 100 * 2, 2);
        number /= 100;
    }
    if (number >= 10) {
        first -= 2;
        memcpy(first, althaia_pairs + number * 2, 2);
    }
    else {
        *--first = (char)('0' + number);
    }
    memcpy(at, first, 20);
    return at + (end - first);
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

/* Write an exponent with its sign and at least two digits. */
static char *
althaia_format_exponent(char *at, int exponent)
{
    *at++ = 'e';
    *at++ = exponent < 0 ? '-' : '+';
    exponent = abs(exponent);
    if (exponent >= 100) {
        *at++ = (char)('0' + exponent / 100);
    }
    memcpy(at, althaia_pairs + exponent % 100 * 2, 2);
    return at + 2;
}

/* Write a number of at most 15 digits, four of them after the point, without needless zeros. */
static inline char *
althaia_format_places(char *at, uint64_t number)
{
    at = althaia_format_unsigned(at, number / 10000);
    *at = '.';
    memcpy(at + 1, althaia_pairs + number % 10000 / 100 * 2, 2);
    memcpy(at + 3, althaia_pairs + number % 100 * 2, 2);
    at += 5;
    while (at[-1] == '0' && at[-2] != '.') {
        at--;
    }
    return at;
}

/* Write a finite number.
 *
 * Most numbers have few decimal places. Such text is the shortest: no two texts of at most 15 digits
 * are nearest to the same double, and the division rounds as reading the text does. */
static char *
althaia_format_double(char *at, double number)
{
    /* Digits of the number, then as many zeros as may be copied with them. */
    char digits[48];
    const char *first = digits;
    uint64_t bits, whole, words[3];
    int power, last = 2, count, point;
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
    words[0] = althaia_eight_digits((uint32_t)(whole / 10000000000000000u));
    words[1] = althaia_eight_digits((uint32_t)(whole / 100000000 % 100000000));
    words[2] = althaia_eight_digits((uint32_t)(whole % 100000000));
    memset(digits + 24, '0', 24);
    for (int i = 0; i < 3; i++) {
        althaia_store_word(digits + 8 * i, words[i] | ALTHAIA_EACH_BYTE('0'));
    }
    while (words[last] == 0) {
        last--;
    }
    for (count = 0; words[count] == 0; count++) {
    }
    first += 8 * count + althaia_trailing_zeros(words[count]) / 8;
    /* The number of digits before the point, and of all that count. */
    point = (int)(digits + 24 - first) + power;
    count = (int)(digits + 8 * last + 8 - first) - althaia_leading_zeros(words[last]) / 8;
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

#endif
