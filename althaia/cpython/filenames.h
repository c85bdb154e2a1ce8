/* Makes the file names in tracebacks and code objects absolute, as those of an installed library.
 *
 * Cython writes the names relative to the root of the project, so that a binary contains no path of
 * the build machine. The installed path is known only when a module is loaded. Tools that tell an
 * application's frames from a library's compare absolute names.
 */
#ifndef ALTHAIA_FILENAMES_H
#define ALTHAIA_FILENAMES_H

#include <Python.h>
#include <osdefs.h>
#include <string.h>

#define ALTHAIA_IS_SEPARATOR(c) ((c) == '/' || (c) == SEP)

/* Return the length of the part of an extension module's file name that precedes the relative name,
 * including the last separator; 0 if the two names do not match. */
static size_t
althaia_root_length(const char *file, const char *relative)
{
    size_t length = strlen(file);
    for (;;) {
        while (length > 0 && !ALTHAIA_IS_SEPARATOR(file[length - 1])) {
            length--;
        }
        relative = strchr(relative, '/');
        if (relative == NULL || length == 0) {
            return length;
        }
        relative++;
        length--;
    }
}

/* Prefix all names that begin with the same folder as the first one. The new strings are never
 * freed, because code objects may live until the process ends. A module without a file keeps its
 * names. `constants` are the addresses of the module's str objects for names, NULL at the end.
 * Return 0, or -1 on error. */
static int
althaia_name_files(PyObject *namespace, const char **names, size_t count, PyObject ***constants)
{
    PyObject *file, *encoded, *prefix, *named;
    const char *first = names[0];
    size_t root, own, i;
    char *text;
    file = PyDict_GetItemString(namespace, "__file__");
    if (file == NULL || !PyUnicode_Check(file)) {
        return 0;
    }
    encoded = PyUnicode_EncodeFSDefault(file);
    if (encoded == NULL) {
        return -1;
    }
    root = althaia_root_length(PyBytes_AS_STRING(encoded), first);
    own = (size_t)(strchr(first, '/') - first) + 1;
    for (i = 0; root > 0 && i < count; i++) {
        if (strncmp(names[i], first, own) != 0) {
            continue;
        }
        text = PyMem_Malloc(root + strlen(names[i]) + 1);
        if (text == NULL) {
            Py_DECREF(encoded);
            PyErr_NoMemory();
            return -1;
        }
        memcpy(text, PyBytes_AS_STRING(encoded), root);
        strcpy(text + root, names[i]);
        names[i] = text;
    }
    prefix = PyUnicode_DecodeFSDefaultAndSize(PyBytes_AS_STRING(encoded), (Py_ssize_t)root);
    Py_DECREF(encoded);
    for (; prefix != NULL && *constants != NULL; constants++) {
        named = PyUnicode_Concat(prefix, **constants);
        if (named == NULL) {
            Py_CLEAR(prefix);
            break;
        }
        Py_SETREF(**constants, named);
    }
    Py_XDECREF(prefix);
    return prefix == NULL ? -1 : 0;
}

#endif
