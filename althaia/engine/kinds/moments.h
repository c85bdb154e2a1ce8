/* Formats dates and times without calling Python code.
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

#endif
