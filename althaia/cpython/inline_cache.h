/* Inline caches: a step remembers at which index it found its last value.
 *
 * Dictionaries made by the same code, and instances of one class, have the same keys at the same
 * indexes. A cached index is a guess and is checked before each use: the key must be at that index,
 * and the class must have the type version for which the cache was filled. Otherwise the value is
 * looked up.
 */
#ifndef ALTHAIA_INLINE_CACHE_H
#define ALTHAIA_INLINE_CACHE_H

#include <Python.h>
#include <structmember.h>

#include "althaia/cpython/attributes.h"
#include "althaia/cpython/layout.h"

typedef struct {
    /* The key at that index; an owned reference, NULL before there is one. */
    PyObject *key;
    /* The index of the entry; for a slot, its negated offset. */
    Py_ssize_t at;
    /* The type version of the instance's class; 0 if the cache was filled from a dictionary. */
    unsigned int tag;
    /* How many times in a row the guess was wrong. */
    unsigned int misses;
} althaia_inline_cache;

static inline void
althaia_clear_cache(althaia_inline_cache *cache)
{
    Py_CLEAR(cache->key);
}

#if ALTHAIA_KNOWS_ENTRIES

/* Return 1 if a cache that has missed should be filled again: for the first eight misses, then for
 * one in 32. Filling costs time and is wasted if each object has another layout. */
static inline int
althaia_learns(althaia_inline_cache *cache)
{
    unsigned int misses = cache->misses++;
    return misses < 8 || misses % 32 == 0;
}

/* Return 1 if the class attribute is no data descriptor and cannot become one, so that the
 * instance's value takes precedence. Static types never get a __set__. The type of their instances
 * never changes, except that of modules, whose __class__ can be assigned. */
static int
althaia_gives_way(PyObject *found)
{
    return Py_TYPE(found)->tp_descr_set == NULL && !PyModule_Check(found)
        && !PyType_HasFeature(Py_TYPE(found), Py_TPFLAGS_HEAPTYPE);
}

/* Return the offset of the slot that a member descriptor describes; 0 for anything else. */
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

/* Find the index of a name among dict keys and store it, with the key found there. The key may be
 * another str object of the same text: a parser or a database driver creates its own, and uses it
 * for all records of a document or a result. */
static int
althaia_learn_key(althaia_inline_cache *cache, althaia_keys *keys, PyObject *name)
{
    Py_ssize_t at = keys != NULL && PyUnicode_CheckExact(name) ? althaia_find_key(keys, name) : -1;
    cache->at = at;
    Py_XSETREF(cache->key, at < 0 ? NULL : Py_NewRef(althaia_entries(keys)[at].key));
    return at >= 0;
}

/* Find where an instance stores the attribute: in a slot, or at an index of its values. */
static void
althaia_learn_attribute(althaia_inline_cache *cache, PyObject *obj, PyObject *name)
{
    PyTypeObject *type = (PyTypeObject *)Py_NewRef(Py_TYPE(obj));
    unsigned int tag = althaia_type_tag((PyObject *)type);
    PyObject *found = althaia_type_lookup((PyObject *)type, name);
    Py_ssize_t offset = althaia_slot_offset(type, found);
    /* Check the type version again: the keys of a class's dictionary may be of a str subclass, and
     * its __eq__, which the look-up called, may have changed the class. */
    if (tag == ALTHAIA_TYPE_TAG(type) && Py_IS_TYPE(obj, type) && althaia_has_no_items(type)) {
        if (offset > 0) {
            cache->at = -offset;
            cache->tag = tag;
        }
        else if (althaia_gives_way(found) && althaia_keeps_attributes(type)) {
            int is_there = althaia_learn_key(cache, althaia_keys_of_instance(obj), name);
            cache->tag = is_there ? tag : 0;
        }
    }
    Py_DECREF(found);
    Py_DECREF(type);
}

/* Fill the cache with the index at which the object has the key. */
static void
althaia_fill_cache(althaia_inline_cache *cache, PyObject *obj, PyObject *key)
{
    cache->at = -1;
    cache->tag = 0;
    if (PyDict_CheckExact(obj)) {
        althaia_learn_key(cache, althaia_keys_of(obj), key);
    }
    else {
        althaia_learn_attribute(cache, obj, key);
    }
}

/* Return the value at the cached index as a borrowed reference; NULL if the guess is wrong. */
static inline PyObject *
althaia_cached_value(const althaia_inline_cache *cache, PyObject *obj)
{
    PyTypeObject *type = Py_TYPE(obj);
    if (type == &PyDict_Type) {
        return althaia_value_at(obj, cache->key, cache->at);
    }
    if (cache->tag == 0 || cache->tag != ALTHAIA_TYPE_TAG(type)) {
        return NULL;
    }
    return cache->at < 0 ? *(PyObject **)((char *)obj - cache->at)
                         : althaia_attribute_at(obj, cache->key, cache->at);
}

/* Return 1 if inline caches work for the attributes of this class's instances. */
static int
althaia_has_inline_caches(PyObject *cls)
{
    return althaia_keeps_attributes((PyTypeObject *)cls);
}

/* Return the entry of the instance dictionary under a name, whatever attribute the class has, as a
 * new reference. Only for classes for which althaia_has_inline_caches() is 1. Return NULL without
 * an error if there is no such entry, or if the dictionary is a dict subclass. */
static PyObject *
althaia_cached_entry(PyObject *obj, PyObject *name, althaia_inline_cache *cache)
{
    PyObject *value, *dict;
    if (althaia_instance_values(obj, &dict) == NULL
        && (dict == NULL || !PyDict_CheckExact(dict))) {
        return NULL;
    }
    value = althaia_attribute_at(obj, cache->key, cache->at);
    if (value != NULL) {
        cache->misses = 0;
    }
    else if (althaia_learns(cache)) {
        /* Nothing is known about the class attribute of this name, which may be a data
         * descriptor: althaia_cached_value() must not use this index. */
        cache->tag = 0;
        althaia_learn_key(cache, althaia_keys_of_instance(obj), name);
        value = althaia_attribute_at(obj, cache->key, cache->at);
    }
    return Py_XNewRef(value);
}

/* Return what althaia_get_value() returns, and fill the cache, which has missed. */
static PyObject *
althaia_look_up(PyObject *obj, PyObject *key, PyObject *missing, althaia_inline_cache *cache)
{
    PyObject *value = althaia_get_value(obj, key, missing);
    if (value != NULL && value != missing && althaia_learns(cache)) {
        althaia_fill_cache(cache, obj, key);
    }
    return value;
}

/* Return what althaia_dict_item() returns for an exact dict; that is called only if the cache
 * misses. */
static PyObject *
althaia_cached_item(PyObject *dict, PyObject *key, PyObject *absent, althaia_inline_cache *cache)
{
    PyObject *value = althaia_value_at(dict, cache->key, cache->at);
    if (value != NULL) {
        cache->misses = 0;
        return Py_NewRef(value);
    }
    value = althaia_dict_item(dict, key, absent);
    if (value != NULL && value != absent && althaia_learns(cache)) {
        althaia_fill_cache(cache, dict, key);
    }
    return value;
}

#else

/* Free-threaded builds have no inline caches, because all threads would write to the same one. */
#define althaia_cached_value(cache, obj) ((PyObject *)NULL)
#define althaia_has_inline_caches(cls) 0
#define althaia_cached_entry(obj, name, cache) ((void)(cache), (PyObject *)NULL)
#define althaia_look_up(obj, key, missing, cache) althaia_get_value(obj, key, missing)
#define althaia_cached_item(dict, key, absent, cache) althaia_dict_item(dict, key, absent)

#endif

#endif
