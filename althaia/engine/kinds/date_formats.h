/* Formats and parses dates and times by a strftime format without calling Python code.
 *
 * Formatting functions return the length, parsing functions return 1. All of them return 0 without
 * an error for values that must be left to Python code.
 */
#ifndef ALTHAIA_DATE_FORMATS_H
#define ALTHAIA_DATE_FORMATS_H

#include <Python.h>
#include <string.h>

#include "althaia/engine/kinds/moments.h"

static inline int
althaia_is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* The parts of a moment. */
typedef struct {
    int year, month, day, hour, minute, second, microsecond;
} althaia_moment;

/* Return 1 if the functions below give the results of Python's strftime, with any C library and
 * locale, and strptime for this format. It may have certain directives only, and ASCII characters
 * without a special meaning. */
static int
althaia_is_plain_format(PyObject *format)
{
    const char *at, *end;
    int seen[128] = {0};
    if (!PyUnicode_IS_ASCII(format)) {
        return 0;
    }
    at = (const char *)PyUnicode_1BYTE_DATA(format);
    end = at + PyUnicode_GET_LENGTH(format);
    while (at < end) {
        if (*at == '%') {
            at++;
            if (at == end || strchr("YmdHMSf", *at) == NULL || *at == 0 || seen[(int)*at]++) {
                return 0;
            }
        }
        else if (*at == 0 || strchr(" -/.,:;_TZ", *at) == NULL) {
            return 0;
        }
        at++;
    }
    return 1;
}

/* value.strftime(format) for a plain format; `room` characters at most. */
static Py_ssize_t
althaia_format_by_pattern(const althaia_moment *moment, PyObject *format, char *at, Py_ssize_t room)
{
    const char *from = (const char *)PyUnicode_1BYTE_DATA(format);
    const char *end = from + PyUnicode_GET_LENGTH(format);
    const char *start = at;
    for (; from < end; from++) {
        if (at - start > room - 6) {
            return 0;
        }
        if (*from != '%') {
            *at++ = *from;
            continue;
        }
        switch (*++from) {
        case 'Y':
            althaia_two_digits(at, moment->year / 100);
            at += 2;
            althaia_two_digits(at, moment->year % 100);
            break;
        case 'm':
            althaia_two_digits(at, moment->month);
            break;
        case 'd':
            althaia_two_digits(at, moment->day);
            break;
        case 'H':
            althaia_two_digits(at, moment->hour);
            break;
        case 'M':
            althaia_two_digits(at, moment->minute);
            break;
        case 'S':
            althaia_two_digits(at, moment->second);
            break;
        default:
            althaia_two_digits(at, moment->microsecond / 10000);
            althaia_two_digits(at + 2, moment->microsecond / 100 % 100);
            at += 4;
            althaia_two_digits(at, moment->microsecond % 100);
        }
        at += 2;
    }
    return at - start;
}

/* Return the value of `digits` ASCII digits; -1 if there are other characters. */
static int
althaia_number(const char *at, int digits)
{
    int number = 0;
    for (; digits > 0; digits--, at++) {
        if (*at < '0' || *at > '9') {
            return -1;
        }
        number = number * 10 + (*at - '0');
    }
    return number;
}

/* Return 1 if datetime accepts these parts. */
static int
althaia_is_moment(const althaia_moment *moment)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int leap = althaia_is_leap(moment->year);
    return moment->year >= 1 && moment->month >= 1 && moment->month <= 12 && moment->day >= 1
        && moment->day <= lengths[moment->month - 1] + (moment->month == 2 && leap)
        && moment->hour >= 0 && moment->hour <= 23 && moment->minute >= 0 && moment->minute <= 59
        && moment->second >= 0 && moment->second <= 59;
}

/* Parse text in a plain format with all digits present. The regular expression of strptime matches
 * such text in the same way first. */
static int
althaia_read_format(PyObject *text, PyObject *format, althaia_moment *moment)
{
    const char *from, *end, *at, *stop;
    althaia_moment found = {1900, 1, 1, 0, 0, 0, 0};
    if (!PyUnicode_IS_ASCII(text)) {
        return 0;
    }
    at = (const char *)PyUnicode_1BYTE_DATA(text);
    stop = at + PyUnicode_GET_LENGTH(text);
    from = (const char *)PyUnicode_1BYTE_DATA(format);
    end = from + PyUnicode_GET_LENGTH(format);
    for (; from < end; from++) {
        int width = 1;
        int *part = NULL;
        if (*from == '%') {
            from++;
            width = *from == 'Y' ? 4 : *from == 'f' ? 6 : 2;
            part = *from == 'Y' ? &found.year
                : *from == 'm'  ? &found.month
                : *from == 'd'  ? &found.day
                : *from == 'H'  ? &found.hour
                : *from == 'M'  ? &found.minute
                : *from == 'S'  ? &found.second
                                : &found.microsecond;
        }
        if (stop - at < width) {
            return 0;
        }
        if (part == NULL) {
            if (*at != *from) {
                return 0;
            }
        }
        else {
            *part = althaia_number(at, width);
            if (*part < 0) {
                return 0;
            }
        }
        at += width;
    }
    if (at != stop || !althaia_is_moment(&found)) {
        return 0;
    }
    *moment = found;
    return 1;
}

#endif
