/* Formats and parses dates and times of RFC 5322 and of strftime without calling Python code.
 *
 * Formatting functions return the length, parsing functions return 1. All of them return 0 without
 * an error for values that must be left to Python code.
 */
#ifndef ALTHAIA_DATE_FORMATS_H
#define ALTHAIA_DATE_FORMATS_H

#include <Python.h>
#include <datetime.h>
#include <stdint.h>
#include <string.h>

#include "althaia/engine/kinds/moments.h"

static const char althaia_months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
static const char althaia_days[] = "MonTueWedThuFriSatSun";

static inline int
althaia_is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* date.toordinal(): the number of days from the year 1 on; the first one is a Monday. */
static int
althaia_ordinal(int year, int month, int day)
{
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    int past = year - 1;
    return past * 365 + past / 4 - past / 100 + past / 400 + before[month - 1]
        + (month > 2 && althaia_is_leap(year)) + day;
}

/* email.utils.format_datetime() of an exact datetime that is naive or in timezone.utc: 31
 * characters. */
static Py_ssize_t
althaia_format_rfc(PyObject *value, char *at)
{
    PyObject *zone = PyDateTime_DATE_GET_TZINFO(value);
    int year = PyDateTime_GET_YEAR(value);
    int month = PyDateTime_GET_MONTH(value);
    int day = PyDateTime_GET_DAY(value);
    if (zone != Py_None && zone != PyDateTime_TimeZone_UTC) {
        return 0;
    }
    memcpy(at, althaia_days + 3 * ((althaia_ordinal(year, month, day) + 6) % 7), 3);
    at[3] = ',';
    at[4] = ' ';
    althaia_two_digits(at + 5, day);
    at[7] = ' ';
    memcpy(at + 8, althaia_months + 3 * (month - 1), 3);
    at[11] = ' ';
    althaia_two_digits(at + 12, year / 100);
    althaia_two_digits(at + 14, year % 100);
    at[16] = ' ';
    althaia_put_time(at + 17, PyDateTime_DATE_GET_HOUR(value), PyDateTime_DATE_GET_MINUTE(value),
                     PyDateTime_DATE_GET_SECOND(value), 0);
    memcpy(at + 25, zone == Py_None ? " -0000" : " +0000", 6);
    return 31;
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

/* Parse text as althaia_format_rfc() writes it, with any time zone in whole minutes. `naive` is set
 * for -0000, which means that the time zone is unknown. */
static int
althaia_read_rfc(PyObject *text, althaia_moment *moment, int *zone, int *naive)
{
    const char *at;
    int i, hours, minutes;
    if (!PyUnicode_IS_ASCII(text) || PyUnicode_GET_LENGTH(text) != 31) {
        return 0;
    }
    at = (const char *)PyUnicode_1BYTE_DATA(text);
    for (i = 0; i < 7 && memcmp(at, althaia_days + 3 * i, 3) != 0; i++) {
    }
    if (i == 7 || memcmp(at + 3, ", ", 2) != 0 || at[7] != ' ' || at[11] != ' ' || at[16] != ' '
        || at[19] != ':' || at[22] != ':' || at[25] != ' ' || (at[26] != '+' && at[26] != '-')) {
        return 0;
    }
    for (i = 0; i < 12 && memcmp(at + 8, althaia_months + 3 * i, 3) != 0; i++) {
    }
    moment->month = i + 1;
    moment->year = althaia_number(at + 12, 4);
    moment->day = althaia_number(at + 5, 2);
    moment->hour = althaia_number(at + 17, 2);
    moment->minute = althaia_number(at + 20, 2);
    moment->second = althaia_number(at + 23, 2);
    moment->microsecond = 0;
    hours = althaia_number(at + 27, 2);
    minutes = althaia_number(at + 29, 2);
    /* email.utils interprets a year below 100 as one of 1969 to 2068. */
    if (moment->year < 100 || !althaia_is_moment(moment) || hours < 0 || hours > 22
        || minutes < 0 || minutes > 59) {
        return 0;
    }
    *zone = hours * 60 + minutes;
    *naive = *zone == 0 && at[26] == '-';
    if (at[26] == '-') {
        *zone = -*zone;
    }
    return 1;
}

/* datetime.timestamp() of an exact datetime that is naive, and then taken for UTC, or in
 * timezone.utc: microseconds since 1970 by one correctly rounded division, as Python does it. 0
 * where a C double does not hold them exactly. */
static int
althaia_timestamp(PyObject *value, double *number)
{
    PyObject *zone = PyDateTime_DATE_GET_TZINFO(value);
    int year = PyDateTime_GET_YEAR(value);
    int64_t total;
    if ((zone != Py_None && zone != PyDateTime_TimeZone_UTC) || year < 1800 || year > 2200) {
        return 0;
    }
    total = althaia_ordinal(year, PyDateTime_GET_MONTH(value), PyDateTime_GET_DAY(value)) - 719163;
    total = ((total * 24 + PyDateTime_DATE_GET_HOUR(value)) * 60
             + PyDateTime_DATE_GET_MINUTE(value)) * 60 + PyDateTime_DATE_GET_SECOND(value);
    total = total * 1000000 + PyDateTime_DATE_GET_MICROSECOND(value);
    *number = (double)total / 1e6;
    return 1;
}

#endif
