/* Inline caches: where a step found its last value, in the objects that it reads.
 *
 * Dictionaries made by the same code, and instances of one class, have the same keys at the same
 * indexes. A cached index is a guess, checked before each use: the key must be there, and the version
 * of the class must be the one that the cache was filled for. Otherwise the value is looked up.
 */
#ifndef ALTHAIA_INLINE_CACHE_H
#define ALTHAIA_INLINE_CACHE_H

#include <Python.h>
#include <structmember.h>

#include "althaia/cpython/attributes.h"
#include "althaia/cpython/layout.h"
#include "althaia/cpython/features.h"

/* The index of an entry and the key there, owned; or the offset of a slot, negated; the version of the
 * instance's class, 0 where only dictionaries are read; and how often in a row the guess was wrong. */
typedef struct {
    PyObject *key;
    Py_ssize_t at;
    unsigned int tag;
    unsigned int misses;
} althaia_inline_cache;

static inline void
althaia_init_cache(althaia_inline_cache *cache)
{
    cache->key = NULL;
    cache->at = -1;
    cache->tag = 0;
    cache->misses = 0;
}

static inline void
althaia_clear_cache(althaia_inline_cache *cache)
{
    Py_CLEAR(cache->key);
}

#if ALTHAIA_KNOWS_ENTRIES

/* 1 where a cache that missed is worth filling again: the first eight times, then one time in 32, for
 * objects that are never alike. */
static inline int
althaia_learns(althaia_inline_cache *cache)
{
    unsigned int misses = cache->misses++;
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
althaia_learn_key(althaia_inline_cache *cache, althaia_keys *keys, PyObject *name)
{
    Py_ssize_t at = keys != NULL && PyUnicode_CheckExact(name) ? althaia_find_key(keys, name) : -1;
    cache->at = at;
    Py_XSETREF(cache->key, at < 0 ? NULL : Py_NewRef(althaia_entries(keys)[at].key));
    return at >= 0;
}

/* Find out where an instance has the attribute. */
static void
althaia_learn_attribute(althaia_inline_cache *cache, PyObject *obj, PyObject *name)
{
    PyTypeObject *type = (PyTypeObject *)Py_NewRef(Py_TYPE(obj));
    unsigned int tag = althaia_type_tag((PyObject *)type);
    PyObject *found = althaia_type_lookup((PyObject *)type, name);
    Py_ssize_t offset = althaia_slot_offset(type, found);
    /* A class may have names that are not plain text; their comparison may have changed it. */
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

/* Find out where the object has the key. */
static void
althaia_fill_cache(althaia_inline_cache *cache, PyObject *obj, PyObject *key)
{
    cache->at = -1;
    cache->tag = 0;
    if (!(althaia_features & ALTHAIA_ENTRIES)) {
        return;
    }
    if (PyDict_CheckExact(obj)) {
        althaia_learn_key(cache, althaia_keys_of(obj), key);
    }
    else if (althaia_features & ALTHAIA_TYPE_TAGS) {
        althaia_learn_attribute(cache, obj, key);
    }
}

/* The value where it was found last, borrowed; NULL where it is not there. */
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

/* The same for an exact dictionary. */
#define althaia_item_at(cache, dict) althaia_value_at(dict, (cache)->key, (cache)->at)

/* 1 where steps may cache the attributes of the class's instances. */
static int
althaia_has_inline_caches(PyObject *cls)
{
    return althaia_features & ALTHAIA_ENTRIES && althaia_keeps_attributes((PyTypeObject *)cls);
}

/* What an instance of such a class keeps under a name, whatever the class has: a new reference; NULL
 * without an error where it is not found, or the dictionary is none of Python's own. */
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
        /* Of no use where the class is not known to stand aside. */
        cache->tag = 0;
        althaia_learn_key(cache, althaia_keys_of_instance(obj), name);
        value = althaia_attribute_at(obj, cache->key, cache->at);
    }
    return Py_XNewRef(value);
}

/* The same as althaia_get_value(), which is called where the cache misses. */
static PyObject *
althaia_get_cached(PyObject *obj, PyObject *key, PyObject *missing, althaia_inline_cache *cache)
{
    PyObject *value = althaia_cached_value(cache, obj);
    if (value != NULL) {
        cache->misses = 0;
        return Py_NewRef(value);
    }
    value = althaia_get_value(obj, key, missing);
    if (value != NULL && value != missing && althaia_learns(cache)) {
        althaia_fill_cache(cache, obj, key);
    }
    return value;
}

/* The same as althaia_dict_item() for an exact dictionary. */
static PyObject *
althaia_cached_item(PyObject *dict, PyObject *key, PyObject *absent, althaia_inline_cache *cache)
{
    PyObject *value = althaia_item_at(cache, dict);
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

/* Without the GIL a cache is never written, because all threads share it: nothing is guessed. */
#define althaia_fill_cache(cache, obj, key) ((void)(cache))
#define althaia_cached_value(cache, obj) ((PyObject *)NULL)
#define althaia_item_at(cache, dict) ((PyObject *)NULL)
#define althaia_has_inline_caches(cls) 0
#define althaia_cached_entry(obj, name, cache) ((void)(cache), (PyObject *)NULL)
#define althaia_get_cached(obj, key, missing, cache) althaia_get_value(obj, key, missing)
#define althaia_cached_item(dict, key, absent, cache) althaia_dict_item(dict, key, absent)

#endif

#endif
