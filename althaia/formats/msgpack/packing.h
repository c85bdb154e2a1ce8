/* Writes the heads and numbers of MessagePack: a type byte, then a big-endian number. */
#ifndef ALTHAIA_PACKING_H
#define ALTHAIA_PACKING_H

#include <Python.h>
#include <stdint.h>

#include "althaia/formats/buffer.h"

/* The most bytes of a head or a number. */
#define ALTHAIA_LONGEST_HEAD 9

static inline char *
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

/* Write a head of at most five bytes; NULL with ValueError set if the count is too large. */
static char *
althaia_format_head(char *at, const althaia_head *head, Py_ssize_t count)
{
    int code = althaia_width_code((uint64_t)count);
    if (head->base && count <= head->few) {
        *at++ = (char)(head->base | count);
        return at;
    }
    if (code == 3) {
        PyErr_Format(PyExc_ValueError, "MessagePack cannot hold %zd bytes or items", count);
        return NULL;
    }
    code += head->wide[code] == 0;
    *at++ = (char)head->wide[code];
    return althaia_pack_big_endian(at, (uint64_t)count, 1 << code);
}

static int
althaia_pack_head(althaia_buffer *buffer, const althaia_head *head, Py_ssize_t count)
{
    char *at = althaia_reserve(buffer, ALTHAIA_LONGEST_HEAD);
    if (at == NULL || (at = althaia_format_head(at, head, count)) == NULL) {
        return -1;
    }
    buffer->size = at - buffer->data;
    return 0;
}

/* Replace a head that was written for another count. Return how far the bytes after it were moved:
 * -4 to 4, because a head has one to five bytes. Return -6 on error. */
static Py_ssize_t
althaia_mend_head(althaia_buffer *buffer, const althaia_head *head, Py_ssize_t start,
                  Py_ssize_t before, Py_ssize_t count)
{
    char old[ALTHAIA_LONGEST_HEAD], right[ALTHAIA_LONGEST_HEAD];
    char *end = althaia_format_head(right, head, count);
    Py_ssize_t was = althaia_format_head(old, head, before) - old, is;
    if (end == NULL || althaia_reserve(buffer, ALTHAIA_LONGEST_HEAD) == NULL) {
        return -6;
    }
    is = end - right;
    if (is != was) {
        memmove(buffer->data + start + is, buffer->data + start + was,
                (size_t)(buffer->size - start - was));
        buffer->size += is - was;
    }
    memcpy(buffer->data + start, right, (size_t)is);
    return is - was;
}

#endif
