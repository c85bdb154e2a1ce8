/* Everything that depends on CPython's internal structures.
 *
 * Each macro states one feature of the version that this is compiled for. A macro ALTHAIA_KNOWS_* is
 * 1 only for versions in whose own headers and code the feature was read: 0x03100000, the bound of
 * four of them, is CPython 3.16. Where it is 0, the public C API alone is used. The tests of each
 * version show that what is known there holds (tests/plans/test_guards.py).
 *
 * The shims below are our own: pythoncapi_compat is on no package index, and a copy of it would
 * be a copy of somebody else's source.
 */
#ifndef ALTHAIA_LAYOUT_H
#define ALTHAIA_LAYOUT_H

#include <Python.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- Features at compile time -------------------------------------------------------- */

/* There is a GIL: only one thread at a time runs Python code. */
#if defined(Py_GIL_DISABLED)
#define ALTHAIA_HAS_GIL 0
#else
#define ALTHAIA_HAS_GIL 1
#endif

/* There are inline values: an instance contains its values, behind its object header. The values of
 * a split-table dictionary then begin with four bytes: capacity, size, embedded, valid. They end
 * with one byte per value: the insertion order. */
#define ALTHAIA_KNOWS_INLINE_VALUES \
    (PY_VERSION_HEX >= 0x030D0000 && PY_VERSION_HEX < 0x03100000)

/* The layout of dict keys is known, and where an instance has its values, inline or not. The
 * interpreter's own specialised instructions use the same layout. There are split-table dictionaries
 * (PEP 412): they share their keys, and `ma_values` points to their values, in the order of the keys.
 * Writing there requires the GIL. */
#define ALTHAIA_KNOWS_ENTRIES (PY_VERSION_HEX < 0x03100000 && ALTHAIA_HAS_GIL)

/* Each dictionary has a version, which changes with the dictionary and is unique in the process. */
#define ALTHAIA_KNOWS_DICT_VERSIONS (PY_VERSION_HEX < 0x030E0000)

/* There are dict watchers (PyDict_Watch), which see changes of inline values too once the instance
 * has a dictionary. While it has none, specialised instructions set inline values without calling a
 * watcher. They exist before 3.14 as well, but are not needed where dictionaries have versions. */
#define ALTHAIA_KNOWS_DICT_WATCHERS \
    (PY_VERSION_HEX >= 0x030E0000 && PY_VERSION_HEX < 0x03100000 && ALTHAIA_HAS_GIL)

/* What the GC tracks is in doubly linked lists, whose links stand before each object. The
 * incremental GC of the first releases of 3.14 also marks objects there: see althaia_knows_gc(). */
#define ALTHAIA_KNOWS_GC_LISTS (PY_VERSION_HEX < 0x03100000 && ALTHAIA_HAS_GIL)

/* `PyThreadState.cframe->use_tracing` says whether a debugger or profiler sees this thread's calls.
 * From 3.12 on sys.monitoring (PEP 669) can see them without it. */
#define ALTHAIA_KNOWS_TRACING (PY_VERSION_HEX < 0x030C0000)

/* ---- The GC's lists ----------------------------------------------------------------- */

/* As PyGC_Head. `next` is 0 in an object that is not tracked. The two lowest bits of `previous` are
 * flags of the object. */
typedef struct {
    uintptr_t next;
    uintptr_t previous;
} althaia_gc_head;

/* Return 1 if the running release's lists are known: 3.14.8 is the first of 3.14 that was read. */
static inline int
althaia_knows_gc(void)
{
    return ALTHAIA_KNOWS_GC_LISTS && (PY_VERSION_HEX < 0x030E0000 || Py_Version >= 0x030E0800);
}

#if ALTHAIA_KNOWS_GC_LISTS
static inline althaia_gc_head *
althaia_gc_head_of(PyObject *obj)
{
    return (althaia_gc_head *)obj - 1;
}

static inline althaia_gc_head *
althaia_gc_previous(althaia_gc_head *head)
{
    return (althaia_gc_head *)(head->previous & ~(uintptr_t)3);
}

/* Let `next` follow `head`. */
static inline void
althaia_gc_link(althaia_gc_head *head, althaia_gc_head *next)
{
    head->next = (uintptr_t)next;
    next->previous = (next->previous & 3) | (uintptr_t)head;
}

#define althaia_is_tracked(obj) (althaia_gc_head_of(obj)->next != 0)
#else
#define althaia_is_tracked(obj) PyObject_GC_IsTracked(obj)
#endif

/* ---- Shims ------------------------------------------------------------------------ */

#if PY_VERSION_HEX < 0x030D0000
#define althaia_optional_attr _PyObject_LookupAttr
#define althaia_put_dict(obj, name, dict) PyObject_GenericSetDict(obj, dict, NULL)
#define ALTHAIA_BEGIN_CRITICAL(op) {
#define ALTHAIA_END_CRITICAL() }
#else
#define althaia_optional_attr PyObject_GetOptionalAttr
/* PyObject_GenericSetDict() would leave the inline values valid beside the new dictionary. */
#define althaia_put_dict(obj, name, dict) PyObject_GenericSetAttr(obj, name, dict)
#define ALTHAIA_BEGIN_CRITICAL(op) Py_BEGIN_CRITICAL_SECTION(op)
#define ALTHAIA_END_CRITICAL() Py_END_CRITICAL_SECTION()
#endif

/* Return 1 and a new reference, 0 and NULL if there is no such key, -1 and NULL on error. */
static inline int
althaia_dict_get(PyObject *dict, PyObject *key, PyObject **value)
{
#if PY_VERSION_HEX < 0x030D0000
    *value = Py_XNewRef(PyDict_GetItemWithError(dict, key));
    return *value != NULL ? 1 : PyErr_Occurred() ? -1 : 0;
#else
    return PyDict_GetItemRef(dict, key, value);
#endif
}

/* Return the value of a key, or `absent` if there is none, as a new reference; NULL on error. */
static inline PyObject *
althaia_dict_item(PyObject *dict, PyObject *key, PyObject *absent)
{
    PyObject *value;
    int found = althaia_dict_get(dict, key, &value);
    return found > 0 ? value : found < 0 ? NULL : Py_NewRef(absent);
}

/* Access to fields that another thread may write at the same time. With the GIL these are plain
 * reads and writes, which MSVC never divides. */
#if ALTHAIA_HAS_GIL || defined(_MSC_VER)
#define althaia_read(place) (*(place))
#define althaia_write(place, value) (*(place) = (value))
#else
#define althaia_read(place) __atomic_load_n(place, __ATOMIC_RELAXED)
#define althaia_write(place, value) __atomic_store_n(place, value, __ATOMIC_RELAXED)
#endif

/* Store a pointer and return the one before. */
static inline void *
althaia_exchange_pointer(void **place, void *pointer)
{
#if ALTHAIA_HAS_GIL
    void *before = *place;
    *place = pointer;
    return before;
#else
    return _Py_atomic_exchange_ptr(place, pointer);
#endif
}

/* Add to a counter. The addition is atomic, so that none is lost. */
static inline void
althaia_count(int64_t *counter, int64_t more)
{
#if ALTHAIA_HAS_GIL
    *counter += more;
#else
    _Py_atomic_add_int64(counter, more);
#endif
}

/* ---- Types ------------------------------------------------------------------------ */

/* Replace the tp_alloc of a class, if it is CPython's own. */
static inline void
althaia_allocate_by(PyObject *cls, PyObject *(*allocate)(PyObject *, Py_ssize_t))
{
    PyTypeObject *type = (PyTypeObject *)cls;
    if (type->tp_alloc == PyType_GenericAlloc) {
        type->tp_alloc = (allocfunc)(void (*)(void))allocate;
    }
}

/* Look an attribute up in a type and its bases, without binding descriptors and without calling the
 * metaclass. Return a new reference; to `otherwise` if there is no such attribute. */
static inline PyObject *
althaia_type_lookup_or(PyObject *type, PyObject *name, PyObject *otherwise)
{
#if PY_VERSION_HEX < 0x030D0000
    PyObject *found = Py_XNewRef(_PyType_Lookup((PyTypeObject *)type, name));
#else
    PyObject *found = _PyType_LookupRef((PyTypeObject *)type, name);
#endif
    return found != NULL ? found : Py_NewRef(otherwise);
}

/* Look an attribute up as althaia_type_lookup_or() does; return None if there is none. */
static inline PyObject *
althaia_type_lookup(PyObject *type, PyObject *name)
{
    return althaia_type_lookup_or(type, name, Py_None);
}

#define ALTHAIA_TYPE_TAG(type) althaia_read(&((PyTypeObject *)(type))->tp_version_tag)

/* Return the type version, which is unique in the process and which CPython resets whenever the
 * type or one of its bases changes. Assign one if the type has none; return 0 if CPython has no
 * versions left. */
static unsigned int
althaia_type_tag(PyObject *cls)
{
    PyTypeObject *type = (PyTypeObject *)cls;
    if (ALTHAIA_TYPE_TAG(type) == 0) {
#if PY_VERSION_HEX >= 0x030C0000
        PyUnstable_Type_AssignVersionTag(type);
#else
        PyObject *name = PyUnicode_InternFromString("__class__");
        if (name != NULL) {
            _PyType_Lookup(type, name);
            Py_DECREF(name);
        }
        PyErr_Clear();
#endif
    }
    return ALTHAIA_TYPE_TAG(type);
}

/* Let a subclass of dict that is written in Python read an item as dict does. CPython has given it a
 * slot that looks `__getitem__` up in each call. */
static inline void
althaia_read_as_dict(PyObject *cls)
{
    ((PyTypeObject *)cls)->tp_as_mapping->mp_subscript = PyDict_Type.tp_as_mapping->mp_subscript;
}

/* Return 1 if there is a weak reference to the object. */
static inline int
althaia_has_weak_references(PyObject *obj)
{
    return Py_TYPE(obj)->tp_weaklistoffset != 0 && *PyObject_GET_WEAKREFS_LISTPTR(obj) != NULL;
}

/* ---- Dictionaries ----------------------------------------------------------------- */

/* Return the instance dictionary as a new reference; NULL without an error if there is none. */
static inline PyObject *
althaia_instance_dict(PyObject *obj)
{
    PyObject *dict = PyObject_GenericGetDict(obj, NULL);
    if (dict == NULL) {
        PyErr_Clear();
    }
    return dict;
}

/* Return the instance dictionary as a new reference; None if there is none. */
static inline PyObject *
althaia_dict_or_none(PyObject *obj)
{
    PyObject *dict = althaia_instance_dict(obj);
    return dict != NULL ? dict : Py_NewRef(Py_None);
}

/* Return 1 if the object's instance dictionary can be replaced: `descriptor`, the `__dict__` of its
 * class, is the one that a class statement creates, and no base written in C has a dictionary of
 * its own. See subtype_setdict() in Objects/typeobject.c. */
static inline int
althaia_has_python_dict(PyObject *obj, PyObject *descriptor)
{
    PyTypeObject *type;
    if (!Py_IS_TYPE(descriptor, &PyGetSetDescr_Type)) {
        return 0;
    }
    /* From 3.15 on all classes share one `__dict__` descriptor, which belongs to `object`. */
    type = PyDescr_TYPE(descriptor);
    if (type != &PyBaseObject_Type
        && (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)
            || PyType_HasFeature(type, Py_TPFLAGS_IMMUTABLETYPE))) {
        return 0;
    }
    for (type = Py_TYPE(obj); type != NULL; type = type->tp_base) {
        if (type->tp_dictoffset != 0 && !PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) {
            return 0;
        }
    }
    return 1;
}

/* The values of a split-table dictionary: the n-th value belongs to the n-th key. */
typedef struct {
#if ALTHAIA_KNOWS_INLINE_VALUES
    uint8_t capacity;
    uint8_t size;
    uint8_t embedded;
    uint8_t valid;
#endif
    PyObject *values[1];
} althaia_values;

/* Return the values of a split-table dictionary; NULL for any other dictionary, whose values are in
 * the entries of its keys. */
static inline althaia_values *
althaia_values_of(PyObject *dict)
{
    return (althaia_values *)((PyDictObject *)dict)->ma_values;
}

/* Return 1 if this is a split-table dictionary and its n-th value is the n-th of `expected`. */
static int
althaia_lies_in_order(PyObject *dict, PyObject *expected)
{
#if ALTHAIA_KNOWS_ENTRIES
    Py_ssize_t size = PyTuple_GET_SIZE(expected);
    if (althaia_values_of(dict) == NULL || PyDict_GET_SIZE(dict) != size) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        if (althaia_values_of(dict)->values[i] != PyTuple_GET_ITEM(expected, i)) {
            return 0;
        }
    }
    return 1;
#else
    return 0;
#endif
}

/* Return the dict version; 0 if CPython has none, or if the dictionary's values are the inline
 * values of an instance, which change without changing the version. */
static inline uint64_t
althaia_dict_version(PyObject *dict)
{
#if ALTHAIA_KNOWS_DICT_VERSIONS
#if ALTHAIA_KNOWS_INLINE_VALUES
    if (althaia_values_of(dict) != NULL && althaia_values_of(dict)->embedded) {
        return 0;
    }
#endif
    _Py_COMP_DIAG_PUSH
    _Py_COMP_DIAG_IGNORE_DEPR_DECLS
    return althaia_read(&((PyDictObject *)dict)->ma_version_tag);
    _Py_COMP_DIAG_POP
#else
    return 0;
#endif
}

#if ALTHAIA_KNOWS_INLINE_VALUES

/* Return the inline values of an instance; NULL if its type has none. */
static inline althaia_values *
althaia_inline_values(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (!PyType_HasFeature(type, Py_TPFLAGS_INLINE_VALUES) || type->tp_itemsize != 0
        || type->tp_basicsize != sizeof(PyObject)) {
        return NULL;
    }
    return (althaia_values *)(object + 1);
}

/* Return the indexes of the values in insertion order. */
static inline const uint8_t *
althaia_inline_order(const althaia_values *values)
{
    return (const uint8_t *)&values->values[values->capacity];
}

#endif

#if ALTHAIA_KNOWS_ENTRIES

/* Dict keys (PyDictKeysObject), of one dictionary or shared by all instances of a class: a hash
 * table of 2 ** `bytes` bytes, followed by the entries in insertion order. */
typedef struct {
    Py_ssize_t references;
    uint8_t size;
    uint8_t bytes;
    uint8_t kind;
    uint32_t version;
    Py_ssize_t usable;
    Py_ssize_t used;
    char table[1];
} althaia_keys;

/* An entry of dict keys that are all str. The value is NULL if the entry was deleted, or if the
 * dictionary is a split-table dictionary. */
typedef struct {
    PyObject *key;
    PyObject *value;
} althaia_entry;

/* The kind of dict keys that are not all str: their entries begin with a hash. */
#define ALTHAIA_GENERAL_KEYS 0

static inline althaia_entry *
althaia_entries(althaia_keys *keys)
{
    return (althaia_entry *)&keys->table[(size_t)1 << keys->bytes];
}

/* Return 1 if this key object is the one at index `at`. */
static inline int
althaia_is_key_at(althaia_keys *keys, PyObject *key, Py_ssize_t at)
{
    return (size_t)at < (size_t)keys->used && keys->kind != ALTHAIA_GENERAL_KEYS
        && althaia_entries(keys)[at].key == key;
}

/* With more keys than this, a linear search takes longer than the look-ups that it saves. */
#define ALTHAIA_MOST_KEYS 512

/* Return the index of a str among dict keys that are all str. Return -1 if it is not found, or if
 * the keys are of another kind or too many. */
static Py_ssize_t
althaia_find_key(althaia_keys *keys, PyObject *text)
{
    if (keys->kind == ALTHAIA_GENERAL_KEYS) {
        return -1;
    }
    for (Py_ssize_t at = 0; at < keys->used && at < ALTHAIA_MOST_KEYS; at++) {
        PyObject *key = althaia_entries(keys)[at].key;
        if (key == text
            || (key != NULL && ((PyASCIIObject *)key)->hash == ((PyASCIIObject *)text)->hash
                && PyUnicode_Compare(key, text) == 0)) {
            return at;
        }
    }
    return -1;
}

static inline althaia_keys *
althaia_keys_of(PyObject *dict)
{
    return (althaia_keys *)((PyDictObject *)dict)->ma_keys;
}

/* Return the value at an index of a dictionary's keys, borrowed; NULL if there is none. */
static inline PyObject *
althaia_nth_value(PyObject *dict, althaia_keys *keys, Py_ssize_t at)
{
    if (at >= keys->used) {
        return NULL;
    }
    return althaia_values_of(dict) != NULL ? althaia_values_of(dict)->values[at]
                                           : althaia_entries(keys)[at].value;
}

/* Return the dict keys that instances of a heap type share. */
static inline althaia_keys *
althaia_shared_keys(PyTypeObject *type)
{
    return (althaia_keys *)((PyHeapTypeObject *)type)->ht_cached_keys;
}

/* Return 1 if the functions below can read the attributes of this class's instances: these have
 * values of their own, or an instance dictionary. */
static inline int
althaia_keeps_attributes(PyTypeObject *type)
{
    return PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) && type->tp_itemsize == 0
        && (type->tp_dictoffset > 0
            || (PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT)
                && althaia_shared_keys(type) != NULL));
}

/* Return the value of this key object as a borrowed reference if the dictionary has it at index
 * `at`; else NULL. */
static inline PyObject *
althaia_value_at(PyObject *dict, PyObject *key, Py_ssize_t at)
{
    althaia_keys *keys = althaia_keys_of(dict);
    return althaia_is_key_at(keys, key, at) ? althaia_nth_value(dict, keys, at) : NULL;
}

#if ALTHAIA_KNOWS_INLINE_VALUES

/* Return the address of an instance's pointer to its dictionary. The pointer is NULL while the
 * instance has none. Only for classes for which althaia_keeps_attributes() is 1. */
static inline PyObject **
althaia_dict_place(PyObject *obj)
{
    Py_ssize_t offset = Py_TYPE(obj)->tp_dictoffset;
    return offset > 0 ? (PyObject **)((char *)obj + offset) : &((PyObject **)obj)[-3];
}

#endif

/* Return the values of an instance. Where it has none return NULL; its attributes are then in
 * `*dict`, which may be NULL. Only for classes for which althaia_keeps_attributes() is 1. */
static inline althaia_values *
althaia_instance_values(PyObject *obj, PyObject **dict)
{
#if ALTHAIA_KNOWS_INLINE_VALUES
    althaia_values *values = althaia_inline_values(obj);
    *dict = *althaia_dict_place(obj);
    return values != NULL && values->valid ? values : NULL;
#else
    PyTypeObject *type = Py_TYPE(obj);
    if (type->tp_dictoffset > 0) {
        *dict = *(PyObject **)((char *)obj + type->tp_dictoffset);
        return NULL;
    }
#if PY_VERSION_HEX >= 0x030C0000
    {
        /* One field holds either pointer. A pointer to values is stored minus one, and the odd
         * number tells it from a pointer to a dictionary. */
        uintptr_t either = ((uintptr_t *)obj)[-3];
        *dict = (PyObject *)either;
        return either & 1 ? (althaia_values *)(either + 1) : NULL;
    }
#else
    *dict = ((PyObject **)obj)[-3];
    return ((althaia_values **)obj)[-4];
#endif
#endif
}

/* Return the value of this key object as a borrowed reference if the instance has it at index `at`;
 * else NULL. */
static inline PyObject *
althaia_attribute_at(PyObject *obj, PyObject *key, Py_ssize_t at)
{
    PyObject *dict;
    althaia_values *values = althaia_instance_values(obj, &dict);
    if (values != NULL) {
        return althaia_is_key_at(althaia_shared_keys(Py_TYPE(obj)), key, at) ? values->values[at]
                                                                            : NULL;
    }
    return dict != NULL ? althaia_value_at(dict, key, at) : NULL;
}

/* Return the dict keys of an instance's attributes; NULL if it has none. */
static inline althaia_keys *
althaia_keys_of_instance(PyObject *obj)
{
    PyObject *dict;
    if (althaia_instance_values(obj, &dict) != NULL) {
        return althaia_shared_keys(Py_TYPE(obj));
    }
    return dict != NULL ? althaia_keys_of(dict) : NULL;
}

#endif

/* Return an instance's dictionary as a borrowed reference; NULL if it has none yet, because its
 * attributes are in the object. Does not create one. Only for classes whose instances can have
 * one. */
static inline PyObject *
althaia_dict_there(PyObject *obj)
{
    PyObject *dict = NULL;
#if ALTHAIA_KNOWS_ENTRIES
    if (althaia_keeps_attributes(Py_TYPE(obj))) {
        althaia_values *values = althaia_instance_values(obj, &dict);
        /* A dictionary and inline values are there at once. */
        return values == NULL || ALTHAIA_KNOWS_INLINE_VALUES ? dict : NULL;
    }
#endif
    dict = althaia_instance_dict(obj);
    Py_XDECREF(dict);
    return dict;
}

#endif
