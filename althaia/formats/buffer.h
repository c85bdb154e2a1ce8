/* A growing byte buffer, into which the sinks write.
 *
 * Everything is static: each extension module that includes this file has its own copy.
 */
#ifndef ALTHAIA_BUFFER_H
#define ALTHAIA_BUFFER_H

#include <Python.h>
#include <string.h>

#include "althaia/formats/spare.h"

#define ALTHAIA_BUFFER_FIRST 512

typedef struct {
    char *data;
    Py_ssize_t size;
    Py_ssize_t capacity;
    /* 1 once a byte above 127 was written. */
    int beyond_ascii;
    /* Spare memory and its size. It contains `data` unless `text` does. */
    char *spare;
    Py_ssize_t room;
    /* The str that contains `data` if that is too long for spare memory. It becomes the result, so
     * that long text is not copied at the end and is not in memory twice. */
    PyObject *text;
} althaia_buffer;

/* Only one extension module opens and frees buffers; the others write into them. */
static void *althaia_spare_bytes = NULL;

static void
althaia_buffer_open(althaia_buffer *buffer)
{
    buffer->spare = althaia_take_spare(&althaia_spare_bytes, &buffer->room);
    buffer->data = buffer->spare;
    buffer->capacity = buffer->room;
}

static void
althaia_buffer_free(althaia_buffer *buffer)
{
    Py_XDECREF(buffer->text);
    althaia_keep_spare(&althaia_spare_bytes, buffer->spare, buffer->room);
    memset(buffer, 0, sizeof(*buffer));
}

/* Let the buffer contain an ASCII str of `size` characters instead. Takes the reference. */
static void
althaia_buffer_hold(althaia_buffer *buffer, PyObject *text, Py_ssize_t size)
{
    Py_XSETREF(buffer->text, text);
    buffer->data = (char *)PyUnicode_1BYTE_DATA(text);
    buffer->capacity = size;
}

static int
althaia_buffer_grow(althaia_buffer *buffer, Py_ssize_t more)
{
    Py_ssize_t needed = buffer->size + more + 1, ample;
    PyObject *text;
    char *spare;
    if (more >= PY_SSIZE_T_MAX / 4 || buffer->capacity >= PY_SSIZE_T_MAX / 4) {
        PyErr_NoMemory();
        return -1;
    }
    /* A buffer of more than 1 MB grows by half, one of less than 64 KB fourfold, others are doubled. */
    ample = buffer->capacity < (1 << 16)
        ? 4 * buffer->capacity
        : buffer->capacity + (buffer->capacity >> (buffer->capacity > (1 << 20)));
    ample = Py_MAX(Py_MAX(ample, needed), ALTHAIA_BUFFER_FIRST);
    if (needed <= ALTHAIA_MOST_SPARE && buffer->text == NULL) {
        ample = Py_MIN(ample, ALTHAIA_MOST_SPARE);
        spare = PyMem_Realloc(buffer->spare, (size_t)ample);
        if (spare == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        buffer->data = buffer->spare = spare;
        buffer->capacity = buffer->room = ample;
        return 0;
    }
    if (buffer->text != NULL) {
        if (PyUnicode_Resize(&buffer->text, ample) < 0) {
            return -1;
        }
        buffer->data = (char *)PyUnicode_1BYTE_DATA(buffer->text);
        buffer->capacity = ample;
        return 0;
    }
    text = PyUnicode_New(ample, 127);
    if (text == NULL) {
        return -1;
    }
    if (buffer->size > 0) {
        memcpy(PyUnicode_1BYTE_DATA(text), buffer->data, (size_t)buffer->size);
    }
    althaia_buffer_hold(buffer, text, ample);
    return 0;
}

/* Return the address of the next byte, with room for `more` bytes; NULL with MemoryError set. */
static inline char *
althaia_reserve(althaia_buffer *buffer, Py_ssize_t more)
{
    /* `>=`, so that an empty buffer is allocated even if `more` is 0: NULL must mean an error. */
    if (more >= buffer->capacity - buffer->size && althaia_buffer_grow(buffer, more) < 0) {
        return NULL;
    }
    return buffer->data + buffer->size;
}

static inline int
althaia_put_bytes(althaia_buffer *buffer, const char *bytes, Py_ssize_t count)
{
    char *at = althaia_reserve(buffer, count);
    if (at == NULL) {
        return -1;
    }
    memcpy(at, bytes, (size_t)count);
    buffer->size += count;
    return 0;
}

/* At least as many bytes as althaia_put_padded() copies behind the end. */
#define ALTHAIA_PADDING 16

/* Write bytes that are followed by ALTHAIA_PADDING others. Copying sixteen at a time is faster than
 * calling memcpy() for a few. */
static inline int
althaia_put_padded(althaia_buffer *buffer, const char *bytes, Py_ssize_t count)
{
    char *at = althaia_reserve(buffer, count + ALTHAIA_PADDING);
    if (at == NULL) {
        return -1;
    }
    for (Py_ssize_t done = 0; done < count; done += 16) {
        memcpy(at + done, bytes + done, 16);
    }
    buffer->size += count;
    return 0;
}

/* Keys as they are written, one after the other, ALTHAIA_PADDING bytes behind them. */
typedef struct {
    const char *text;
    /* Where each key ends; ends[-1] is 0. */
    Py_ssize_t *ends;
    /* The indexes of the keys in the order in which they are written in a sorted dictionary. */
    Py_ssize_t *order;
    Py_ssize_t count;
    /* How many bytes of a key are left out if it is the first one of its dictionary. */
    Py_ssize_t separator;
} althaia_key_texts;

/* Write the key of that index; `first` is 1 if it is the first one of its dictionary. */
static inline int
althaia_put_key(althaia_buffer *buffer, const althaia_key_texts *keys, Py_ssize_t index, int first)
{
    Py_ssize_t start = keys->ends[index - 1] + (first ? keys->separator : 0);
    return althaia_put_padded(buffer, keys->text + start, keys->ends[index] - start);
}

static inline int
althaia_put_byte(althaia_buffer *buffer, char byte)
{
    return althaia_put_bytes(buffer, &byte, 1);
}

/* Return what was written as a new str and empty the buffer. Text beyond ASCII is in UTF-8, in
 * which lone surrogates are encoded like characters ("surrogatepass"). */
static PyObject *
althaia_buffer_text(althaia_buffer *buffer)
{
    PyObject *text = NULL;
    if (buffer->beyond_ascii) {
        text = PyUnicode_DecodeUTF8(buffer->data, buffer->size, "surrogatepass");
    }
    else if (buffer->text == NULL) {
        text = PyUnicode_New(buffer->size, 127);
        if (text != NULL) {
            memcpy(PyUnicode_1BYTE_DATA(text), buffer->data, (size_t)buffer->size);
        }
    }
    else if (PyUnicode_Resize(&buffer->text, buffer->size) == 0) {
        text = buffer->text;
        buffer->text = NULL;
    }
    althaia_buffer_free(buffer);
    return text;
}

#endif
