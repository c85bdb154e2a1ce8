/* All that knows CPython's insides.
 *
 * One macro says one thing about the version that this is compiled for, and is 1 only where it
 * has been read in that version's own headers; none is inferred from another. What a header
 * cannot promise is tried out when a module is imported (facts.h), and what does not hold is not
 * used: all callers have a way that needs only the public interface.
 *
 * The shims below are our own: pythoncapi_compat is on no package index, and a copy of it would
 * be a copy of somebody else's source.
 */
#ifndef ALTHAIA_CPYTHON_H
#define ALTHAIA_CPYTHON_H

#include <Python.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- What is known at compile time ------------------------------------------------ */

/* Threads run one at a time. */
#if defined(Py_GIL_DISABLED)
#define ALTHAIA_HAS_GIL 0
#else
#define ALTHAIA_HAS_GIL 1
#endif

/* Dictionaries may share their keys (PEP 412); their values then lie apart, in the order of the
 * keys, where `ma_values` points. Writing there asks for the GIL. */
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x03100000 && ALTHAIA_HAS_GIL
#define ALTHAIA_KNOWS_SHARED_VALUES 1
#else
#define ALTHAIA_KNOWS_SHARED_VALUES 0
#endif

/* Four bytes stand before such values: capacity, size, embedded, valid; and behind them one byte
 * for each in the order in which they came. */
#if PY_VERSION_HEX >= 0x030D0000
#define ALTHAIA_VALUES_HAVE_HEAD 1
#else
#define ALTHAIA_VALUES_HAVE_HEAD 0
#endif

/* The values of an instance lie in the instance itself, behind its head. */
#if PY_VERSION_HEX >= 0x030D0000 && PY_VERSION_HEX < 0x03100000
#define ALTHAIA_KNOWS_INLINE_VALUES 1
#else
#define ALTHAIA_KNOWS_INLINE_VALUES 0
#endif

/* The layout of a dictionary's keys, and where the values of an instance lie, in it or beside it,
 * as the interpreter's own specialised instructions find them. */
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x03100000 && ALTHAIA_HAS_GIL
#define ALTHAIA_KNOWS_ENTRIES 1
#else
#define ALTHAIA_KNOWS_ENTRIES 0
#endif

/* Each dictionary has a number that changes whenever it does, and no other ever has. */
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030E0000
#define ALTHAIA_KNOWS_DICT_VERSIONS 1
#else
#define ALTHAIA_KNOWS_DICT_VERSIONS 0
#endif

/* Somebody may ask to be told when a dictionary changes (PyDict_Watch). There before 3.14, but
 * not needed where dictionaries have versions. */
#if PY_VERSION_HEX >= 0x030E0000 && ALTHAIA_HAS_GIL
#define ALTHAIA_KNOWS_DICT_WATCHERS 1
#else
#define ALTHAIA_KNOWS_DICT_WATCHERS 0
#endif

/* The collector may run in any allocation, and user code in it; later it waits for the
 * interpreter's next pause. */
#if PY_VERSION_HEX < 0x030C0000
#define ALTHAIA_COLLECTS_IN_ALLOCATIONS 1
#else
#define ALTHAIA_COLLECTS_IN_ALLOCATIONS 0
#endif

/* ---- Shims ------------------------------------------------------------------------ */

#if PY_VERSION_HEX < 0x030D0000
#define althaia_optional_attr _PyObject_LookupAttr
#define ALTHAIA_BEGIN_CRITICAL(op) {
#define ALTHAIA_END_CRITICAL() }
#else
#define althaia_optional_attr PyObject_GetOptionalAttr
#define ALTHAIA_BEGIN_CRITICAL(op) Py_BEGIN_CRITICAL_SECTION(op)
#define ALTHAIA_END_CRITICAL() Py_END_CRITICAL_SECTION()
#endif

/* 1 and a new reference, 0 and NULL where there is no such key, -1 and NULL on error. */
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

/* The value under a key as a new reference, `absent` where there is none; NULL on error. */
static inline PyObject *
althaia_dict_item(PyObject *dict, PyObject *key, PyObject *absent)
{
    PyObject *value;
    int found = althaia_dict_get(dict, key, &value);
    return found > 0 ? value : found < 0 ? NULL : Py_NewRef(absent);
}

/* What another thread may be writing while it is read; the same as a plain read with the GIL. */
#if ALTHAIA_HAS_GIL
#define althaia_read_pointer(place) (*(place))
#define althaia_read_byte(place) (*(place))
#define althaia_read_tag(place) (*(place))
#define althaia_read_version(place) (*(place))
#define althaia_read_int(place) (*(place))
#define althaia_write_int(place, number) (*(place) = (number))
#define althaia_write_tag(place, tag) (*(place) = (tag))
#define althaia_write_version(place, version) (*(place) = (version))
#define althaia_write_pointer(place, pointer) (*(place) = (pointer))
#else
#define althaia_read_pointer(place) _Py_atomic_load_ptr_relaxed(place)
#define althaia_read_byte(place) _Py_atomic_load_uint8_relaxed(place)
#define althaia_read_tag(place) _Py_atomic_load_uint_relaxed(place)
#define althaia_read_version(place) _Py_atomic_load_uint64_relaxed(place)
#define althaia_read_int(place) _Py_atomic_load_int_relaxed(place)
#define althaia_write_int(place, number) _Py_atomic_store_int_relaxed(place, number)
#define althaia_write_tag(place, tag) _Py_atomic_store_uint_relaxed(place, tag)
#define althaia_write_version(place, version) _Py_atomic_store_uint64_relaxed(place, version)
/* Whoever reads a note also finds what was stored before it. */
#define althaia_write_pointer(place, pointer) _Py_atomic_store_ptr_release(place, pointer)
#endif

/* Count on; no count is lost. */
static inline void
althaia_count(int64_t *counter, int64_t more)
{
#if ALTHAIA_HAS_GIL
    *counter += more;
#else
    _Py_atomic_add_int64(counter, more);
#endif
}

/* What was counted so far, also while another thread counts. */
static inline int64_t
althaia_counted(int64_t *counter)
{
    return (int64_t)althaia_read_version((uint64_t *)counter);
}

/* The interned text that a place keeps for good, borrowed; NULL on error. Whoever is first makes it,
 * and whoever is first at the same time makes the same. */
static inline PyObject *
althaia_kept_name(PyObject **place, const char *text)
{
#if ALTHAIA_HAS_GIL
    if (*place == NULL) {
        *place = PyUnicode_InternFromString(text);
    }
    return *place;
#else
    PyObject *name = _Py_atomic_load_ptr_acquire(place);
    if (name == NULL && (name = PyUnicode_InternFromString(text)) != NULL) {
        _Py_atomic_store_ptr_release(place, name);
    }
    return name;
#endif
}

/* 1 where no other thread has a reference to the object. Always with the GIL: only the thread that
 * asks runs. */
static inline int
althaia_is_private(PyObject *obj)
{
#if ALTHAIA_HAS_GIL
    (void)obj;
    return 1;
#else
    Py_ssize_t shared = _Py_atomic_load_ssize_relaxed(&obj->ob_ref_shared);
    return _Py_IsOwnedByCurrentThread(obj) && shared >> _Py_REF_SHARED_SHIFT == 0;
#endif
}

/* ---- Types ------------------------------------------------------------------------ */

/* Have instances of a class allocated by another function, where that is Python's own. */
static inline void
althaia_allocate_by(PyObject *cls, PyObject *(*allocate)(PyObject *, Py_ssize_t))
{
    PyTypeObject *type = (PyTypeObject *)cls;
    if (type->tp_alloc == PyType_GenericAlloc) {
        type->tp_alloc = (allocfunc)(void (*)(void))allocate;
    }
}

/* The attribute of a type and its bases, descriptors unbound, as a new reference; the last argument
 * where there is none. Its metaclass is not asked. */
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

/* The same; None where there is none. */
static inline PyObject *
althaia_type_lookup(PyObject *type, PyObject *name)
{
    return althaia_type_lookup_or(type, name, Py_None);
}

/* 1 where a class is asked for its attributes without a method of its metaclass. */
static inline int
althaia_is_plainly_asked(PyObject *cls)
{
    return Py_TYPE(cls)->tp_getattro == PyType_Type.tp_getattro;
}

#define ALTHAIA_TYPE_TAG(type) althaia_read_tag(&((PyTypeObject *)(type))->tp_version_tag)

/* A number that CPython drops whenever the type or one of its bases changes, and no other type
 * ever has; assigned where there is none yet, 0 where none can be had any more. */
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

/* 1 where attributes of the class's instances are read by our function. */
static inline int
althaia_is_intercepted(PyObject *cls, getattrofunc getter)
{
    return ((PyTypeObject *)cls)->tp_getattro == getter;
}

/* Let our function read them, unless something else than CPython's own does. */
static inline void
althaia_intercept(PyObject *cls, getattrofunc getter)
{
    PyTypeObject *type = (PyTypeObject *)cls;
    if (type->tp_getattro == PyObject_GenericGetAttr) {
        type->tp_getattro = getter;
        PyType_Modified(type);
    }
}

static PyGetSetDef althaia_intercepted_dict;
static getter althaia_plain_dict = NULL;

/* Let our function answer for `__dict__` where the descriptor of it is asked directly. */
static inline void
althaia_intercept_dict(PyObject *descriptor, getter interceptor)
{
    if (althaia_plain_dict == NULL && Py_IS_TYPE(descriptor, &PyGetSetDescr_Type)) {
        PyGetSetDescrObject *found = (PyGetSetDescrObject *)descriptor;
        althaia_plain_dict = found->d_getset->get;
        althaia_intercepted_dict = *found->d_getset;
        althaia_intercepted_dict.get = interceptor;
        found->d_getset = &althaia_intercepted_dict;
    }
}

/* 1 where somebody holds a weak reference to the object. */
static inline int
althaia_has_weak_references(PyObject *obj)
{
    return Py_TYPE(obj)->tp_weaklistoffset != 0 && *PyObject_GET_WEAKREFS_LISTPTR(obj) != NULL;
}

/* ---- Dictionaries ----------------------------------------------------------------- */

/* The instance dictionary as a new reference, NULL (no error) where there is none. */
static inline PyObject *
althaia_instance_dict(PyObject *obj)
{
    PyObject *dict = PyObject_GenericGetDict(obj, NULL);
    if (dict == NULL) {
        PyErr_Clear();
    }
    return dict;
}

/* The same with None where there is none. */
static inline PyObject *
althaia_dict_or_none(PyObject *obj)
{
    PyObject *dict = althaia_instance_dict(obj);
    return dict != NULL ? dict : Py_NewRef(Py_None);
}

/* 1 where an object's dictionary can be set: `descriptor`, the `__dict__` of its class, is what the
 * interpreter gives to a class statement, and no type that is written in C decides itself. See
 * subtype_setdict() in Objects/typeobject.c. */
static inline int
althaia_has_python_dict(PyObject *obj, PyObject *descriptor)
{
    PyTypeObject *type;
    if (!Py_IS_TYPE(descriptor, &PyGetSetDescr_Type)) {
        return 0;
    }
    /* From 3.15 on all classes have the same one, which is `object`'s. */
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

/* The values of dictionaries that share their keys: the n-th is that of the n-th key. */
typedef struct {
#if ALTHAIA_VALUES_HAVE_HEAD
    uint8_t capacity;
    uint8_t size;
    uint8_t embedded;
    uint8_t valid;
#endif
    PyObject *values[1];
} althaia_values;

/* The values of a dictionary; NULL where they lie beside their keys, as in most. */
static inline althaia_values *
althaia_values_of(PyObject *dict)
{
    return (althaia_values *)((PyDictObject *)dict)->ma_values;
}

/* 1 where the dictionary's values lie apart, the n-th of them being the n-th of `expected`. */
static int
althaia_lies_in_order(PyObject *dict, PyObject *expected)
{
#if ALTHAIA_KNOWS_SHARED_VALUES
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
    (void)dict;
    (void)expected;
    return 0;
#endif
}

/* A number that changes whenever the dictionary does; 0 where CPython keeps none that can be
 * relied on: values that lie in an instance change without it. */
static inline uint64_t
althaia_dict_version(PyObject *dict)
{
#if ALTHAIA_KNOWS_DICT_VERSIONS
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif
#if ALTHAIA_KNOWS_INLINE_VALUES
    if (althaia_values_of(dict) != NULL && althaia_values_of(dict)->embedded) {
        return 0;
    }
#endif
    return althaia_read_version(&((PyDictObject *)dict)->ma_version_tag);
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#else
    (void)dict;
    return 0;
#endif
}

#if ALTHAIA_KNOWS_INLINE_VALUES

/* The values that lie in an instance, NULL where its type has none. */
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

/* The places of the values in the order in which they came. */
static inline const uint8_t *
althaia_inline_order(const althaia_values *values)
{
    return (const uint8_t *)&values->values[values->capacity];
}

#endif

#if ALTHAIA_KNOWS_ENTRIES

/* The keys of a dictionary, or of all instances of a class: a hash table of 2 ** bytes bytes, and
 * behind it the entries in the order in which they came. */
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

/* An entry where all keys are text. The value is NULL where it was deleted, or lies apart. */
typedef struct {
    PyObject *key;
    PyObject *value;
} althaia_entry;

/* The kind of keys that are not all text: their entries have a hash before them. */
#define ALTHAIA_GENERAL_KEYS 0

static inline althaia_entry *
althaia_entries(althaia_keys *keys)
{
    return (althaia_entry *)&keys->table[(size_t)1 << keys->bytes];
}

/* 1 where this very key is the one at `at`. */
static inline int
althaia_is_key_at(althaia_keys *keys, PyObject *key, Py_ssize_t at)
{
    return (size_t)at < (size_t)keys->used && keys->kind != ALTHAIA_GENERAL_KEYS
        && althaia_entries(keys)[at].key == key;
}

/* Among more keys than these it takes longer to go through them than to look each one up. */
#define ALTHAIA_MOST_KEYS 512

/* Where a text is among keys that are all text, -1 where it is not, or not looked for. */
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

/* The keys that the values of instances of a class have, for a class that a statement made. */
static inline althaia_keys *
althaia_shared_keys(PyTypeObject *type)
{
    return (althaia_keys *)((PyHeapTypeObject *)type)->ht_cached_keys;
}

/* 1 where instances of the class keep attributes where they are looked for here: in values of their
 * own, or in a dictionary. */
static inline int
althaia_keeps_attributes(PyTypeObject *type)
{
    return PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) && type->tp_itemsize == 0
        && (type->tp_dictoffset > 0
            || (PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT)
                && althaia_shared_keys(type) != NULL));
}

/* The value of this very key in a dictionary where it is the one at `at`, borrowed; else NULL. */
static inline PyObject *
althaia_value_at(PyObject *dict, PyObject *key, Py_ssize_t at)
{
    althaia_keys *keys = althaia_keys_of(dict);
    if (!althaia_is_key_at(keys, key, at)) {
        return NULL;
    }
    return althaia_values_of(dict) != NULL ? althaia_values_of(dict)->values[at]
                                           : althaia_entries(keys)[at].value;
}

#if ALTHAIA_KNOWS_INLINE_VALUES

/* Where an instance keeps its dictionary, or NULL while it has none. For classes of which
 * althaia_keeps_attributes() is true. */
static inline PyObject **
althaia_dict_place(PyObject *obj)
{
    Py_ssize_t offset = Py_TYPE(obj)->tp_dictoffset;
    return offset > 0 ? (PyObject **)((char *)obj + offset) : &((PyObject **)obj)[-3];
}

#endif

/* Where an instance keeps its attributes: in values of its own, or else in `*dict`, which may be
 * NULL. For classes of which althaia_keeps_attributes() is true. */
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
        /* One place for both: a pointer to values is one less than it, which is odd. */
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

/* The value of this very key where it is the one at `at` of an instance, borrowed; else NULL. */
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

/* The keys by which an instance finds its attributes, NULL where it has none. */
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

#endif
