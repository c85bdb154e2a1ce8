/* Finds runs of characters without escapes, eight at a time, in text of one byte per character. */
#ifndef ALTHAIA_SCANNING_H
#define ALTHAIA_SCANNING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ALTHAIA_READS_WORDS 1
#else
#define ALTHAIA_READS_WORDS 0
#endif

#define ALTHAIA_EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Return a number of characters from `at` on that can be skipped, because none of them is a quote,
 * a backslash or a control character. The character after them may be one or not. */
static inline ptrdiff_t
althaia_plain_run(const uint8_t *at, ptrdiff_t size)
{
    ptrdiff_t done = 0;
#if ALTHAIA_READS_WORDS
    for (; done + 8 <= size; done += 8) {
        uint64_t word, quote, escape, control, found;
        memcpy(&word, at + done, 8);
        quote = word ^ ALTHAIA_EACH_BYTE('"');
        escape = word ^ ALTHAIA_EACH_BYTE('\\');
        /* A byte that is zero, or below 0x20, sets its highest bit. A borrow can set the bit of a
         * higher byte wrongly, but the lowest bit that is set is always right. */
        control = (word - ALTHAIA_EACH_BYTE(0x20)) & ~word;
        found = ((quote - ALTHAIA_EACH_BYTE(1)) & ~quote) | ((escape - ALTHAIA_EACH_BYTE(1)) & ~escape);
        found = (found | control) & ALTHAIA_EACH_BYTE(0x80);
        if (found != 0) {
            return done + (__builtin_ctzll(found) >> 3);
        }
    }
#else
    (void)at;
    (void)size;
#endif
    return done;
}

/* Return 1 if no byte is above 0x7f. */
static inline int
althaia_bytes_are_ascii(const uint8_t *at, ptrdiff_t size)
{
    uint64_t all = 0;
    ptrdiff_t done = 0;
    for (; done + 8 <= size; done += 8) {
        uint64_t word;
        memcpy(&word, at + done, 8);
        all |= word;
    }
    for (; done < size; done++) {
        all |= at[done];
    }
    return (all & ALTHAIA_EACH_BYTE(0x80)) == 0;
}

#endif
