/* Writes text as a JSON string: quoted and escaped, in ASCII or UTF-8. */
#ifndef ALTHAIA_QUOTING_H
#define ALTHAIA_QUOTING_H

#include <Python.h>
#include <stdint.h>

#include "althaia/formats/buffer.h"
#include "althaia/formats/words.h"

/* The character after the backslash: 0 if the character is not escaped, 'u' if four hexadecimal
 * digits follow. */
#define ALTHAIA_PLAIN "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
static const char althaia_escapes[] =
    "uuuuuuuubtnufruuuuuuuuuuuuuuuuuu"
    "\0\0\"\0\0\0\0\0\0\0\0\0\0\0\0\0" ALTHAIA_PLAIN ALTHAIA_PLAIN
    "\0\0\0\0\0\0\0\0\0\0\0\0\\\0\0\0" ALTHAIA_PLAIN "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0u";

/* The most bytes for one character: two escaped surrogates. */
#define ALTHAIA_LONGEST_ESCAPE 12
/* Room for an escaped character and two quotes, and for what is copied behind the end of a text. */
#define ALTHAIA_TEXT_ROOM 16

/* The two hexadecimal digits of each byte. */
#define ALTHAIA_ROW(d) \
    d "0" d "1" d "2" d "3" d "4" d "5" d "6" d "7" d "8" d "9" d "a" d "b" d "c" d "d" d "e" d "f"
static const char althaia_digit_pairs[] = {
    ALTHAIA_ROW("0") ALTHAIA_ROW("1") ALTHAIA_ROW("2") ALTHAIA_ROW("3")
    ALTHAIA_ROW("4") ALTHAIA_ROW("5") ALTHAIA_ROW("6") ALTHAIA_ROW("7")
    ALTHAIA_ROW("8") ALTHAIA_ROW("9") ALTHAIA_ROW("a") ALTHAIA_ROW("b")
    ALTHAIA_ROW("c") ALTHAIA_ROW("d") ALTHAIA_ROW("e") ALTHAIA_ROW("f")
};

static inline char *
althaia_quote_unit(char *at, unsigned int unit)
{
    memcpy(at, "\\u", 2);
    memcpy(at + 2, althaia_digit_pairs + 2 * (unit >> 8), 2);
    memcpy(at + 4, althaia_digit_pairs + 2 * (unit & 0xff), 2);
    return at + 6;
}

/* Write one character below 128. DEL (127) is escaped only with ensure_ascii. */
static inline char *
althaia_quote_ascii(char *at, unsigned char c, int ensure_ascii)
{
    char escape = althaia_escapes[c];
    if (!escape || (c == 127 && !ensure_ascii)) {
        *at = (char)c;
        return at + 1;
    }
    if (escape == 'u') {
        return althaia_quote_unit(at, c);
    }
    at[0] = '\\';
    at[1] = escape;
    return at + 2;
}

/* Copy eight characters below 128, and return the number of those before the first one that may need
 * an escape, or 8. */
static inline int
althaia_copy_word(char *at, uint64_t word)
{
    /* No byte has its highest bit set here; that of DEL is set by the addition. */
    uint64_t marked =
        (althaia_marked(word) | (word + ALTHAIA_EACH_BYTE(1))) & ALTHAIA_EACH_BYTE(0x80);
    althaia_store_word(at, word);
    return marked == 0 ? 8 : althaia_trailing_zeros(marked) >> 3;
}

/* Copy the characters of a compact ASCII str up to the first one that may need an escape, and return
 * their number. Up to seven bytes more may be written. */
static inline Py_ssize_t
althaia_copy_plain(char *at, const unsigned char *text, Py_ssize_t length)
{
    Py_ssize_t done = 0;
    int plain;
    if (length < 8) {
        /* The str's header precedes the text. The zeros behind the end count as to be escaped. */
        uint64_t word = length ? althaia_load_word(text + length - 8) >> 8 * (8 - length) : 0;
        return althaia_copy_word(at, word);
    }
    do {
        plain = althaia_copy_word(at + done, althaia_load_word(text + done));
        if (plain < 8) {
            return done + plain;
        }
        /* The last word may overlap the one before. */
        done = done + 16 > length && done + 8 < length ? length - 8 : done + 8;
    } while (done < length);
    return length;
}

/* Write text of a compact ASCII str, for which there is room but for its escapes, in quotes. */
static Py_NO_INLINE int
althaia_put_ascii_escaped(althaia_buffer *buffer, const unsigned char *text, Py_ssize_t length,
                          int ensure_ascii)
{
    char *at = buffer->data + buffer->size;
    *at++ = '"';
    while (length > 0) {
        Py_ssize_t plain = althaia_copy_plain(at, text, length);
        at += plain;
        text += plain;
        length -= plain;
        do {
            if (length > 0) {
                at = althaia_quote_ascii(at, *text++, ensure_ascii);
                length--;
            }
            buffer->size = at - buffer->data;
            at = althaia_reserve(buffer, length + ALTHAIA_TEXT_ROOM);
            if (at == NULL) {
                return -1;
            }
        } while (length > 0 && althaia_escapes[*text]);
    }
    *at = '"';
    buffer->size++;
    return 0;
}

/* Write text of a compact ASCII str, in quotes. */
static inline int
althaia_put_ascii_text(althaia_buffer *buffer, const unsigned char *text, Py_ssize_t length,
                       int ensure_ascii)
{
    char *at = althaia_reserve(buffer, length + ALTHAIA_TEXT_ROOM);
    if (at == NULL) {
        return -1;
    }
    if (althaia_copy_plain(at + 1, text, length) < length) {
        return althaia_put_ascii_escaped(buffer, text, length, ensure_ascii);
    }
    at[0] = at[length + 1] = '"';
    buffer->size += length + 2;
    return 0;
}

/* Write ASCII text in which no character needs an escape, in quotes. ALTHAIA_PADDING bytes must
 * follow it. */
static inline int
althaia_put_quoted(althaia_buffer *buffer, const char *text, Py_ssize_t length)
{
    char *at = althaia_reserve(buffer, length + 2 + ALTHAIA_PADDING);
    if (at == NULL) {
        return -1;
    }
    *at++ = '"';
    for (Py_ssize_t done = 0; done < length; done += 16) {
        memcpy(at + done, text + done, 16);
    }
    at[length] = '"';
    buffer->size += length + 2;
    return 0;
}

/* Write one character from 128 on, as one or two escapes. */
static inline char *
althaia_quote_escaped(char *at, Py_UCS4 c)
{
    if (c < 0x10000) {
        return althaia_quote_unit(at, c);
    }
    c -= 0x10000;
    at = althaia_quote_unit(at, 0xd800 | c >> 10);
    return althaia_quote_unit(at, 0xdc00 | (c & 0x3ff));
}

/* Write one character from 128 on in UTF-8. Surrogates are encoded like characters. */
static inline char *
althaia_quote_utf8(char *at, Py_UCS4 c)
{
    if (c < 0x800) {
        *at++ = (char)(0xc0 | c >> 6);
    }
    else {
        if (c < 0x10000) {
            *at++ = (char)(0xe0 | c >> 12);
        }
        else {
            *at++ = (char)(0xf0 | c >> 18);
            *at++ = (char)(0x80 | (c >> 12 & 0x3f));
        }
        *at++ = (char)(0x80 | (c >> 6 & 0x3f));
    }
    *at++ = (char)(0x80 | (c & 0x3f));
    return at;
}

/* The number of characters for which room is reserved at once. */
#define ALTHAIA_STRETCH 64

/* Write text with characters from 128 on, in quotes. Inlined once for each kind of str. */
static Py_ALWAYS_INLINE inline int
althaia_put_kind(althaia_buffer *buffer, int kind, PyObject *text, int ensure_ascii)
{
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t length = PyUnicode_GET_LENGTH(text), i = 0;
    if (althaia_put_byte(buffer, '"') < 0) {
        return -1;
    }
    while (i < length) {
        Py_ssize_t stop = length - i > ALTHAIA_STRETCH ? i + ALTHAIA_STRETCH : length;
        char *at = althaia_reserve(buffer, ALTHAIA_STRETCH * ALTHAIA_LONGEST_ESCAPE);
        if (at == NULL) {
            return -1;
        }
        for (; i < stop; i++) {
            Py_UCS4 c = PyUnicode_READ(kind, data, i);
            if (c < 128) {
                at = althaia_quote_ascii(at, (unsigned char)c, ensure_ascii);
            }
            else {
                at = ensure_ascii ? althaia_quote_escaped(at, c) : althaia_quote_utf8(at, c);
            }
        }
        buffer->size = at - buffer->data;
    }
    buffer->beyond_ascii |= !ensure_ascii;
    return althaia_put_byte(buffer, '"');
}

static Py_NO_INLINE int
althaia_put_wide_text(althaia_buffer *buffer, PyObject *text, int ensure_ascii)
{
    int kind = PyUnicode_KIND(text);
    return kind == 1   ? althaia_put_kind(buffer, 1, text, ensure_ascii)
           : kind == 2 ? althaia_put_kind(buffer, 2, text, ensure_ascii)
                       : althaia_put_kind(buffer, 4, text, ensure_ascii);
}

/* Longer text that is not ASCII and stays so is kept apart: that is faster than to encode it as
 * UTF-8 and to decode it again. */
#define ALTHAIA_LONG_TEXT 128

/* Write the characters of a str, or of an instance of a subclass, in quotes, and return 1. Return 0
 * if they are kept apart; -1 on error. */
static inline int
althaia_put_text(althaia_buffer *buffer, PyObject *text, int ensure_ascii)
{
    int done;
    if (PyUnicode_IS_COMPACT_ASCII(text)) {
        done = althaia_put_ascii_text(buffer, PyUnicode_1BYTE_DATA(text),
                                      PyUnicode_GET_LENGTH(text), ensure_ascii);
    }
    else if (!ensure_ascii && PyUnicode_GET_LENGTH(text) >= ALTHAIA_LONG_TEXT
             && PyUnicode_KIND(text) > 1) {
        return 0;
    }
    else {
        done = althaia_put_wide_text(buffer, text, ensure_ascii);
    }
    return done < 0 ? -1 : 1;
}

#endif
