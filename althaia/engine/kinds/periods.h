/* Timedeltas as numbers, without calling Python code.
 *
 * The functions return 0 without an error for values that must be left to Python code.
 */
#ifndef ALTHAIA_PERIODS_H
#define ALTHAIA_PERIODS_H

#include <Python.h>
#include <datetime.h>
#include <stdint.h>

/* The microseconds of an exact timedelta of at most `most` days, which must fit. */
static inline int
althaia_microseconds(PyObject *value, int64_t most, int64_t *total)
{
    int64_t days = PyDateTime_DELTA_GET_DAYS(value);
    if (days > most || days < -most) {
        return 0;
    }
    *total = (days * 86400 + PyDateTime_DELTA_GET_SECONDS(value)) * 1000000
        + PyDateTime_DELTA_GET_MICROSECONDS(value);
    return 1;
}

/* An exact timedelta in units of `unit` microseconds, as Python's int / int gives it: one
 * correctly rounded division. 0 where C doubles cannot hold both sides exactly. `unit` is
 * below 2**53. */
static int
althaia_timedelta(PyObject *value, int64_t unit, double *number)
{
    int64_t total;
    if (!althaia_microseconds(value, 100000, &total)) {
        return 0;
    }
    *number = (double)total / (double)unit;
    return 1;
}

/* timedelta // unit, in microseconds, rounded down as Python does it. */
static int
althaia_timedelta_units(PyObject *value, int64_t unit, int64_t *number)
{
    int64_t total;
    if (!althaia_microseconds(value, 100000000, &total)) {
        return 0;
    }
    *number = total / unit - (total % unit < 0);
    return 1;
}

#endif
