/* All that knows CPython's insides.
 *
 * One macro says one thing about the version that this is compiled for, and is 1 only where it
 * has been read in that version's own headers; none is inferred from another. What a header
 * cannot promise is tried out when a module is imported (althaia_try_facts), and what does not
 * hold is not used: all callers have a way that needs only the public interface.
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
#define althaia_write_tag(place, tag) (*(place) = (tag))
#define althaia_write_version(place, version) (*(place) = (version))
#else
#define althaia_read_pointer(place) _Py_atomic_load_ptr_relaxed(place)
#define althaia_read_byte(place) _Py_atomic_load_uint8_relaxed(place)
#define althaia_read_tag(place) _Py_atomic_load_uint_relaxed(place)
#define althaia_read_version(place) _Py_atomic_load_uint64_relaxed(place)
#define althaia_write_tag(place, tag) _Py_atomic_store_uint_relaxed(place, tag)
#define althaia_write_version(place, version) _Py_atomic_store_uint64_relaxed(place, version)
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

/* The attribute of a type and its bases, descriptors unbound, as a new reference; None where
 * there is none. Its metaclass is not asked. */
static inline PyObject *
althaia_type_lookup(PyObject *type, PyObject *name)
{
#if PY_VERSION_HEX < 0x030D0000
    PyObject *found = Py_XNewRef(_PyType_Lookup((PyTypeObject *)type, name));
#else
    PyObject *found = _PyType_LookupRef((PyTypeObject *)type, name);
#endif
    return found != NULL ? found : Py_NewRef(Py_None);
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
    if (althaia_values_of(dict) != NULL) {
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

/* A number that changes whenever one of the dictionaries does that are watched; 0 where CPython
 * tells nobody. One number for all of them: they hardly ever change, and it is asked in each
 * call. */
static uint64_t althaia_epoch = 0;
static int althaia_watcher = -1;

/* Be told of each change of a dictionary from now on. 0, or -1 on error. */
static inline int
althaia_watch_dict(PyObject *dict)
{
#if ALTHAIA_KNOWS_DICT_WATCHERS
    return PyDict_Watch(althaia_watcher, dict);
#else
    (void)dict;
    return 0;
#endif
}

/* ---- What is tried out ------------------------------------------------------------- */

enum {
    ALTHAIA_SHARED_VALUES = 1,
    ALTHAIA_INLINE_VALUES = 2,
    ALTHAIA_DICT_VERSIONS = 4,
    ALTHAIA_TYPE_TAGS = 8,
    ALTHAIA_DICT_WATCHERS = 16,
};

/* Which of them hold here. Each extension module has a copy of its own: one that relies on a fact
 * calls althaia_try_facts() when it is imported, before althaia_start_watching(), which adds one. */
static unsigned int althaia_facts = 0;

/* An empty class of this module's own, as a new reference. */
static inline PyObject *
althaia_new_class(void)
{
    return PyObject_CallFunction((PyObject *)&PyType_Type, "s(){}", "Trial");
}

/* An instance with three attributes, each of them its own name; `names` is a tuple of these. */
static inline PyObject *
althaia_new_instance(PyObject *cls, PyObject *names)
{
    PyObject *instance = PyObject_CallNoArgs(cls);
    for (Py_ssize_t i = 0; instance != NULL && i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        if (PyObject_SetAttr(instance, name, name) < 0) {
            Py_CLEAR(instance);
        }
    }
    return instance;
}

/* Do the values of a copy lie where they are looked for, and are they what it reads? */
static inline int
althaia_try_shared_values(PyObject *cls, PyObject *names)
{
    int holds = 0;
    PyObject *instance = althaia_new_instance(cls, names);
    PyObject *dict = instance != NULL ? PyObject_GenericGetDict(instance, NULL) : NULL;
    PyObject *copy = dict != NULL ? PyDict_Copy(dict) : NULL;
    if (copy != NULL && althaia_lies_in_order(copy, names)) {
        PyObject *last = PyTuple_GET_ITEM(names, PyTuple_GET_SIZE(names) - 1);
        holds = PyDict_SetItem(copy, last, Py_None) == 0
            && althaia_values_of(copy)->values[PyTuple_GET_SIZE(names) - 1] == Py_None;
    }
    Py_XDECREF(copy);
    Py_XDECREF(dict);
    Py_XDECREF(instance);
    return holds;
}

/* Do an instance's values lie in it, in order, and does what they are change with them? */
static inline int
althaia_try_inline_values(PyObject *cls, PyObject *names)
{
    int holds = 0;
#if ALTHAIA_KNOWS_INLINE_VALUES
    PyObject *instance = althaia_new_instance(cls, names);
    althaia_values *values = instance != NULL ? althaia_inline_values(instance) : NULL;
    Py_ssize_t size = PyTuple_GET_SIZE(names);
    if (values != NULL && values->valid && values->size == size && values->capacity >= size) {
        holds = 1;
        for (Py_ssize_t i = 0; i < size; i++) {
            holds = holds && values->values[i] == PyTuple_GET_ITEM(names, i)
                && althaia_inline_order(values)[i] == i;
        }
        holds = holds && PyObject_DelAttr(instance, PyTuple_GET_ITEM(names, 0)) == 0
            && (!values->valid || (values->size == size - 1 && values->values[0] == NULL));
    }
    Py_XDECREF(instance);
#else
    (void)cls;
    (void)names;
#endif
    return holds;
}

/* Does the number change when the dictionary does, and only then? */
static inline int
althaia_try_dict_versions(PyObject *names)
{
    int holds = 0;
    PyObject *dict = PyDict_New();
    PyObject *name = PyTuple_GET_ITEM(names, 0);
    if (dict != NULL && PyDict_SetItem(dict, name, name) == 0) {
        uint64_t before = althaia_dict_version(dict);
        holds = before != 0 && PyDict_GetItemWithError(dict, name) == name
            && althaia_dict_version(dict) == before && PyDict_SetItem(dict, name, Py_None) == 0
            && althaia_dict_version(dict) != before;
    }
    Py_XDECREF(dict);
    return holds;
}

/* Does a type lose its number when its base changes, and get another one? */
static inline int
althaia_try_type_tags(PyObject *cls, PyObject *names)
{
    PyObject *derived = PyObject_CallFunction((PyObject *)&PyType_Type, "s(O){}", "Derived", cls);
    unsigned int before = derived != NULL ? althaia_type_tag(derived) : 0;
    int holds = before != 0 && ALTHAIA_TYPE_TAG(derived) == before
        && PyObject_SetAttr(cls, PyTuple_GET_ITEM(names, 0), Py_None) == 0
        && ALTHAIA_TYPE_TAG(derived) != before && althaia_type_tag(derived) != before;
    Py_XDECREF(derived);
    return holds;
}

/* Try everything out once. 0, or -1 with an error set. */
static inline int
althaia_try_facts(void)
{
    PyObject *names = Py_BuildValue("(NNN)", PyUnicode_InternFromString("first"),
                                    PyUnicode_InternFromString("second"),
                                    PyUnicode_InternFromString("third"));
    PyObject *cls = names != NULL ? althaia_new_class() : NULL;
    unsigned int found = 0;
    if (cls != NULL) {
        found |= althaia_try_shared_values(cls, names) ? ALTHAIA_SHARED_VALUES : 0;
        found |= althaia_try_inline_values(cls, names) ? ALTHAIA_INLINE_VALUES : 0;
        found |= althaia_try_dict_versions(names) ? ALTHAIA_DICT_VERSIONS : 0;
        found |= althaia_try_type_tags(cls, names) ? ALTHAIA_TYPE_TAGS : 0;
    }
    Py_XDECREF(cls);
    Py_XDECREF(names);
    if (PyErr_Occurred()) {
        return -1;
    }
    althaia_facts = found;
    return 0;
}

#if ALTHAIA_KNOWS_DICT_WATCHERS

static int
althaia_at_dict_event(PyDict_WatchEvent event, PyObject *dict, PyObject *key, PyObject *value)
{
    (void)event;
    (void)dict;
    (void)key;
    (void)value;
    althaia_epoch++;
    return 0;
}

/* Has a change that returned what is given been told of? Counts on from there. */
static inline int
althaia_was_told(int done, uint64_t *before)
{
    int told = done >= 0 && althaia_epoch != *before;
    *before = althaia_epoch;
    return told;
}

/* Is each way of changing a dictionary told of? */
static inline int
althaia_try_dict_watchers(PyObject *names)
{
    PyObject *first = PyTuple_GET_ITEM(names, 0), *second = PyTuple_GET_ITEM(names, 1);
    PyObject *dict = PyDict_New(), *other = PyDict_New(), *popped = NULL;
    uint64_t before = althaia_epoch;
    int holds = dict != NULL && other != NULL && althaia_watch_dict(dict) == 0
        && althaia_was_told(PyDict_SetItem(dict, first, first), &before)
        && althaia_was_told(PyDict_SetItem(dict, first, Py_None), &before)
        && PyDict_SetItem(other, second, second) == 0
        && althaia_was_told(PyDict_Update(dict, other), &before)
        && althaia_was_told(PyDict_DelItem(dict, first), &before)
        && (popped = PyObject_CallMethod(dict, "popitem", NULL)) != NULL
        && althaia_was_told(0, &before)
        && althaia_was_told(PyDict_Update(dict, other), &before);
    if (holds) {
        PyDict_Clear(dict);
        holds = althaia_was_told(0, &before);
    }
    Py_XDECREF(popped);
    Py_XDECREF(dict);
    Py_XDECREF(other);
    return holds && althaia_was_told(0, &before);
}

#endif

/* Begin to watch dictionaries; for one module only, because there are few watchers in a process.
 * 0, or -1 with an error set. */
static inline int
althaia_start_watching(void)
{
#if ALTHAIA_KNOWS_DICT_WATCHERS
    PyObject *names = Py_BuildValue("(ss)", "first", "second");
    int holds = 0;
    if (names == NULL) {
        return -1;
    }
    althaia_watcher = PyDict_AddWatcher(althaia_at_dict_event);
    if (althaia_watcher >= 0) {
        holds = althaia_try_dict_watchers(names);
    }
    Py_DECREF(names);
    if (holds) {
        althaia_facts |= ALTHAIA_DICT_WATCHERS;
    }
    else {
        /* All of them taken, or not told of everything. */
        PyErr_Clear();
        althaia_epoch = 0;
        if (althaia_watcher >= 0 && PyDict_ClearWatcher(althaia_watcher) < 0) {
            PyErr_Clear();
        }
        althaia_watcher = -1;
    }
#endif
    return 0;
}

#endif
