/* The file names that tracebacks and code objects show, as an installed library's are: absolute.
 *
 * Cython writes them as the build gave them, relative to the root of the project, so that no path
 * of the build machine is in a binary. Where the package is installed is known when a module is
 * loaded. Tools that tell an application's frames from a library's go by these names.
 */
#ifndef ALTHAIA_FILENAMES_H
#define ALTHAIA_FILENAMES_H

#include <Python.h>
#include <osdefs.h>
#include <string.h>

#define ALTHAIA_IS_SEPARATOR(c) ((c) == '/' || (c) == SEP)

/* How much of the file of an extension module is the folder that the relative name starts from,
 * its last separator included; 0 if the two do not fit together. */
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

/* Prefixes what begins as the first name does. The texts stay for the life of the process, as
 * code objects may. A module without a file keeps its names.
 * constant: where the module keeps the first name as an object, or NULL. Returns -1 on error. */
static int
althaia_name_files(PyObject *namespace, const char **names, size_t count, PyObject **constant)
{
    PyObject *file, *encoded, *named;
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
    Py_DECREF(encoded);
    if (constant != NULL && root > 0) {
        named = PyUnicode_DecodeFSDefault(names[0]);
        if (named == NULL) {
            return -1;
        }
        Py_SETREF(*constant, named);
    }
    return 0;
}

#endif
