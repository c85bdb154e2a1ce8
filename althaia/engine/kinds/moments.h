/* Formats dates and times without calling Python code, and recognises text that is formatted so.
 *
 * The functions return the length. They return 0 without an error for values that must be left to
 * Python code.
 */
#ifndef ALTHAIA_MOMENTS_H
#define ALTHAIA_MOMENTS_H

#include <Python.h>
#include <datetime.h>
#include <stdint.h>
#include <string.h>

static inline void
althaia_two_digits(char *at, int number)
{
    at[0] = (char)('0' + number / 10);
    at[1] = (char)('0' + number % 10);
}

static inline char *
althaia_put_date(char *at, int year, int month, int day)
{
    althaia_two_digits(at, year / 100);
    althaia_two_digits(at + 2, year % 100);
    at[4] = '-';
    althaia_two_digits(at + 5, month);
    at[7] = '-';
    althaia_two_digits(at + 8, day);
    return at + 10;
}

static inline char *
althaia_put_time(char *at, int hour, int minute, int second, int microsecond)
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

/* date.isoformat() of an exact date or datetime: 10 characters. */
static Py_ssize_t
althaia_format_date(PyObject *value, char *at)
{
    return althaia_put_date(at, PyDateTime_GET_YEAR(value), PyDateTime_GET_MONTH(value),
                            PyDateTime_GET_DAY(value))
        - at;
}

/* datetime.isoformat() of an exact datetime that is naive or in timezone.utc: at most 32
 * characters; 0 for every other time zone. */
static Py_ssize_t
althaia_format_datetime(PyObject *value, char *at)
{
    char *end;
    PyObject *zone = PyDateTime_DATE_GET_TZINFO(value);
    if (zone != Py_None && zone != PyDateTime_TimeZone_UTC) {
        return 0;
    }
    end = althaia_put_date(at, PyDateTime_GET_YEAR(value), PyDateTime_GET_MONTH(value),
                           PyDateTime_GET_DAY(value));
    *end++ = 'T';
    end = althaia_put_time(end, PyDateTime_DATE_GET_HOUR(value),
                           PyDateTime_DATE_GET_MINUTE(value), PyDateTime_DATE_GET_SECOND(value),
                           PyDateTime_DATE_GET_MICROSECOND(value));
    if (zone != Py_None) {
        memcpy(end, "+00:00", 6);
        end += 6;
    }
    return end - at;
}

/* time.isoformat() of an exact naive time: at most 15 characters; 0 with a time zone. */
static Py_ssize_t
althaia_format_time(PyObject *value, char *at)
{
    if (PyDateTime_TIME_GET_TZINFO(value) != Py_None) {
        return 0;
    }
    return althaia_put_time(at, PyDateTime_TIME_GET_HOUR(value),
                            PyDateTime_TIME_GET_MINUTE(value), PyDateTime_TIME_GET_SECOND(value),
                            PyDateTime_TIME_GET_MICROSECOND(value))
        - at;
}

/* Return 1 if the text begins with the pattern, in which 0 stands for any digit. */
static int
althaia_follows(const char *at, const char *pattern)
{
    for (; *pattern != 0; pattern++, at++) {
        if (*pattern == '0' ? *at < '0' || *at > '9' : *at != *pattern) {
            return 0;
        }
    }
    return 1;
}

/* Return how many characters of a str are a date, a time or both in the form that isoformat()
 * writes, without a time zone; 0 if it has another form. */
static Py_ssize_t
althaia_iso_length(PyObject *text, int has_date, int has_time)
{
    const char *start, *at;
    if (!PyUnicode_IS_ASCII(text)) {
        return 0;
    }
    at = start = (const char *)PyUnicode_1BYTE_DATA(text);
    if (has_date) {
        if (!althaia_follows(at, "0000-00-00")) {
            return 0;
        }
        at += 10;
    }
    if (has_date && has_time && *at != 'T' && *at != ' ') {
        return 0;
    }
    at += has_date && has_time;
    if (has_time) {
        /* CPython 3.14 reads 24:00 as the next day. */
        if (!althaia_follows(at, "00:00:00") || memcmp(at, "24", 2) == 0) {
            return 0;
        }
        at += 8;
        if (*at == '.' && althaia_follows(at, ".0")) {
            const char *end = at + 7;
            for (at++; at < end && *at >= '0' && *at <= '9'; at++) {
            }
        }
    }
    return at - start;
}

/* ---- Formats of strftime and strptime ---------------------------------------------- */

/* The parts that text does not have, as strptime fills them in. A directive's digits have a place
 * of their own in it. */
#define ALTHAIA_MOMENT "1900-01-01T00:00:00.000000"
#define ALTHAIA_DIRECTIVES "YmdHMSf"

/* Store where a directive's digits are in a moment, and return how many. */
static inline int
althaia_digits_of(char directive, int *place)
{
    static const unsigned char places[] = {0, 5, 8, 11, 14, 17, 20};
    *place = places[strchr(ALTHAIA_DIRECTIVES, directive) - ALTHAIA_DIRECTIVES];
    return directive == 'Y' ? 4 : directive == 'f' ? 6 : 2;
}

/* Return 1 if the functions below give the results of Python's strftime, with any C library and
 * locale, and strptime for this format, in at most `room` characters. It may have certain
 * directives only, each once, and ASCII characters without a special meaning. */
static int
althaia_is_plain_format(PyObject *format, Py_ssize_t room)
{
    const char *at, *end;
    int seen[128] = {0}, place;
    if (!PyUnicode_IS_ASCII(format)) {
        return 0;
    }
    at = (const char *)PyUnicode_1BYTE_DATA(format);
    end = at + PyUnicode_GET_LENGTH(format);
    for (; at < end; at++) {
        int directive = *at == '%';
        at += directive;
        if (at == end || *at == 0
            || strchr(directive ? ALTHAIA_DIRECTIVES : " -/.,:;_TZ", *at) == NULL
            || (directive && seen[(int)*at]++)) {
            return 0;
        }
        room -= directive ? althaia_digits_of(*at, &place) : 1;
    }
    return room >= 0;
}

/* Write a moment in a plain format, and return the length. */
static Py_ssize_t
althaia_write_format(const char *moment, PyObject *format, char *at)
{
    const char *from = (const char *)PyUnicode_1BYTE_DATA(format), *start = at;
    int place, digits;
    for (; *from != 0; from++) {
        if (*from == '%') {
            digits = althaia_digits_of(*++from, &place);
            memcpy(at, moment + place, (size_t)digits);
            at += digits;
        }
        else {
            *at++ = *from;
        }
    }
    return at - start;
}

/* Read text in a plain format with all digits present, and return 1. The regular expression of
 * strptime matches such text in the same way first. Return 0 for other text. */
static int
althaia_read_format(PyObject *text, PyObject *format, char *moment)
{
    const char *from = (const char *)PyUnicode_1BYTE_DATA(format), *at;
    int place, digits;
    if (!PyUnicode_IS_ASCII(text)) {
        return 0;
    }
    memcpy(moment, ALTHAIA_MOMENT, sizeof(ALTHAIA_MOMENT));
    at = (const char *)PyUnicode_1BYTE_DATA(text);
    for (; *from != 0; from++, at++) {
        if (*from == '%') {
            digits = althaia_digits_of(*++from, &place);
            if (!althaia_follows(at, "000000" + (6 - digits))) {
                return 0;
            }
            memcpy(moment + place, at, (size_t)digits);
            at += digits - 1;
        }
        else if (*at != *from) {
            return 0;
        }
    }
    /* CPython 3.14 reads 24:00 as the next day. */
    return at - (const char *)PyUnicode_1BYTE_DATA(text) == PyUnicode_GET_LENGTH(text)
        && memcmp(moment + 11, "24", 2) != 0;
}

#endif
