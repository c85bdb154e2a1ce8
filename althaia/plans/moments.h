/* Dates, times and durations as text and numbers. */
#ifndef ALTHAIA_MOMENTS_H
#define ALTHAIA_MOMENTS_H

#include <Python.h>
#include <datetime.h>
#include <stdint.h>
#include <string.h>

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

#endif
