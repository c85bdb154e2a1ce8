/* Writes and reads dates and times without calling Python code.
 *
 * The functions return the length of the text. They return 0 without an error for what must be left
 * to Python code.
 */
#ifndef ALTHAIA_MOMENTS_H
#define ALTHAIA_MOMENTS_H

#include <Python.h>
#include <datetime.h>
#include <string.h>

static inline void
althaia_two_digits(char *at, int number)
{
    at[0] = (char)('0' + number / 10);
    at[1] = (char)('0' + number % 10);
}

static inline char *
althaia_put_date(char *at, PyObject *value)
{
    int year = PyDateTime_GET_YEAR(value);
    althaia_two_digits(at, year / 100);
    althaia_two_digits(at + 2, year % 100);
    at[4] = '-';
    althaia_two_digits(at + 5, PyDateTime_GET_MONTH(value));
    at[7] = '-';
    althaia_two_digits(at + 8, PyDateTime_GET_DAY(value));
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

/* Write cls.isoformat(value) for datetime, date or time: at most 32 characters. The value must be of
 * exactly this class (for date a datetime will do), naive or a datetime in timezone.utc. */
static Py_ssize_t
althaia_write_iso(PyObject *value, PyTypeObject *cls, char *at)
{
    char *end;
    PyObject *zone;
    if (cls == PyDateTimeAPI->DateType) {
        return PyDate_CheckExact(value) || PyDateTime_CheckExact(value)
            ? althaia_put_date(at, value) - at : 0;
    }
    if (cls == PyDateTimeAPI->TimeType) {
        if (!PyTime_CheckExact(value) || PyDateTime_TIME_GET_TZINFO(value) != Py_None) {
            return 0;
        }
        return althaia_put_time(at, PyDateTime_TIME_GET_HOUR(value),
                                PyDateTime_TIME_GET_MINUTE(value),
                                PyDateTime_TIME_GET_SECOND(value),
                                PyDateTime_TIME_GET_MICROSECOND(value))
            - at;
    }
    if (!PyDateTime_CheckExact(value)) {
        return 0;
    }
    zone = PyDateTime_DATE_GET_TZINFO(value);
    if (zone != Py_None && zone != PyDateTime_TimeZone_UTC) {
        return 0;
    }
    end = althaia_put_date(at, value);
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

/* ---- Formats ------------------------------------------------------------------------
 *
 * A directive stands for digits at a place in an ISO moment. In a format to read, '?' is a T or a
 * space, and '*' the fraction of a second if there is one.
 */
enum { YEAR = 0, MONTH = 5, DAY = 8, HOUR = 11, MINUTE = 14, SECOND = 17, MICROSECOND = 20 };

static inline int
althaia_place_of(char directive)
{
    static const char directives[] = "Y    m  d  H  M  S  f";
    return (int)(strchr(directives, directive) - directives);
}

static inline int
althaia_digits_at(int place)
{
    return place == YEAR ? 4 : place == MICROSECOND ? 6 : 2;
}

/* Write value.strftime(format) for an exact date, time or datetime as above; 0 for years of fewer
 * than four digits, which C libraries format in different ways. */
static Py_ssize_t
althaia_write_format(PyObject *value, PyObject *format, char *at)
{
    const char *from = (const char *)PyUnicode_1BYTE_DATA(format), *start = at;
    const char *end = from + PyUnicode_GET_LENGTH(format);
    char moment[] = "1900-01-01T00:00:00.000000+00:00";
    char *whole = PyTime_CheckExact(value) ? moment + HOUR : moment;
    if (althaia_write_iso(value, Py_TYPE(value), whole) == 0 || moment[YEAR] == '0') {
        return 0;
    }
    if (moment[SECOND + 2] == '+') {
        memcpy(moment + MICROSECOND, "000000", 6);
    }
    for (; from < end; from++) {
        if (*from == '%') {
            int place = althaia_place_of(*++from);
            memcpy(at, moment + place, (size_t)althaia_digits_at(place));
            at += althaia_digits_at(place);
        }
        else {
            *at++ = *from;
        }
    }
    return at - start;
}

/* Read a str by a format with all digits present, and store the numbers by their places. */
static Py_ssize_t
althaia_read_format(PyObject *text, PyObject *format, int *numbers)
{
    const char *from = (const char *)PyUnicode_1BYTE_DATA(format), *at;
    const char *end = from + PyUnicode_GET_LENGTH(format);
    if (!PyUnicode_IS_ASCII(text)) {
        return 0;
    }
    memset(numbers, 0, (MICROSECOND + 1) * sizeof(int));
    numbers[YEAR] = 1900;
    numbers[MONTH] = numbers[DAY] = 1;
    at = (const char *)PyUnicode_1BYTE_DATA(text);
    for (; from < end; from++) {
        if (*from == '%') {
            int number = 0, place = althaia_place_of(*++from);
            for (int digits = althaia_digits_at(place); digits > 0; digits--, at++) {
                if (!Py_ISDIGIT(*at)) {
                    return 0;
                }
                number = number * 10 + (*at - '0');
            }
            numbers[place] = number;
        }
        else if (*from == '*') {
            if (at[0] == '.' && Py_ISDIGIT(at[1])) {
                at++;
                for (int unit = 100000; unit > 0 && Py_ISDIGIT(*at); unit /= 10) {
                    numbers[MICROSECOND] += (*at++ - '0') * unit;
                }
            }
        }
        else if (*from == '?' ? *at == 'T' || *at == ' ' : *at == *from) {
            at++;
        }
        else {
            return 0;
        }
    }
    return at - (const char *)PyUnicode_1BYTE_DATA(text);
}

/* Do moment.replace(tzinfo=zone) for an exact datetime. */
static PyObject *
althaia_in_zone(PyObject *moment, PyObject *zone)
{
    return PyDateTimeAPI->DateTime_FromDateAndTimeAndFold(
        PyDateTime_GET_YEAR(moment), PyDateTime_GET_MONTH(moment), PyDateTime_GET_DAY(moment),
        PyDateTime_DATE_GET_HOUR(moment), PyDateTime_DATE_GET_MINUTE(moment),
        PyDateTime_DATE_GET_SECOND(moment), PyDateTime_DATE_GET_MICROSECOND(moment), zone,
        PyDateTime_DATE_GET_FOLD(moment), PyDateTimeAPI->DateTimeType);
}

/* Make a datetime, date or time of numbers by their places; ValueError if it does not exist. */
static PyObject *
althaia_new_moment(const int *numbers, PyObject *zone, PyTypeObject *cls)
{
    if (cls == PyDateTimeAPI->DateType) {
        return PyDate_FromDate(numbers[YEAR], numbers[MONTH], numbers[DAY]);
    }
    if (cls == PyDateTimeAPI->TimeType) {
        return PyTime_FromTime(numbers[HOUR], numbers[MINUTE], numbers[SECOND],
                               numbers[MICROSECOND]);
    }
    return PyDateTimeAPI->DateTime_FromDateAndTime(
        numbers[YEAR], numbers[MONTH], numbers[DAY], numbers[HOUR], numbers[MINUTE],
        numbers[SECOND], numbers[MICROSECOND], zone, cls);
}

#endif
