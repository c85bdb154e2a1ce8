/* Writes the heads and numbers of MessagePack: a type byte, then a big-endian number. */
#ifndef ALTHAIA_PACKING_H
#define ALTHAIA_PACKING_H

#include <Python.h>
#include <stdint.h>

#include "althaia/formats/buffer.h"
#include "althaia/formats/words.h"

/* The most bytes of a head or a number. */
#define ALTHAIA_LONGEST_HEAD 9

static Py_ALWAYS_INLINE inline char *
althaia_pack_big_endian(char *at, uint64_t number, int bytes)
{
    while (bytes-- > 0) {
        *at++ = (char)(number >> (8 * bytes));
    }
    return at;
}

/* Return 0, 1, 2 or 3 for a number that fits into 1, 2, 4 or 8 bytes. */
static inline int
althaia_width_code(uint64_t number)
{
    return (number > 0xff) + (number > 0xffff) + (number > 0xffffffffu);
}

/* Write an integer and return 1. Return 0 without an error if it is out of MessagePack's range, -1
 * on error. */
static int
althaia_pack_integer(althaia_buffer *buffer, PyObject *number)
{
    int overflow, code;
    long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
    uint64_t bits = (uint64_t)value;
    char *at;
    if (overflow > 0) {
        bits = PyLong_AsUnsignedLongLong(number);
        if (PyErr_Occurred()) {
            PyErr_Clear();
            return 0;
        }
    }
    else if (overflow < 0) {
        return 0;
    }
    at = althaia_reserve(buffer, ALTHAIA_LONGEST_HEAD);
    if (at == NULL) {
        return -1;
    }
    if (overflow == 0 && value >= -32 && value < 0x80) {
        *at++ = (char)value;
    }
    else {
        int negative = overflow == 0 && value < 0;
        /* Of a negative number the sign needs a bit. */
        code = althaia_width_code(negative ? ~bits << 1 : bits);
        *at++ = (char)((negative ? 0xd0 : 0xcc) + code);
        at = althaia_pack_big_endian(at, bits, 1 << code);
    }
    buffer->size = at - buffer->data;
    return 1;
}

static int
althaia_pack_double(althaia_buffer *buffer, double number)
{
    char *at = althaia_reserve(buffer, ALTHAIA_LONGEST_HEAD);
    uint64_t bits;
    if (at == NULL) {
        return -1;
    }
    memcpy(&bits, &number, 8);
    *at++ = (char)0xcb;
    buffer->size = althaia_pack_big_endian(at, bits, 8) - buffer->data;
    return 0;
}

/* The type bytes of a kind of head. Up to `few` items the type byte is `base` plus the count.
 * Otherwise the one of `wide` precedes a count of one, two or four bytes; 0 if there is none. */
typedef struct {
    unsigned char base, few, wide[3];
} althaia_head;

static const althaia_head ALTHAIA_MAP = {0x80, 15, {0, 0xde, 0xdf}};
static const althaia_head ALTHAIA_ARRAY = {0x90, 15, {0, 0xdc, 0xdd}};
static const althaia_head ALTHAIA_TEXT = {0xa0, 31, {0xd9, 0xda, 0xdb}};
static const althaia_head ALTHAIA_BYTES = {0, 0, {0xc4, 0xc5, 0xc6}};

/* Write a head of at most five bytes; -1 with ValueError set if the count is too large. */
static int
althaia_pack_head(althaia_buffer *buffer, const althaia_head *head, Py_ssize_t count)
{
    int code = althaia_width_code((uint64_t)count);
    char *at = althaia_reserve(buffer, ALTHAIA_LONGEST_HEAD);
    if (at == NULL) {
        return -1;
    }
    if (head->base && count <= head->few) {
        *at = (char)(head->base | count);
        buffer->size++;
        return 0;
    }
    if (code == 3) {
        PyErr_Format(PyExc_ValueError, "MessagePack cannot hold %zd bytes or items", count);
        return -1;
    }
    code += head->wide[code] == 0;
    *at++ = (char)head->wide[code];
    buffer->size = althaia_pack_big_endian(at, (uint64_t)count, 1 << code) - buffer->data;
    return 0;
}

/* Write a compact ASCII str of at most 31 characters, eight at a time. */
static inline int
althaia_pack_short_text(althaia_buffer *buffer, const char *text, Py_ssize_t size)
{
    char *at = althaia_reserve(buffer, 40);
    if (at == NULL) {
        return -1;
    }
    *at++ = (char)(ALTHAIA_TEXT.base | size);
    if (size < 8) {
        /* The str's header precedes the text. */
        althaia_store_word(at, size ? althaia_load_word(text + size - 8) >> 8 * (8 - size) : 0);
    }
    else {
        for (Py_ssize_t done = 0; done < size - 8; done += 8) {
            memcpy(at + done, text + done, 8);
        }
        memcpy(at + size - 8, text + size - 8, 8);
    }
    buffer->size += 1 + size;
    return 0;
}

/* Write the characters of a str, or of an instance of a subclass. */
static int
althaia_pack_text(althaia_buffer *buffer, PyObject *text)
{
    Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    const char *bytes;
    if (PyUnicode_IS_COMPACT_ASCII(text)) {
        bytes = (const char *)PyUnicode_1BYTE_DATA(text);
        if (size <= ALTHAIA_TEXT.few) {
            return althaia_pack_short_text(buffer, bytes, size);
        }
    }
    else {
        bytes = PyUnicode_AsUTF8AndSize(text, &size);
    }
    if (bytes == NULL || althaia_pack_head(buffer, &ALTHAIA_TEXT, size) < 0) {
        return -1;
    }
    return althaia_put_bytes(buffer, bytes, size);
}

/* Write a value and return 1. Return 0, with nothing written, if it is none of a built-in type that
 * can be written at once; -1 on error. */
static Py_ALWAYS_INLINE inline int
althaia_pack_scalar(althaia_buffer *buffer, PyObject *value)
{
    if (PyUnicode_CheckExact(value)) {
        return althaia_pack_text(buffer, value) < 0 ? -1 : 1;
    }
    if (PyLong_CheckExact(value)) {
        return althaia_pack_integer(buffer, value);
    }
    if (PyFloat_CheckExact(value)) {
        return althaia_pack_double(buffer, PyFloat_AS_DOUBLE(value)) < 0 ? -1 : 1;
    }
    if (value == Py_None || PyBool_Check(value)) {
        char byte = (char)(value == Py_None ? 0xc0 : value == Py_True ? 0xc3 : 0xc2);
        return althaia_put_byte(buffer, byte) < 0 ? -1 : 1;
    }
    return 0;
}

/* Write the entries of a dictionary from a position on. Return 0 after the last entry, -1 on error,
 * and 1 at an entry of which the key or the value is no scalar: store, borrowed, the key, which is
 * NULL if it is written, and the value, which is not. */
static int
althaia_pack_entries(althaia_buffer *buffer, PyObject *dict, Py_ssize_t *position, PyObject **key,
                     PyObject **value)
{
    while (PyDict_Next(dict, position, key, value)) {
        int done = althaia_pack_scalar(buffer, *key);
        if (done > 0) {
            *key = NULL;
            done = althaia_pack_scalar(buffer, *value);
        }
        if (done <= 0) {
            return done < 0 ? -1 : 1;
        }
    }
    return 0;
}

#endif
