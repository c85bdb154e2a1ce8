/* Memory that one call leaves to the next, so that later calls take no new pages from the operating
 * system. A thread takes it; another one that comes meanwhile allocates its own, and what is given
 * back last is kept.
 *
 * Everything is static: a place belongs to the extension module that takes from it. */
#ifndef ALTHAIA_SPARE_H
#define ALTHAIA_SPARE_H

#include <Python.h>

#include "althaia/cpython/layout.h"

/* No more bytes than these are kept in one place. */
#define ALTHAIA_MOST_SPARE ((Py_ssize_t)1 << 20)

/* Take the memory from a place and store its size in bytes; NULL and 0 if there is none. */
static inline void *
althaia_take_spare(void **place, Py_ssize_t *size)
{
    void *memory = althaia_exchange_pointer(place, NULL);
    *size = memory == NULL ? 0 : *(Py_ssize_t *)memory;
    return memory;
}

/* Give back memory from PyMem_Malloc(), of at least as many bytes as a size has, or NULL. */
static inline void
althaia_keep_spare(void **place, void *memory, Py_ssize_t size)
{
    if (memory != NULL && size <= ALTHAIA_MOST_SPARE) {
        *(Py_ssize_t *)memory = size;
        memory = althaia_exchange_pointer(place, memory);
    }
    PyMem_Free(memory);
}

#endif
