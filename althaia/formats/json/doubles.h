/* Doubles to their shortest decimal digits, and decimal digits to the nearest double.
 *
 * The digits are found by Schubfach (Raffaello Giulietti, "The Schubfach way to render doubles"),
 * the double by the method of Eisel and Lemire (Daniel Lemire, "Number parsing at a gigabyte per
 * second"). Both multiply by a power of ten of 128 bits. tests/sinks/test_doubles.py compares them
 * with CPython.
 */
#ifndef ALTHAIA_DOUBLES_H
#define ALTHAIA_DOUBLES_H

#include <Python.h>
#include <float.h>
#include <stdint.h>
#include <string.h>

#include "althaia/formats/words.h"

/* Schubfach needs the powers of ten from -292 to 324. */
#define ALTHAIA_MOST_TEN 324
/* The most 32-bit words of 10**324 with 128 bits more. */
#define ALTHAIA_TEN_WORDS 40

/* The 128 highest bits of each power of ten, rounded down; the high half first. */
static uint64_t althaia_tens[2 * ALTHAIA_MOST_TEN + 1][2];

static void
althaia_store_ten(int power, const uint32_t *words)
{
    uint64_t *ten = althaia_tens[power + ALTHAIA_MOST_TEN], low;
    int last = ALTHAIA_TEN_WORDS - 1, shift;
    while (words[last] == 0) {
        last--;
    }
    ten[0] = (uint64_t)words[last] << 32 | words[last - 1];
    ten[1] = (uint64_t)words[last - 2] << 32 | words[last - 3];
    low = words[last - 4];
    shift = althaia_leading_zeros(ten[0]);
    ten[0] = ten[0] << shift | ten[1] >> 1 >> (63 - shift);
    ten[1] = ten[1] << shift | low << shift >> 32;
}

/* Compute the table. A module that uses it calls this once, when it is imported. */
static void
althaia_make_tens(void)
{
    uint32_t up[ALTHAIA_TEN_WORDS] = {0}, down[ALTHAIA_TEN_WORDS] = {0};
    /* Both begin as a power of two, and all powers of ten are exact in `up`. Dividing an integer
     * again and again, each time rounded down, is dividing once. */
    up[4] = 1;
    down[ALTHAIA_TEN_WORDS - 1] = 1;
    for (int power = 0; power <= ALTHAIA_MOST_TEN; power++) {
        uint64_t carry = 0;
        althaia_store_ten(-power, down);
        althaia_store_ten(power, up);
        for (int i = 0; i < ALTHAIA_TEN_WORDS; i++) {
            carry += (uint64_t)up[i] * 10;
            up[i] = (uint32_t)carry;
            carry >>= 32;
        }
        carry = 0;
        for (int i = ALTHAIA_TEN_WORDS - 1; i >= 0; i--) {
            carry = carry << 32 | down[i];
            down[i] = (uint32_t)(carry / 10);
            carry %= 10;
        }
    }
}

/* Return the binary exponent of a power of ten: log2(10**power), rounded down. */
static inline int
althaia_ten_exponent(int power)
{
    return (power * 217706) >> 16;
}

/* Return number * (ten[0] << 64 | ten[1]) >> 128, with the lowest bit set if that is not exact. */
static inline uint64_t
althaia_scale(uint64_t number, uint64_t high, uint64_t low)
{
    uint64_t carry, top, middle;
    althaia_multiply(number, low, &carry);
    middle = althaia_multiply(number, high, &top);
    middle += carry;
    top += middle < carry;
    return top | (middle > 1);
}

/* Return the shortest digits of a positive finite double, perhaps with zeros behind, as an integer.
 * The double is near to it times 10 to the power that is stored. */
static uint64_t
althaia_shortest(uint64_t bits, int *power)
{
    uint64_t fraction = bits & UINT64_C(0xfffffffffffff), high, low;
    uint64_t center, lower, upper, digits, short_digits;
    int exponent = (int)(bits >> 52), odd = bits & 1, shift, below, above;
    /* Just above a power of two the next lower double is only half as far. */
    int uneven = fraction == 0 && exponent > 1;
    if (exponent) {
        fraction |= UINT64_C(1) << 52;
        exponent--;
    }
    exponent -= 1074;
    /* log10 of the distance between two doubles, rounded down: 2**exponent, or 3/4 of it. */
    *power = (exponent * 1262611 - (uneven ? 524031 : 0)) >> 22;
    high = althaia_tens[ALTHAIA_MOST_TEN - *power][0];
    low = althaia_tens[ALTHAIA_MOST_TEN - *power][1] + 1;
    high += low == 0;
    shift = exponent + althaia_ten_exponent(-*power) + 1;
    /* Four times the double and the bounds of what is nearest to it, in units of the last digit. */
    center = althaia_scale(4 * fraction << shift, high, low);
    lower = althaia_scale((4 * fraction - 2 + uneven) << shift, high, low) + odd;
    upper = althaia_scale((4 * fraction + 2) << shift, high, low) - odd;
    digits = center / 4;
    if (digits >= 10) {
        short_digits = digits / 10 * 10;
        below = lower <= 4 * short_digits;
        above = 4 * short_digits + 40 <= upper;
        if (below != above) {
            return below ? short_digits : short_digits + 10;
        }
    }
    below = lower <= 4 * digits;
    above = 4 * digits + 4 <= upper;
    if (below == above) {
        /* The nearer one, or the even one of two that are equally near. */
        above = center > 4 * digits + 2 || (center == 4 * digits + 2 && (digits & 1));
    }
    return digits + above;
}

/* The powers of ten that any 19 digits may be divided by. */
static const double althaia_exact_tens[] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
    1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
};

/* Store the double nearest to at most 19 digits of which so many are decimal places, and return 1.
 * Return 0 if it is not certain. */
static int
althaia_nearest(uint64_t digits, int places, double *number)
{
    uint64_t high, low, bits;
    int zeros, exponent, top;
#if FLT_EVAL_METHOD == 0
    /* Two exact numbers: the processor rounds their quotient once. */
    if (digits >> 53 == 0) {
        *number = (double)digits / althaia_exact_tens[places];
        return 1;
    }
#endif
    if (digits == 0) {
        *number = 0;
        return 1;
    }
    zeros = althaia_leading_zeros(digits);
    digits <<= zeros;
    low = althaia_multiply(digits, althaia_tens[ALTHAIA_MOST_TEN - places][0], &high);
    if ((high & 0x1ff) == 0x1ff && low + digits < digits) {
        /* The half of the power that was left out may change the bits that are kept. */
        return 0;
    }
    /* Keep 54 bits, and round the last one away. */
    top = (int)(high >> 63);
    bits = high >> (top + 9);
    if (low == 0 && (high & 0x1ff) == 0 && (bits & 3) == 1) {
        return 0;
    }
    bits = (bits + (bits & 1)) >> 1;
    exponent = althaia_ten_exponent(-places) + 1086 + top - zeros + (int)(bits >> 53);
    bits = (bits & UINT64_C(0xfffffffffffff)) | (uint64_t)exponent << 52;
    memcpy(number, &bits, 8);
    return 1;
}

#endif
