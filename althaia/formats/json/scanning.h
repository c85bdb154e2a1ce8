/* Finds the characters of JSON strings that are escaped, eight at a time. */
#ifndef ALTHAIA_SCANNING_H
#define ALTHAIA_SCANNING_H

#include <stddef.h>
#include <stdint.h>

#include "althaia/formats/words.h"

/* Mark the quotes, backslashes and control characters of a word: each sets the highest bit of its
 * byte. A borrow can mark a character above one that is marked; the lowest mark is always right. */
static inline uint64_t
althaia_marked(uint64_t word)
{
    uint64_t quote = word ^ ALTHAIA_EACH_BYTE('"'), escape = word ^ ALTHAIA_EACH_BYTE('\\');
    return ((word - ALTHAIA_EACH_BYTE(0x20)) | (quote - ALTHAIA_EACH_BYTE(1))
            | (escape - ALTHAIA_EACH_BYTE(1)))
           & ~word & ALTHAIA_EACH_BYTE(0x80);
}

/* Return a number of bytes from `at` on that can be skipped, because none of them is a quote, a
 * backslash or a control character. The byte after them may be one or not. Add the bits of all that
 * are skipped to `seen`. */
static inline ptrdiff_t
althaia_plain_run(const uint8_t *at, ptrdiff_t size, uint64_t *seen)
{
    ptrdiff_t done = 0;
    for (; done + 8 <= size; done += 8) {
        uint64_t word = althaia_load_word(at + done), marked = althaia_marked(word);
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

/* Write a byte for each character of a str of this kind: the character, or 0x80 for any beyond
 * ASCII. */
static void
althaia_mark(int kind, const void *text, ptrdiff_t size, char *marks)
{
    if (kind == 1) {
        ALTHAIA_MARK(uint8_t)
    }
    else if (kind == 2) {
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
