/* Parses dates and times in the ISO forms that marshmallow read by its own regular expressions
 * before release 4, without calling Python code.
 *
 * The functions return 0 without an error for text that must be left to Python code: what does not
 * match, what is no date, and what has other characters than ASCII (`\d` matches digits of all
 * scripts).
 */
#ifndef ALTHAIA_OWN_ISO_H
#define ALTHAIA_OWN_ISO_H

#include <Python.h>

#include "althaia/engine/kinds/date_formats.h"

/* Read `least` to `most` digits at `*at`; -1 if there are fewer. Stops before `end`. */
static int
althaia_digits(const char **at, const char *end, int least, int most)
{
    int number = 0, found = 0;
    while (found < most && *at < end && **at >= '0' && **at <= '9') {
        number = number * 10 + (*(*at)++ - '0');
        found++;
    }
    return found < least ? -1 : number;
}

/* (\d{4})-(\d{1,2})-(\d{1,2}) */
static int
althaia_own_date(const char **at, const char *end, althaia_moment *moment)
{
    moment->year = althaia_digits(at, end, 4, 4);
    if (moment->year < 0 || *at == end || *(*at)++ != '-') {
        return 0;
    }
    moment->month = althaia_digits(at, end, 1, 2);
    if (moment->month < 0 || *at == end || *(*at)++ != '-') {
        return 0;
    }
    moment->day = althaia_digits(at, end, 1, 2);
    return moment->day >= 0;
}

/* (\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6})\d{0,6})?)? */
static int
althaia_own_time(const char **at, const char *end, althaia_moment *moment)
{
    const char *start;
    int width;
    moment->second = moment->microsecond = 0;
    moment->hour = althaia_digits(at, end, 1, 2);
    if (moment->hour < 0 || *at == end || *(*at)++ != ':') {
        return 0;
    }
    moment->minute = althaia_digits(at, end, 1, 2);
    if (moment->minute < 0) {
        return 0;
    }
    start = *at;
    if (start == end || *start != ':') {
        return 1;
    }
    ++*at;
    moment->second = althaia_digits(at, end, 1, 2);
    if (moment->second < 0) {
        moment->second = 0;
        *at = start;
        return 1;
    }
    start = *at;
    if (start == end || *start != '.') {
        return 1;
    }
    ++*at;
    moment->microsecond = althaia_digits(at, end, 1, 6);
    if (moment->microsecond < 0) {
        moment->microsecond = 0;
        *at = start;
        return 1;
    }
    for (width = (int)(*at - start) - 1; width < 6; width++) {
        moment->microsecond *= 10;
    }
    for (width = 0; width < 6 && *at < end && **at >= '0' && **at <= '9'; width++) {
        ++*at;
    }
    return 1;
}

/* (Z|[+-]\d{2}(?::?\d{2})?)?$ where `zone` is the offset in minutes. `kind` becomes ' ' without a
 * time zone, 'Z', or the sign. */
static int
althaia_own_zone(const char *at, const char *end, int *zone, char *kind)
{
    int hours, minutes = 0;
    *zone = 0;
    *kind = ' ';
    if (at == end) {
        return 1;
    }
    *kind = *at++;
    if (*kind == 'Z') {
        return at == end;
    }
    if (*kind != '+' && *kind != '-') {
        return 0;
    }
    hours = althaia_digits(&at, end, 2, 2);
    if (hours >= 0 && at != end) {
        at += *at == ':';
        minutes = althaia_digits(&at, end, 2, 2);
    }
    *zone = hours * 60 + minutes;
    if (*kind == '-') {
        *zone = -*zone;
    }
    /* timezone() refuses a day and more. */
    return hours >= 0 && minutes >= 0 && at == end && *zone > -1440 && *zone < 1440;
}

static inline const char *
althaia_ascii(PyObject *text, const char **end)
{
    const char *at;
    if (!PyUnicode_IS_ASCII(text)) {
        return NULL;
    }
    at = (const char *)PyUnicode_1BYTE_DATA(text);
    *end = at + PyUnicode_GET_LENGTH(text);
    return at;
}

static int
althaia_read_own_date(PyObject *text, althaia_moment *moment)
{
    const char *end, *at = althaia_ascii(text, &end);
    moment->hour = moment->minute = moment->second = moment->microsecond = 0;
    return at != NULL && althaia_own_date(&at, end, moment) && at == end
        && althaia_is_moment(moment);
}

/* What follows the time does not matter: the expression has no end. */
static int
althaia_read_own_time(PyObject *text, althaia_moment *moment)
{
    const char *end, *at = althaia_ascii(text, &end);
    moment->year = moment->month = moment->day = 1;
    return at != NULL && althaia_own_time(&at, end, moment) && althaia_is_moment(moment);
}

static int
althaia_read_own_datetime(PyObject *text, althaia_moment *moment, int *zone, char *kind)
{
    const char *end, *at = althaia_ascii(text, &end);
    if (at == NULL || !althaia_own_date(&at, end, moment) || at == end
        || (*at != 'T' && *at != ' ')) {
        return 0;
    }
    at++;
    return althaia_own_time(&at, end, moment) && althaia_own_zone(at, end, zone, kind)
        && althaia_is_moment(moment);
}

#endif
