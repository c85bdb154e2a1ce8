/* Where the values of a field lie in the objects that it is read from.
 *
 * Dictionaries made by the same code, and instances of one class, have the same keys at the same
 * places. A place is a guess: that the key is there is checked before each use, and that nothing of
 * the class stands before it by the class's version. What is not found so is asked for as ever.
 */
#ifndef ALTHAIA_PLACES_H
#define ALTHAIA_PLACES_H

#include <Python.h>
#include <structmember.h>

#include "althaia/cpython/attributes.h"
#include "althaia/cpython/layout.h"
#include "althaia/cpython/features.h"

/* The place of an entry, and the key there, owned; or the place of a slot as a negative offset; the
 * version of the instance's class, 0 where only dictionaries are read; and how often in a row the
 * guess was wrong. */
typedef struct {
    PyObject *key;
    Py_ssize_t at;
    unsigned int tag;
    unsigned int misses;
} althaia_place;

static inline void
althaia_open_place(althaia_place *place)
{
    place->key = NULL;
    place->at = -1;
    place->tag = 0;
    place->misses = 0;
}

static inline void
althaia_close_place(althaia_place *place)
{
    Py_CLEAR(place->key);
}

#if ALTHAIA_KNOWS_ENTRIES

/* 1 where the place of a value that was not where it was guessed is worth finding out: the first few
 * times, and then now and again, for objects that are never alike. */
static inline int
althaia_learns(althaia_place *place)
{
    unsigned int misses = place->misses++;
    return misses < 8 || misses % 32 == 0;
}

/* 1 where what the class has under a name gives way to what the instance has, and always will: the
 * types of Python's own values get no __set__, and such a value gets no other type but a module. */
static int
althaia_gives_way(PyObject *found)
{
    return Py_TYPE(found)->tp_descr_set == NULL && !PyModule_Check(found)
        && !PyType_HasFeature(Py_TYPE(found), Py_TPFLAGS_HEAPTYPE);
}

/* The offset of the slot that a class attribute describes, 0 where it describes none. */
static Py_ssize_t
althaia_slot_offset(PyTypeObject *type, PyObject *found)
{
    PyMemberDescrObject *descriptor = (PyMemberDescrObject *)found;
    if (!Py_IS_TYPE(found, &PyMemberDescr_Type)
        || !PyType_IsSubtype(type, descriptor->d_common.d_type)
        || descriptor->d_member->type != T_OBJECT_EX
        || (descriptor->d_member->flags & ~READONLY) != 0) {
        return 0;
    }
    return descriptor->d_member->offset;
}

/* Find out where a name is among keys, as another text it may be: a parser or a database's driver
 * makes texts of its own, the same for all records of a document or a result. */
static int
althaia_learn_key(althaia_place *place, althaia_keys *keys, PyObject *name)
{
    Py_ssize_t at = keys != NULL && PyUnicode_CheckExact(name) ? althaia_find_key(keys, name) : -1;
    place->at = at;
    Py_XSETREF(place->key, at < 0 ? NULL : Py_NewRef(althaia_entries(keys)[at].key));
    return at >= 0;
}

/* Find out where an instance has the attribute. */
static void
althaia_learn_attribute(althaia_place *place, PyObject *obj, PyObject *name)
{
    PyTypeObject *type = (PyTypeObject *)Py_NewRef(Py_TYPE(obj));
    unsigned int tag = althaia_type_tag((PyObject *)type);
    PyObject *found = althaia_type_lookup((PyObject *)type, name);
    Py_ssize_t offset = althaia_slot_offset(type, found);
    /* A class may have names that are not plain text; their comparison may have changed it. */
    if (tag == ALTHAIA_TYPE_TAG(type) && Py_IS_TYPE(obj, type) && althaia_has_no_items(type)) {
        if (offset > 0) {
            place->at = -offset;
            place->tag = tag;
        }
        else if (althaia_gives_way(found) && althaia_keeps_attributes(type)) {
            int is_there = althaia_learn_key(place, althaia_keys_of_instance(obj), name);
            place->tag = is_there ? tag : 0;
        }
    }
    Py_DECREF(found);
    Py_DECREF(type);
}

/* Find out where the object has the key. */
static void
althaia_learn_place(althaia_place *place, PyObject *obj, PyObject *key)
{
    place->at = -1;
    place->tag = 0;
    if (!(althaia_facts & ALTHAIA_ENTRIES)) {
        return;
    }
    if (PyDict_CheckExact(obj)) {
        althaia_learn_key(place, althaia_keys_of(obj), key);
    }
    else if (althaia_facts & ALTHAIA_TYPE_TAGS) {
        althaia_learn_attribute(place, obj, key);
    }
}

/* The value where it was found last, borrowed; NULL where it is not there. */
static inline PyObject *
althaia_placed(const althaia_place *place, PyObject *obj)
{
    PyTypeObject *type = Py_TYPE(obj);
    if (type == &PyDict_Type) {
        return althaia_value_at(obj, place->key, place->at);
    }
    if (place->tag == 0 || place->tag != ALTHAIA_TYPE_TAG(type)) {
        return NULL;
    }
    return place->at < 0 ? *(PyObject **)((char *)obj - place->at)
                         : althaia_attribute_at(obj, place->key, place->at);
}

/* The same for an exact dictionary. */
#define althaia_item_at(place, dict) althaia_value_at(dict, (place)->key, (place)->at)

/* 1 where the attributes of the class's instances may be looked for at places. */
static int
althaia_has_places(PyObject *cls)
{
    return althaia_facts & ALTHAIA_ENTRIES && althaia_keeps_attributes((PyTypeObject *)cls);
}

/* What an instance of such a class keeps under a name, whatever the class has: a new reference; NULL
 * without an error where it is not found, or the dictionary is none of Python's own. */
static PyObject *
althaia_entry_placed(PyObject *obj, PyObject *name, althaia_place *place)
{
    PyObject *value, *dict;
    if (althaia_instance_values(obj, &dict) == NULL
        && (dict == NULL || !PyDict_CheckExact(dict))) {
        return NULL;
    }
    value = althaia_attribute_at(obj, place->key, place->at);
    if (value != NULL) {
        place->misses = 0;
    }
    else if (althaia_learns(place)) {
        /* Of no use where the class is not known to stand aside. */
        place->tag = 0;
        althaia_learn_key(place, althaia_keys_of_instance(obj), name);
        value = althaia_attribute_at(obj, place->key, place->at);
    }
    return Py_XNewRef(value);
}

/* The same as althaia_get_value(), which is asked where the place was guessed wrong. */
static PyObject *
althaia_get_placed(PyObject *obj, PyObject *key, PyObject *missing, althaia_place *place)
{
    PyObject *value = althaia_placed(place, obj);
    if (value != NULL) {
        place->misses = 0;
        return Py_NewRef(value);
    }
    value = althaia_get_value(obj, key, missing);
    if (value != NULL && value != missing && althaia_learns(place)) {
        althaia_learn_place(place, obj, key);
    }
    return value;
}

/* The same as althaia_dict_item() for an exact dictionary. */
static PyObject *
althaia_item_placed(PyObject *dict, PyObject *key, PyObject *absent, althaia_place *place)
{
    PyObject *value = althaia_item_at(place, dict);
    if (value != NULL) {
        place->misses = 0;
        return Py_NewRef(value);
    }
    value = althaia_dict_item(dict, key, absent);
    if (value != NULL && value != absent && althaia_learns(place)) {
        althaia_learn_place(place, dict, key);
    }
    return value;
}

#else

/* Nothing is guessed, and a place is never written: without the GIL all threads have the same. */
#define althaia_learn_place(place, obj, key) ((void)(place))
#define althaia_placed(place, obj) ((PyObject *)NULL)
#define althaia_item_at(place, dict) ((PyObject *)NULL)
#define althaia_has_places(cls) 0
#define althaia_entry_placed(obj, name, place) ((void)(place), (PyObject *)NULL)
#define althaia_get_placed(obj, key, missing, place) althaia_get_value(obj, key, missing)
#define althaia_item_placed(dict, key, absent, place) althaia_dict_item(dict, key, absent)

#endif

#endif
