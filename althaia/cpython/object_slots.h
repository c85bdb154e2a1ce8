/* What object readers need from types and objects: slots by their offset, values of descriptors,
 * entries of an instance dictionary. */
#ifndef ALTHAIA_OBJECT_SLOTS_H
#define ALTHAIA_OBJECT_SLOTS_H

#include <Python.h>
#include <structmember.h>

#include "althaia/cpython/attributes.h"
#include "althaia/cpython/layout.h"

/* Return the offset of a slot that holds an object; 0 if this is no member descriptor of one. */
static Py_ssize_t
althaia_slot_place(PyObject *descriptor)
{
    PyMemberDef *member;
    if (!Py_IS_TYPE(descriptor, &PyMemberDescr_Type)) {
        return 0;
    }
    member = ((PyMemberDescrObject *)descriptor)->d_member;
    return member->type == T_OBJECT_EX ? member->offset : 0;
}

/* Return the value of a slot as a new reference; NULL without an error if it is empty. The critical
 * section is needed because CPython sets a slot while it holds the object's lock. */
static PyObject *
althaia_slot(PyObject *obj, Py_ssize_t place)
{
    PyObject *value;
    ALTHAIA_BEGIN_CRITICAL(obj);
    value = Py_XNewRef(*(PyObject **)((char *)obj + place));
    ALTHAIA_END_CRITICAL();
    return value;
}

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

/* Return 1 if attributes are read by object.__getattribute__, `__dict__` is the instance
 * dictionary, and `obj[name]` raises TypeError without running user code. */
static int
althaia_reads_plainly(PyObject *cls)
{
    static PyObject *kept = NULL;
    PyTypeObject *type = (PyTypeObject *)cls;
    PyObject *dict, *dict_name;
    int plain;
    if (!althaia_has_no_items(type)) {
        return 0;
    }
    if ((dict_name = althaia_interned(&kept, "__dict__")) == NULL) {
        PyErr_Clear();
        return 0;
    }
    dict = althaia_type_lookup(cls, dict_name);
    plain = Py_IS_TYPE(dict, &PyGetSetDescr_Type);
    Py_DECREF(dict);
    return plain;
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
    return tag != 0 && althaia_read_tag(&althaia_plain_types[tag % ALTHAIA_PLAIN_TYPES]) == tag;
}

static inline void
althaia_remember_plain(unsigned int tag)
{
    althaia_write_tag(&althaia_plain_types[tag % ALTHAIA_PLAIN_TYPES], tag);
}

#endif
