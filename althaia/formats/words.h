/* Words of 64 bits: eight characters at once, and products of 128 bits. */
#ifndef ALTHAIA_WORDS_H
#define ALTHAIA_WORDS_H

#include <Python.h>
#include <stdint.h>
#include <string.h>

#ifdef _MSC_VER
#include <intrin.h>
#endif

#if PY_BIG_ENDIAN
#define ALTHAIA_LITTLE_ENDIAN(word) __builtin_bswap64(word)
#else
#define ALTHAIA_LITTLE_ENDIAN(word) (word)
#endif

/* The word that has this byte eight times. */
#define ALTHAIA_EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Return the number of zero bits above the highest bit of a word that is not 0. */
static inline int
althaia_leading_zeros(uint64_t word)
{
#ifdef _MSC_VER
    unsigned long index;
    _BitScanReverse64(&index, word);
    return 63 - (int)index;
#else
    return __builtin_clzll(word);
#endif
}

/* Return the number of zero bits below the lowest bit of a word that is not 0. */
static inline int
althaia_trailing_zeros(uint64_t word)
{
#ifdef _MSC_VER
    unsigned long index;
    _BitScanForward64(&index, word);
    return (int)index;
#else
    return __builtin_ctzll(word);
#endif
}

/* Return the low half of the product, and store the high one. */
static inline uint64_t
althaia_multiply(uint64_t a, uint64_t b, uint64_t *high)
{
#if defined(__SIZEOF_INT128__)
    unsigned __int128 product = (unsigned __int128)a * b;
    *high = (uint64_t)(product >> 64);
    return (uint64_t)product;
#else
    uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t low = a_low * b_low, cross = a_high * b_low + (low >> 32);
    uint64_t middle = a_low * b_high + (uint32_t)cross;
    *high = a_high * b_high + (cross >> 32) + (middle >> 32);
    return middle << 32 | (uint32_t)low;
#endif
}

/* Return eight bytes as a word whose lowest byte is the first one. */
static inline uint64_t
althaia_load_word(const void *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, 8);
    return ALTHAIA_LITTLE_ENDIAN(word);
}

static inline void
althaia_store_word(void *bytes, uint64_t word)
{
    word = ALTHAIA_LITTLE_ENDIAN(word);
    memcpy(bytes, &word, 8);
}

static inline uint32_t
althaia_load_half(const void *bytes)
{
    uint32_t half;
    memcpy(&half, bytes, 4);
    return half;
}

/* Return 1 if as many bytes, at least one, are the same. Faster than calling memcmp() for a few. */
static inline int
althaia_same_bytes(const void *one, const void *other, size_t size)
{
    const char *a = one, *b = other;
    size_t done = 0;
    if (size < 4) {
        return a[0] == b[0] && a[size / 2] == b[size / 2] && a[size - 1] == b[size - 1];
    }
    if (size < 8) {
        return althaia_load_half(a) == althaia_load_half(b)
            && althaia_load_half(a + size - 4) == althaia_load_half(b + size - 4);
    }
    for (; done + 8 < size; done += 8) {
        if (althaia_load_word(a + done) != althaia_load_word(b + done)) {
            return 0;
        }
    }
    return althaia_load_word(a + size - 8) == althaia_load_word(b + size - 8);
}

/* Return the value of a hexadecimal digit. */
static inline uint32_t
althaia_hexadecimal(uint8_t digit)
{
    return (digit & 15u) + (digit > '9') * 9u;
}

/* Return the eight decimal digits of a number, each in a byte of its own, the first one lowest. */
static inline uint64_t
althaia_eight_digits(uint32_t number)
{
    /* Two numbers of four digits, then four of two, then eight of one. The factors divide by 100
     * and 10: 5243 / 2**19 and 103 / 2**10 are exact enough for numbers below 10000 and 100. */
    uint64_t fours = number / 10000 | (uint64_t)(number % 10000) << 32;
    uint64_t hundreds = (fours * 5243 >> 19) & UINT64_C(0x0000007f0000007f);
    uint64_t twos = hundreds | (fours - hundreds * 100) << 16;
    uint64_t tens = (twos * 103 >> 10) & UINT64_C(0x000f000f000f000f);
    return tens | (twos - tens * 10) << 8;
}

/* Mark the quotes, backslashes and control characters of a word: each sets the highest bit of its
 * byte. All other bits mean nothing, nor do bytes above 0x7f. A borrow can mark a character above one
 * that is marked; the lowest mark is always right. */
static inline uint64_t
althaia_marked(uint64_t word)
{
    uint64_t quote = word ^ ALTHAIA_EACH_BYTE('"'), escape = word ^ ALTHAIA_EACH_BYTE('\\');
    return (word - ALTHAIA_EACH_BYTE(0x20)) | (quote - ALTHAIA_EACH_BYTE(1))
        | (escape - ALTHAIA_EACH_BYTE(1));
}

/* Return a number of bytes from `at` on that can be skipped, because none of them is a quote, a
 * backslash or a control character. The byte after them may be one or not. Add the bits of all that
 * are skipped to `seen`. */
static inline ptrdiff_t
althaia_plain_run(const uint8_t *at, ptrdiff_t size, uint64_t *seen)
{
    ptrdiff_t done = 0;
    for (; done + 8 <= size; done += 8) {
        uint64_t word = althaia_load_word(at + done);
        uint64_t marked = althaia_marked(word) & ~word & ALTHAIA_EACH_BYTE(0x80);
        if (marked != 0) {
            /* The bits below the lowest mark, which is the highest bit of its byte. */
            *seen |= word & (marked ^ (marked - 1));
            return done + (althaia_trailing_zeros(marked) >> 3);
        }
        *seen |= word;
    }
    return done;
}

#define ALTHAIA_MARK(type) \
    for (ptrdiff_t i = 0; i < size; i++) { \
        marks[i] = (char)(((const type *)text)[i] < 0x80 ? ((const type *)text)[i] : 0x80); \
    }

/* Write a byte for each character of a str of two or four bytes a character: the character, or 0x80
 * for any beyond ASCII. */
static void
althaia_mark(int kind, const void *text, ptrdiff_t size, char *marks)
{
    if (kind == 2) {
        ALTHAIA_MARK(uint16_t)
    }
    else {
        ALTHAIA_MARK(uint32_t)
    }
}

/* Return 1 if no byte is above 0x7f. */
static inline int
althaia_bytes_are_ascii(const uint8_t *at, ptrdiff_t size)
{
    uint64_t all = 0;
    ptrdiff_t done = 0;
    for (; done + 8 <= size; done += 8) {
        all |= althaia_load_word(at + done);
    }
    for (; done < size; done++) {
        all |= at[done];
    }
    return (all & ALTHAIA_EACH_BYTE(0x80)) == 0;
}

#endif
