/* Reads a JSON string with escapes: first its size, then its characters, into a str of that size. */
#ifndef ALTHAIA_UNQUOTING_H
#define ALTHAIA_UNQUOTING_H

#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "althaia/formats/words.h"

/* The character that an escape of one letter stands for; 0 if there is no such escape. */
static const unsigned char althaia_escaped[256] = {
    ['"'] = '"', ['\\'] = '\\', ['/'] = '/', ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t',
};

#define ALTHAIA_NONE -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1
#define ALTHAIA_LETTERS -1, 10, 11, 12, 13, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1
/* The value of each hexadecimal digit; -1 for any other character. */
static const signed char althaia_digits[256] = {
    ALTHAIA_NONE, ALTHAIA_NONE, ALTHAIA_NONE,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -1, -1, -1, -1, -1,
    ALTHAIA_LETTERS, ALTHAIA_NONE, ALTHAIA_LETTERS, ALTHAIA_NONE,
    ALTHAIA_NONE, ALTHAIA_NONE, ALTHAIA_NONE, ALTHAIA_NONE,
    ALTHAIA_NONE, ALTHAIA_NONE, ALTHAIA_NONE, ALTHAIA_NONE,
};

/* Return the value of four hexadecimal digits; more than 0xffff if one is none. */
static inline uint32_t
althaia_four_digits(const uint8_t *at)
{
    return (uint32_t)althaia_digits[at[0]] << 12 | (uint32_t)althaia_digits[at[1]] << 8
        | (uint32_t)althaia_digits[at[2]] << 4 | (uint32_t)althaia_digits[at[3]];
}

/* Store the character of the escape sequence whose backslash is at `at`, and return the index after
 * it, or -1. Two escaped surrogates are one character. */
static inline Py_ssize_t
althaia_unescape(const uint8_t *text, Py_ssize_t at, Py_ssize_t size, uint32_t *character)
{
    uint32_t low;
    if (text[at + 1] != 'u') {
        *character = althaia_escaped[text[at + 1]];
        return *character ? at + 2 : -1;
    }
    if (size - at < 6) {
        return -1;
    }
    *character = althaia_four_digits(text + at + 2);
    if (*character >> 10 == 0xd800 >> 10 && size - at >= 12 && text[at + 6] == '\\'
        && text[at + 7] == 'u') {
        low = althaia_four_digits(text + at + 8);
        if (low >> 10 == 0xdc00 >> 10) {
            *character = 0x10000 + ((*character & 0x3ff) << 10 | (low & 0x3ff));
            return at + 12;
        }
    }
    return *character > 0xffff ? -1 : at + 6;
}

/* Return the bits of the characters of a part of a str beyond Latin-1, as far as they matter: they
 * show how many bytes each character needs. */
static uint32_t
althaia_bits_of(int kind, const void *text, Py_ssize_t start, Py_ssize_t end)
{
    uint32_t all = 0;
    Py_ssize_t at = start, stop;
    while (at < end && all < (kind == 2 ? 0x100 : 0x10000)) {
        stop = end - at > 64 ? at + 64 : end;
        if (kind == 2) {
            for (; at < stop; at++) {
                all |= ((const uint16_t *)text)[at];
            }
        }
        else {
            for (; at < stop; at++) {
                all |= ((const uint32_t *)text)[at];
            }
        }
    }
    return all;
}

/* Read a string from its first escape on. Store how many of its characters belong to escape
 * sequences without being their result, and the bits of those results. Add the bits of all other
 * characters to `seen`. Return the index of the quote that ends it, or -1 if it is not valid. */
static Py_ssize_t
althaia_measure(const uint8_t *text, Py_ssize_t at, Py_ssize_t size, uint64_t *seen,
                Py_ssize_t *saved, uint32_t *bits)
{
    Py_ssize_t after;
    uint32_t character;
    *saved = 0;
    *bits = 0;
    while (text[at] != '"') {
        if (text[at] == '\\') {
            after = althaia_unescape(text, at, size, &character);
            if (after < 0) {
                return -1;
            }
            *bits |= character;
            *saved += after - at - 1;
            at = after;
            continue;
        }
        if (text[at] < 0x20) {
            return -1;
        }
        *seen |= text[at++];
        at += althaia_plain_run(text + at, size - at, seen);
    }
    return at;
}

/* Copy characters between strs, of which the second one can hold them. */
static inline void
althaia_copy_characters(int kind, const void *text, Py_ssize_t at, int made_kind, void *made,
                        Py_ssize_t to, Py_ssize_t count)
{
    if (kind == made_kind) {
        memcpy((char *)made + to * kind, (const char *)text + at * kind, (size_t)(count * kind));
        return;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyUnicode_WRITE(made_kind, made, to + i, PyUnicode_READ(kind, text, at + i));
    }
}

/* Write the characters of a valid string. Inlined for each kind of str. */
static Py_ALWAYS_INLINE inline void
althaia_write_unescaped(int kind, const void *source, const uint8_t *text, Py_ssize_t at,
                        Py_ssize_t end, int made_kind, void *made)
{
    Py_ssize_t to = 0, run;
    const uint8_t *mark;
    uint32_t character;
    while (at < end) {
        if (text[at] == '\\') {
            at = althaia_unescape(text, at, end, &character);
            PyUnicode_WRITE(made_kind, made, to, character);
            to++;
            continue;
        }
        mark = memchr(text + at, '\\', (size_t)(end - at));
        run = (mark == NULL ? text + end : mark) - (text + at);
        althaia_copy_characters(kind, source, at, made_kind, made, to, run);
        at += run;
        to += run;
    }
}

/* Return the str that a string with escapes stands for, and store the index after it. Return NULL
 * if it is not valid, or with an error.
 *
 * `text` has a byte for each character of `owner`: see althaia_mark(). The string's characters begin
 * at `start`; the first escape is at `at`, and the bits of what precedes it are in `seen`. */
static PyObject *
althaia_unquoted(PyObject *owner, const uint8_t *text, Py_ssize_t start, Py_ssize_t at,
                 Py_ssize_t size, uint64_t seen, Py_ssize_t *after)
{
    int kind = PyUnicode_KIND(owner), made_kind;
    const void *source = PyUnicode_DATA(owner);
    Py_ssize_t saved, end, length;
    uint32_t bits;
    PyObject *made;
    void *data;
    end = althaia_measure(text, at, size, &seen, &saved, &bits);
    if (end < 0) {
        return NULL;
    }
    if (seen & ALTHAIA_EACH_BYTE(0x80)) {
        bits |= kind == 1 ? 0xff : althaia_bits_of(kind, source, start, end);
    }
    length = end - start - saved;
    *after = end + 1;
    if (length == 1) {
        /* Of characters of Latin-1 CPython has one shared str each. */
        return PyUnicode_FromOrdinal((int)bits);
    }
    made = PyUnicode_New(length, bits > 0x10ffff ? 0x10ffff : bits);
    if (made == NULL) {
        return NULL;
    }
    made_kind = PyUnicode_KIND(made);
    data = PyUnicode_DATA(made);
#define ALTHAIA_WRITE(one, other) \
    if (kind == one && made_kind == other) { \
        althaia_write_unescaped(one, source, text, start, end, other, data); \
    }
    ALTHAIA_WRITE(1, 1)
    ALTHAIA_WRITE(1, 2)
    ALTHAIA_WRITE(1, 4)
    ALTHAIA_WRITE(2, 1)
    ALTHAIA_WRITE(2, 2)
    ALTHAIA_WRITE(2, 4)
    ALTHAIA_WRITE(4, 1)
    ALTHAIA_WRITE(4, 2)
    ALTHAIA_WRITE(4, 4)
    return made;
}

#endif
