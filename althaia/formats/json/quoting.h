/* Writes text as a JSON string: quoted and escaped, in ASCII or UTF-8. */
#ifndef ALTHAIA_QUOTING_H
#define ALTHAIA_QUOTING_H

#include <Python.h>
#include <stdint.h>

#include "althaia/formats/buffer.h"

/* The character after the backslash: 0 if the character is not escaped, 'u' if four hexadecimal
 * digits follow. */
static const char althaia_escapes[128] = {
    'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'b', 't', 'n', 'u', 'f', 'r', 'u', 'u',
    'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u',
    0,   0,   '"', 0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   '\\', 0,  0,   0,
    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   'u',
};

/* The most bytes for one character: two escaped surrogates. */
#define ALTHAIA_LONGEST_ESCAPE 12
/* The most bytes for eight characters below 128, each escaped as \uXXXX. */
#define ALTHAIA_LONGEST_BLOCK 48

static inline char *
althaia_quote_unit(char *at, unsigned int unit)
{
    static const char digits[] = "0123456789abcdef";
    at[0] = '\\';
    at[1] = 'u';
    at[2] = digits[unit >> 12 & 15];
    at[3] = digits[unit >> 8 & 15];
    at[4] = digits[unit >> 4 & 15];
    at[5] = digits[unit & 15];
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

/* Return nonzero if one of eight characters below 128 may need an escape. */
static inline uint64_t
althaia_has_special(uint64_t block)
{
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    uint64_t quote = block ^ (ones * '"'), backslash = block ^ (ones * '\\');
    return ((block - ones * 0x20) | (quote - ones) | (backslash - ones) | (block + ones)) & tops;
}

/* Write text of characters below 128, in quotes. */
static inline int
althaia_put_ascii_text(althaia_buffer *buffer, const unsigned char *text, Py_ssize_t length,
                       int ensure_ascii)
{
    char *at = althaia_reserve(buffer, length + ALTHAIA_LONGEST_BLOCK + 2);
    if (at == NULL) {
        return -1;
    }
    *at++ = '"';
    while (length >= 8) {
        uint64_t block;
        memcpy(&block, text, 8);
        if (!althaia_has_special(block)) {
            memcpy(at, &block, 8);
            at += 8;
        }
        else {
            for (int i = 0; i < 8; i++) {
                at = althaia_quote_ascii(at, text[i], ensure_ascii);
            }
            buffer->size = at - buffer->data;
            at = althaia_reserve(buffer, length + ALTHAIA_LONGEST_BLOCK + 2);
            if (at == NULL) {
                return -1;
            }
        }
        text += 8;
        length -= 8;
    }
    while (length-- > 0) {
        at = althaia_quote_ascii(at, *text++, ensure_ascii);
    }
    *at++ = '"';
    buffer->size = at - buffer->data;
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
static inline int
althaia_put_wide_text(althaia_buffer *buffer, int kind, const void *text, Py_ssize_t length,
                      int ensure_ascii)
{
    Py_ssize_t i = 0;
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
            Py_UCS4 c = PyUnicode_READ(kind, text, i);
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

/* Write the characters of a str, or of an instance of a subclass, in quotes. */
static int
althaia_put_text(althaia_buffer *buffer, PyObject *text, int ensure_ascii)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    if (PyUnicode_IS_ASCII(text)) {
        return althaia_put_ascii_text(buffer, PyUnicode_1BYTE_DATA(text), length, ensure_ascii);
    }
    switch (PyUnicode_KIND(text)) {
    case PyUnicode_1BYTE_KIND:
        return althaia_put_wide_text(buffer, PyUnicode_1BYTE_KIND, PyUnicode_DATA(text), length,
                                     ensure_ascii);
    case PyUnicode_2BYTE_KIND:
        return althaia_put_wide_text(buffer, PyUnicode_2BYTE_KIND, PyUnicode_DATA(text), length,
                                     ensure_ascii);
    default:
        return althaia_put_wide_text(buffer, PyUnicode_4BYTE_KIND, PyUnicode_DATA(text), length,
                                     ensure_ascii);
    }
}

#endif
