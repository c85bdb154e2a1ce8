/* The few hot C primitives of the plans: attribute access, dictionary snapshots,
 * text forms of fixed width; the checks of recursion and loops come from checks.h.
 *
 * Everything is static: each extension module that includes this file has its own
 * copy, and the C compiler inlines what pays.
 */
#ifndef ALTHAIA_PRIMITIVES_H
#define ALTHAIA_PRIMITIVES_H

#include <Python.h>
#include <datetime.h>
#include <stdint.h>
#include <string.h>

#include "althaia/checks.h"
#include "althaia/plans/values.h"

#if PY_VERSION_HEX < 0x030D0000
#define althaia_optional_attr _PyObject_LookupAttr
#else
#define althaia_optional_attr PyObject_GetOptionalAttr
#endif

#if PY_VERSION_HEX < 0x030D0000
#define ALTHAIA_BEGIN_CRITICAL(op) {
#define ALTHAIA_END_CRITICAL() }
#else
#define ALTHAIA_BEGIN_CRITICAL(op) Py_BEGIN_CRITICAL_SECTION(op)
#define ALTHAIA_END_CRITICAL() Py_END_CRITICAL_SECTION()
#endif

/* ---- Attribute access ------------------------------------------------------------ */

/* getattr(obj, name, missing) as a new reference, NULL on error. */
static PyObject *
althaia_getattr(PyObject *obj, PyObject *name, PyObject *missing)
{
    PyObject *value;
    if (althaia_optional_attr(obj, name, &value) < 0) {
        return NULL;
    }
    return value != NULL ? value : Py_NewRef(missing);
}

/* The instance dictionary as a borrowed reference, NULL (no error) where there is none.
 * The instance keeps it alive as long as nobody replaces `__dict__`. */
static PyObject *
althaia_instance_dict(PyObject *obj)
{
    PyObject *dict = PyObject_GenericGetDict(obj, NULL);
    if (dict == NULL) {
        PyErr_Clear();
        return NULL;
    }
    Py_DECREF(dict);
    return dict;
}

static PyObject *althaia_getitem_name = NULL;

/* What upstream's marshmallow.utils._get_value_for_key swallows: the lookup failed. */
static int
althaia_swallow_lookup_error(void)
{
    if (PyErr_ExceptionMatches(PyExc_KeyError) || PyErr_ExceptionMatches(PyExc_IndexError)
        || PyErr_ExceptionMatches(PyExc_TypeError)
        || PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        return 1;
    }
    return 0;
}

/* True where `obj[str]` is known to raise TypeError, so that asking can be spared. */
static int
althaia_refuses_str_keys(PyTypeObject *type, binaryfunc subscript)
{
    if (subscript == PyTuple_Type.tp_as_mapping->mp_subscript) {
        return 1;
    }
    return type == &PyList_Type || type == &PyUnicode_Type || type == &PyBytes_Type;
}

/* One key of one object, as marshmallow.utils._get_value_for_key reads it: `obj[key]`
 * where the object has __getitem__, then `getattr(obj, key, missing)`.
 * `key` is an exact str. New reference, NULL on error. */
static PyObject *
althaia_get_value(PyObject *obj, PyObject *key, PyObject *missing)
{
    PyTypeObject *type = Py_TYPE(obj);
    PyObject *value;
    if (type == &PyDict_Type) {
#if PY_VERSION_HEX < 0x030D0000
        value = PyDict_GetItemWithError(obj, key);
        if (value != NULL) {
            return Py_NewRef(value);
        }
#else
        if (PyDict_GetItemRef(obj, key, &value) > 0) {
            return value;
        }
#endif
        if (PyErr_Occurred() && !althaia_swallow_lookup_error()) {
            return NULL;
        }
        return althaia_getattr(obj, key, missing);
    }
    if (type->tp_getattro == PyObject_GenericGetAttr) {
        binaryfunc subscript
            = type->tp_as_mapping != NULL ? type->tp_as_mapping->mp_subscript : NULL;
        ssizeargfunc item = type->tp_as_sequence != NULL ? type->tp_as_sequence->sq_item : NULL;
        if (subscript == NULL && item == NULL) {
            /* No slot: whatever __getitem__ the instance may carry, obj[key] is a
             * TypeError, and upstream falls through to getattr. */
            return althaia_getattr(obj, key, missing);
        }
        if (subscript != NULL && althaia_refuses_str_keys(type, subscript)) {
            return althaia_getattr(obj, key, missing);
        }
    }
    if (althaia_getitem_name == NULL) {
        althaia_getitem_name = PyUnicode_InternFromString("__getitem__");
        if (althaia_getitem_name == NULL) {
            return NULL;
        }
    }
    if (althaia_optional_attr(obj, althaia_getitem_name, &value) < 0) {
        return NULL;
    }
    if (value == NULL) {
        return althaia_getattr(obj, key, missing);
    }
    Py_DECREF(value);
    value = PyObject_GetItem(obj, key);
    if (value != NULL) {
        return value;
    }
    if (!althaia_swallow_lookup_error()) {
        return NULL;
    }
    return althaia_getattr(obj, key, missing);
}

/* 1 where the instances of a class are true without being asked; upstream asks a nested schema
 * each time, and resolves one that says no again. */
static int
althaia_is_simply_true(PyObject *cls)
{
    PyTypeObject *type = (PyTypeObject *)cls;
    return (type->tp_as_number == NULL || type->tp_as_number->nb_bool == NULL)
        && (type->tp_as_mapping == NULL || type->tp_as_mapping->mp_length == NULL)
        && (type->tp_as_sequence == NULL || type->tp_as_sequence->sq_length == NULL);
}

/* ---- Snapshots -------------------------------------------------------------------- */

/* The version tag of a type, assigned where it has none yet; 0 where none can be had.
 * CPython drops the tag whenever the type or one of its bases changes. */
static unsigned int
althaia_type_tag(PyObject *cls)
{
    PyTypeObject *type = (PyTypeObject *)cls;
    if (type->tp_version_tag == 0) {
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
    return type->tp_version_tag;
}

/* 1 where `dict` holds exactly the keys and values of `snapshot` (key, value, key, …),
 * by identity and in order. A value equal to `any` in the snapshot is not compared. */
static int
althaia_same_entries(PyObject *dict, PyObject *snapshot, PyObject *any)
{
    Py_ssize_t size = PyTuple_GET_SIZE(snapshot), at = 0, position = 0;
    PyObject **expected = ((PyTupleObject *)snapshot)->ob_item;
    PyObject *key, *value;
    int same = 1;
    if (PyDict_GET_SIZE(dict) * 2 != size) {
        return 0;
    }
    ALTHAIA_BEGIN_CRITICAL(dict);
    while (PyDict_Next(dict, &position, &key, &value)) {
        if (at >= size || key != expected[at]
            || (value != expected[at + 1] && expected[at + 1] != any)) {
            same = 0;
            break;
        }
        at += 2;
    }
    ALTHAIA_END_CRITICAL();
    return same && at == size;
}

/* A number that changes whenever the dictionary does, and no other dictionary ever has; 0 where
 * CPython keeps none that can be relied on: in 3.13 values that lie in an instance change
 * without it. */
static uint64_t
althaia_dict_version(PyObject *dict)
{
#if ALTHAIA_KNOWS_VALUES
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif
    return ALTHAIA_KNOWS_INLINE_VALUES && ALTHAIA_VALUES_OF(dict) != NULL
        ? 0
        : ((PyDictObject *)dict)->ma_version_tag;
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#else
    (void)dict;
    return 0;
#endif
}

/* 1 where the dictionary is what it was at the version; 0 says nothing. */
static inline int
althaia_same_version(PyObject *dict, uint64_t version)
{
    return version != 0 && althaia_dict_version(dict) == version;
}

/* The values that lie in an object, and the one of them that is not compared (or -1). */
typedef struct {
    int unwatched;
    althaia_values values;
} althaia_inline_copy;

#if ALTHAIA_KNOWS_INLINE_VALUES

static althaia_values *
althaia_inline_values(PyObject *object)
{
    return (althaia_values *)(object + 1);
}

static const uint8_t *
althaia_inline_order(const althaia_values *values)
{
    return (const uint8_t *)&values->values[values->capacity];
}

#endif

/* What lies in an object, to be compared with later; NULL without an error where nothing lies
 * there or it is not what the snapshot says. For PyMem_Free(). */
static althaia_inline_copy *
althaia_copy_inline(PyObject *object, PyObject *snapshot, PyObject *any)
{
#if ALTHAIA_KNOWS_INLINE_VALUES
    PyTypeObject *type = Py_TYPE(object);
    Py_ssize_t size = PyTuple_GET_SIZE(snapshot) / 2;
    althaia_values *values = althaia_inline_values(object);
    althaia_inline_copy *copy;
    size_t bytes;
    int unwatched = -1;
    if (!PyType_HasFeature(type, Py_TPFLAGS_INLINE_VALUES) || type->tp_itemsize != 0
        || type->tp_basicsize != sizeof(PyObject) || !values->valid || values->size != size
        || values->size > values->capacity) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        int at = althaia_inline_order(values)[i];
        PyObject *expected = PyTuple_GET_ITEM(snapshot, 2 * i + 1);
        if (expected == any && unwatched < 0) {
            unwatched = at;
        }
        else if (at >= values->capacity || values->values[at] != expected) {
            return NULL;
        }
    }
    bytes = (size_t)(althaia_inline_order(values) + size - (const uint8_t *)values);
    copy = PyMem_Malloc(offsetof(althaia_inline_copy, values) + bytes);
    if (copy != NULL) {
        copy->unwatched = unwatched;
        memcpy(&copy->values, values, bytes);
    }
    return copy;
#else
    (void)object;
    (void)snapshot;
    (void)any;
    return NULL;
#endif
}

/* 1 where an object of the same type holds what was copied; 0 says nothing. */
static int
althaia_same_inline(PyObject *object, const althaia_inline_copy *copy)
{
#if ALTHAIA_KNOWS_INLINE_VALUES
    const althaia_values *now, *then;
    size_t before, after;
    if (copy == NULL) {
        return 0;
    }
    now = althaia_inline_values(object);
    then = &copy->values;
    if (now->capacity != then->capacity || now->size != then->size || !now->valid) {
        return 0;
    }
    before = copy->unwatched < 0 ? now->capacity : (size_t)copy->unwatched;
    after = copy->unwatched < 0 ? now->capacity : before + 1;
    return memcmp(now->values, then->values, before * sizeof(PyObject *)) == 0
        && memcmp(now->values + after, then->values + after,
                  (now->capacity - after) * sizeof(PyObject *)) == 0
        && memcmp(althaia_inline_order(now), althaia_inline_order(then), now->size) == 0;
#else
    (void)object;
    (void)copy;
    return 0;
#endif
}

/* What a guard knows of one object with an instance dictionary. All pointers are borrowed but
 * `copy`; the guard owns the objects. */
typedef struct {
    PyObject *object;
    PyObject *type;
    PyObject *dict;
    uint64_t version;
    PyObject *snapshot;
    althaia_inline_copy *copy;
} althaia_watched;

/* 1 where each object has its type, its dictionary and in it what the snapshot says. */
static int
althaia_all_hold(althaia_watched *watched, Py_ssize_t count, PyObject *any)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        althaia_watched *each = &watched[i];
        PyObject *dict;
        if ((PyObject *)Py_TYPE(each->object) != each->type) {
            return 0;
        }
        if (althaia_same_inline(each->object, each->copy)) {
            continue;
        }
        dict = althaia_instance_dict(each->object);
        if (dict == NULL) {
            return 0;
        }
        if (dict == each->dict && althaia_same_version(dict, each->version)) {
            continue;
        }
        if (!althaia_same_entries(dict, each->snapshot, any)) {
            return 0;
        }
        if (dict == each->dict) {
            /* Only CPythons with a GIL have versions, and any thread writes what is true. */
            each->version = althaia_dict_version(dict);
        }
    }
    return 1;
}

/* 1 where the list holds exactly the items of the tuple, by identity and in order. */
static int
althaia_same_items(PyObject *list, PyObject *snapshot)
{
    Py_ssize_t size = PyTuple_GET_SIZE(snapshot);
    if (PyList_GET_SIZE(list) != size) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        if (PyList_GET_ITEM(list, i) != PyTuple_GET_ITEM(snapshot, i)) {
            return 0;
        }
    }
    return 1;
}

/* 1 where dict.get(key) is value; an absent key is told by value == absent. Never raises. */
static int
althaia_same_entry(PyObject *dict, PyObject *key, PyObject *value, PyObject *absent)
{
    PyObject *found = PyDict_GetItemWithError(dict, key);
    if (found == NULL) {
        if (PyErr_Occurred()) {
            PyErr_Clear();
            return 0;
        }
        return value == absent;
    }
    return found == value;
}

/* 1 where hashing and comparing the keys of a dictionary runs no user code. */
static int
althaia_has_simple_keys(PyObject *dict)
{
    Py_ssize_t position = 0;
    PyObject *key;
    int simple = 1;
    ALTHAIA_BEGIN_CRITICAL(dict);
    while (simple && PyDict_Next(dict, &position, &key, NULL)) {
        simple = PyUnicode_CheckExact(key) || PyLong_CheckExact(key);
    }
    ALTHAIA_END_CRITICAL();
    return simple;
}

/* ---- Text of fixed width ---------------------------------------------------------- */

static void
althaia_two_digits(Py_UCS1 *at, int number)
{
    at[0] = (Py_UCS1)('0' + number / 10);
    at[1] = (Py_UCS1)('0' + number % 10);
}

static Py_UCS1 *
althaia_put_date(Py_UCS1 *at, int year, int month, int day)
{
    althaia_two_digits(at, year / 100);
    althaia_two_digits(at + 2, year % 100);
    at[4] = '-';
    althaia_two_digits(at + 5, month);
    at[7] = '-';
    althaia_two_digits(at + 8, day);
    return at + 10;
}

static Py_UCS1 *
althaia_put_time(Py_UCS1 *at, int hour, int minute, int second, int microsecond)
{
    althaia_two_digits(at, hour);
    at[2] = ':';
    althaia_two_digits(at + 3, minute);
    at[5] = ':';
    althaia_two_digits(at + 6, second);
    at += 8;
    if (microsecond != 0) {
        *at++ = '.';
        althaia_two_digits(at, microsecond / 10000);
        althaia_two_digits(at + 2, microsecond / 100 % 100);
        althaia_two_digits(at + 4, microsecond % 100);
        at += 6;
    }
    return at;
}

static PyObject *
althaia_ascii(const Py_UCS1 *start, const Py_UCS1 *end)
{
    Py_ssize_t size = end - start;
    PyObject *text = PyUnicode_New(size, 127);
    if (text != NULL) {
        memcpy(PyUnicode_1BYTE_DATA(text), start, (size_t)size);
    }
    return text;
}

/* date.isoformat() of an exact date or datetime. */
static PyObject *
althaia_iso_date(PyObject *value)
{
    Py_UCS1 text[10];
    Py_UCS1 *end = althaia_put_date(text, PyDateTime_GET_YEAR(value),
                                    PyDateTime_GET_MONTH(value), PyDateTime_GET_DAY(value));
    return althaia_ascii(text, end);
}

/* datetime.isoformat() of an exact datetime that is naive or in timezone.utc;
 * NULL without an error for every other time zone. */
static PyObject *
althaia_iso_datetime(PyObject *value)
{
    Py_UCS1 text[40];
    Py_UCS1 *end;
    PyObject *zone = PyDateTime_DATE_GET_TZINFO(value);
    if (zone != Py_None && zone != PyDateTime_TimeZone_UTC) {
        return NULL;
    }
    end = althaia_put_date(text, PyDateTime_GET_YEAR(value), PyDateTime_GET_MONTH(value),
                           PyDateTime_GET_DAY(value));
    *end++ = 'T';
    end = althaia_put_time(end, PyDateTime_DATE_GET_HOUR(value),
                           PyDateTime_DATE_GET_MINUTE(value), PyDateTime_DATE_GET_SECOND(value),
                           PyDateTime_DATE_GET_MICROSECOND(value));
    if (zone != Py_None) {
        memcpy(end, "+00:00", 6);
        end += 6;
    }
    return althaia_ascii(text, end);
}

/* time.isoformat() of an exact naive time; NULL without an error with a time zone. */
static PyObject *
althaia_iso_time(PyObject *value)
{
    Py_UCS1 text[16];
    Py_UCS1 *end;
    if (PyDateTime_TIME_GET_TZINFO(value) != Py_None) {
        return NULL;
    }
    end = althaia_put_time(text, PyDateTime_TIME_GET_HOUR(value),
                           PyDateTime_TIME_GET_MINUTE(value), PyDateTime_TIME_GET_SECOND(value),
                           PyDateTime_TIME_GET_MICROSECOND(value));
    return althaia_ascii(text, end);
}

/* An exact timedelta in units of `unit` microseconds, as Python's int / int gives it:
 * one correctly rounded division. NULL without an error where C doubles cannot hold
 * both sides exactly. `unit` is below 2**53. */
static PyObject *
althaia_timedelta(PyObject *value, int64_t unit)
{
    int64_t days = PyDateTime_DELTA_GET_DAYS(value);
    int64_t total;
    if (days > 100000 || days < -100000) {
        return NULL;
    }
    total = (days * 86400 + PyDateTime_DELTA_GET_SECONDS(value)) * 1000000
        + PyDateTime_DELTA_GET_MICROSECONDS(value);
    return PyFloat_FromDouble((double)total / (double)unit);
}

/* The text form of a UUID from its 128-bit integer (an exact int); NULL without an
 * error where the integer does not fit. */
static PyObject *
althaia_uuid_text(PyObject *number)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[16];
    PyObject *text;
    Py_UCS1 *at;
#if PY_VERSION_HEX < 0x030D0000
    if (_PyLong_AsByteArray((PyLongObject *)number, bytes, 16, 0, 0) < 0) {
        PyErr_Clear();
        return NULL;
    }
#else
    Py_ssize_t size = PyLong_AsNativeBytes(
        number, bytes, 16,
        Py_ASNATIVEBYTES_BIG_ENDIAN | Py_ASNATIVEBYTES_UNSIGNED_BUFFER
            | Py_ASNATIVEBYTES_REJECT_NEGATIVE);
    if (size < 0) {
        PyErr_Clear();
        return NULL;
    }
    if (size > 16) {
        return NULL;
    }
#endif
    text = PyUnicode_New(36, 127);
    if (text == NULL) {
        PyErr_Clear();
        return NULL;
    }
    at = PyUnicode_1BYTE_DATA(text);
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            *at++ = '-';
        }
        *at++ = (Py_UCS1)digits[bytes[i] >> 4];
        *at++ = (Py_UCS1)digits[bytes[i] & 15];
    }
    return text;
}

/* ---- Text that is plainly right ----------------------------------------------------- */

static int
althaia_hex_digit(Py_UCS1 c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return -1;
}

/* The integer of a UUID written with its four hyphens (an exact str), as a new reference;
 * NULL without an error for every other form. */
static PyObject *
althaia_uuid_number(PyObject *text)
{
    unsigned char bytes[16];
    const Py_UCS1 *at;
    PyObject *number;
    if (PyUnicode_GET_LENGTH(text) != 36 || !PyUnicode_IS_ASCII(text)) {
        return NULL;
    }
    at = PyUnicode_1BYTE_DATA(text);
    for (int i = 0; i < 16; i++) {
        int high, low;
        if ((i == 4 || i == 6 || i == 8 || i == 10) && *at++ != '-') {
            return NULL;
        }
        high = althaia_hex_digit(at[0]);
        low = althaia_hex_digit(at[1]);
        if (high < 0 || low < 0) {
            return NULL;
        }
        bytes[i] = (unsigned char)(high << 4 | low);
        at += 2;
    }
#if PY_VERSION_HEX < 0x030D0000
    number = _PyLong_FromByteArray(bytes, 16, 0, 0);
#else
    number = PyLong_FromUnsignedNativeBytes(bytes, 16, Py_ASNATIVEBYTES_BIG_ENDIAN);
#endif
    if (number == NULL) {
        PyErr_Clear();
    }
    return number;
}

static int
althaia_is_alnum(Py_UCS1 c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* The end of a domain name of two or more labels of ASCII letters, digits and inner
 * hyphens, the last of at least two characters and not ending in a hyphen; NULL where the
 * text does not begin with one. All of it is within what upstream's expressions for e-mail
 * and URL allow. */
static const Py_UCS1 *
althaia_skip_domain(const Py_UCS1 *at, const Py_UCS1 *end)
{
    int labels = 0;
    for (;;) {
        const Py_UCS1 *start = at;
        while (at < end && (althaia_is_alnum(*at) || *at == '-')) {
            at++;
        }
        if (at == start || at - start > 63 || *start == '-' || at[-1] == '-') {
            return NULL;
        }
        labels++;
        if (at < end && *at == '.') {
            at++;
            continue;
        }
        return labels >= 2 && at - start >= 2 ? at : NULL;
    }
}

/* 1 where the text is an address of the common form, so that upstream's validate.Email is
 * sure to accept it; 0 says nothing. */
static int
althaia_email_is_plain(PyObject *text)
{
    const Py_UCS1 *at, *end, *start;
    if (!PyUnicode_IS_ASCII(text)) {
        return 0;
    }
    at = PyUnicode_1BYTE_DATA(text);
    end = at + PyUnicode_GET_LENGTH(text);
    for (;;) {
        start = at;
        while (at < end && (althaia_is_alnum(*at) || *at == '_' || *at == '-' || *at == '+')) {
            at++;
        }
        if (at == start || at == end) {
            return 0;
        }
        if (*at == '.') {
            at++;
            continue;
        }
        if (*at != '@') {
            return 0;
        }
        return althaia_skip_domain(at + 1, end) == end;
    }
}

/* 1 where the text is an http or https address of the common form, so that upstream's
 * validate.URL (absolute, either scheme allowed) is sure to accept it; 0 says nothing. */
static int
althaia_url_is_plain(PyObject *text)
{
    const Py_UCS1 *at, *end;
    if (!PyUnicode_IS_ASCII(text)) {
        return 0;
    }
    at = PyUnicode_1BYTE_DATA(text);
    end = at + PyUnicode_GET_LENGTH(text);
    if (end - at > 8 && memcmp(at, "https://", 8) == 0) {
        at += 8;
    }
    else if (end - at > 7 && memcmp(at, "http://", 7) == 0) {
        at += 7;
    }
    else {
        return 0;
    }
    at = althaia_skip_domain(at, end);
    if (at == NULL) {
        return 0;
    }
    if (at < end && *at == ':') {
        const Py_UCS1 *start = ++at;
        while (at < end && *at >= '0' && *at <= '9') {
            at++;
        }
        if (at == start) {
            return 0;
        }
    }
    if (at == end) {
        return 1;
    }
    if (*at != '/' && *at != '?' && *at != '#') {
        return 0;
    }
    /* A lone '?' or '#' is refused: one more character is asked for. */
    if (*at != '/' && at + 1 == end) {
        return 0;
    }
    while (++at < end) {
        if (*at <= ' ' || *at >= 127) {
            return 0;
        }
    }
    return 1;
}

/* ---- Recursion ---------------------------------------------------------------------- */

/* Begin a level of recursion: 0, or -1 with RecursionError set. Every 0 is matched by
 * althaia_leave(). */
static int
althaia_enter(void)
{
    if (althaia_check_stack() < 0) {
        return -1;
    }
    return Py_EnterRecursiveCall("");
}

static void
althaia_leave(void)
{
    Py_LeaveRecursiveCall();
}

#endif
