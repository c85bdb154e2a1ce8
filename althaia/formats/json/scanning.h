/* Runs of plain characters in text of one byte a character, eight at a time. */
#ifndef ALTHAIA_SOURCES_TEXT_H
#define ALTHAIA_SOURCES_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ALTHAIA_READS_WORDS 1
#else
#define ALTHAIA_READS_WORDS 0
#endif

#define ALTHAIA_EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* How many characters from `at` on, at most, can be left out because each is neither a quote nor
 * a backslash nor a control character. The next one must be looked at whatever it is. */
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
        /* Bytes that are zero, or below 0x20, leave their highest bit; the lowest one that does
         * is never wrong. */
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

/* 1 where no byte is above 0x7f. */
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
