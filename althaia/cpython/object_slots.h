/* What object readers need from types and objects: values of descriptors, entries of an instance
 * dictionary. */
#ifndef ALTHAIA_OBJECT_SLOTS_H
#define ALTHAIA_OBJECT_SLOTS_H

#include <Python.h>

#include "althaia/cpython/attributes.h"
#include "althaia/cpython/layout.h"

/* Return the value of a getset or member descriptor for an object, as a new reference. */
static PyObject *
althaia_described(PyObject *descriptor, PyObject *obj)
{
    return Py_TYPE(descriptor)->tp_descr_get(descriptor, obj, (PyObject *)Py_TYPE(obj));
}

/* Return an entry of the instance dictionary as a new reference; NULL without an error if there is
 * none, or if the dictionary is a dict subclass. */
static PyObject *
althaia_instance_entry(PyObject *obj, PyObject *name)
{
    PyObject *value = NULL, *dict = althaia_instance_dict(obj);
    if (dict != NULL && PyDict_CheckExact(dict)) {
        althaia_dict_get(dict, name, &value);
    }
    Py_XDECREF(dict);
    return value;
}

/* ---- Types that no reader reads ---------------------------------------------------- */

/* A small hash table of type versions. A type version is unique and is dropped when the type
 * changes, so that an entry needs no reference to the type and never becomes wrong. */
#define ALTHAIA_PLAIN_TYPES 64
static unsigned int althaia_plain_types[ALTHAIA_PLAIN_TYPES];

static inline int
althaia_is_plain(PyObject *obj)
{
    unsigned int tag = ALTHAIA_TYPE_TAG(Py_TYPE(obj));
    return tag != 0 && althaia_read(&althaia_plain_types[tag % ALTHAIA_PLAIN_TYPES]) == tag;
}

static inline void
althaia_remember_plain(unsigned int tag)
{
    althaia_write(&althaia_plain_types[tag % ALTHAIA_PLAIN_TYPES], tag);
}

#endif
