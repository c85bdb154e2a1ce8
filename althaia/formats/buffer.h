/* Bytes that grow: what the sinks write into.
 *
 * Everything is static: each extension module that includes this file has its own copy.
 */
#ifndef ALTHAIA_BUFFER_H
#define ALTHAIA_BUFFER_H

#include <Python.h>
#include <string.h>

#define ALTHAIA_BUFFER_FIRST 512

/* From this capacity on text is written where the str that it becomes has its characters, so that a
 * long one is neither copied nor in memory twice. */
#define ALTHAIA_BUFFER_IN_PLACE 65536

typedef struct {
    char *data;
    Py_ssize_t size;
    Py_ssize_t capacity;
    /* 1 once a byte above 127 was written. */
    int beyond_ascii;
    /* 1 where the bytes will be a str. */
    int becomes_text;
    /* The str that holds `data`, or NULL: it is memory of its own. */
    PyObject *text;
} althaia_buffer;

static void
althaia_buffer_free(althaia_buffer *buffer)
{
    if (buffer->text != NULL) {
        Py_DECREF(buffer->text);
    }
    else {
        PyMem_Free(buffer->data);
    }
    memset(buffer, 0, sizeof(*buffer));
}

/* Make the buffer `wanted` bytes large, in a str. */
static int
althaia_buffer_place(althaia_buffer *buffer, Py_ssize_t wanted)
{
    if (buffer->text != NULL) {
        if (PyUnicode_Resize(&buffer->text, wanted) < 0) {
            return -1;
        }
    }
    else {
        PyObject *text = PyUnicode_New(wanted, 127);
        if (text == NULL) {
            return -1;
        }
        if (buffer->size > 0) {
            memcpy(PyUnicode_1BYTE_DATA(text), buffer->data, (size_t)buffer->size);
        }
        PyMem_Free(buffer->data);
        buffer->text = text;
    }
    buffer->data = (char *)PyUnicode_1BYTE_DATA(buffer->text);
    buffer->capacity = wanted;
    return 0;
}

static int
althaia_buffer_grow(althaia_buffer *buffer, Py_ssize_t more)
{
    Py_ssize_t wanted;
    char *data;
    if (more >= PY_SSIZE_T_MAX - buffer->size) {
        PyErr_NoMemory();
        return -1;
    }
    wanted = buffer->size + more + 1;
    if (wanted < ALTHAIA_BUFFER_FIRST) {
        wanted = ALTHAIA_BUFFER_FIRST;
    }
    /* Half as much again for a large buffer, twice as much for a small one. */
    else if (buffer->capacity < PY_SSIZE_T_MAX / 4) {
        Py_ssize_t ample
            = buffer->capacity + (buffer->capacity >> (buffer->capacity > (1 << 20)));
        wanted = ample > wanted ? ample : wanted;
    }
    if (buffer->text != NULL
        || (buffer->becomes_text && !buffer->beyond_ascii && wanted >= ALTHAIA_BUFFER_IN_PLACE)) {
        return althaia_buffer_place(buffer, wanted);
    }
    data = PyMem_Realloc(buffer->data, (size_t)wanted);
    if (data == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    buffer->data = data;
    buffer->capacity = wanted;
    return 0;
}

/* Where the next byte goes, with room for `more` of them; NULL with MemoryError set. */
static inline char *
althaia_reserve(althaia_buffer *buffer, Py_ssize_t more)
{
    /* Also where nothing is to be written into nothing, so that NULL means an error. */
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

static inline int
althaia_put_byte(althaia_buffer *buffer, char byte)
{
    char *at = althaia_reserve(buffer, 1);
    if (at == NULL) {
        return -1;
    }
    *at = byte;
    buffer->size++;
    return 0;
}

/* All that was written as a new str; what is no ASCII is UTF-8, in which lone surrogates are encoded
 * as if they were characters. The buffer is empty then. */
static PyObject *
althaia_buffer_text(althaia_buffer *buffer)
{
    PyObject *text = NULL;
    if (buffer->beyond_ascii) {
        text = PyUnicode_DecodeUTF8(buffer->data, buffer->size, "surrogatepass");
    }
    else if (buffer->text != NULL) {
        if (PyUnicode_Resize(&buffer->text, buffer->size) == 0) {
            text = buffer->text;
            buffer->text = NULL;
            buffer->data = NULL;
        }
    }
    else {
        text = PyUnicode_New(buffer->size, 127);
        if (text != NULL && buffer->size > 0) {
            memcpy(PyUnicode_1BYTE_DATA(text), buffer->data, (size_t)buffer->size);
        }
    }
    althaia_buffer_free(buffer);
    return text;
}

#endif
