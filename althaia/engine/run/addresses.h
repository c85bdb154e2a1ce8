/* Recognizes e-mail and web addresses of common forms without a regular expression. */
#ifndef ALTHAIA_ADDRESSES_H
#define ALTHAIA_ADDRESSES_H

#include <Python.h>
#include <string.h>

/* Return the end of the domain name at `at`; NULL if there is none. It has two or more labels of
 * ASCII letters, digits and inner hyphens; the last one has at least two characters. Upstream's
 * regular expressions for e-mail and URL accept every such name. */
static const Py_UCS1 *
althaia_skip_domain(const Py_UCS1 *at, const Py_UCS1 *end)
{
    int labels = 0;
    for (;;) {
        const Py_UCS1 *start = at;
        while (Py_ISALNUM(*at) || *at == '-') {
            at++;
        }
        if (at == start || at - start > 63 || *start == '-' || at[-1] == '-') {
            return NULL;
        }
        labels++;
        if (*at == '.') {
            at++;
            continue;
        }
        return labels >= 2 && at - start >= 2 ? at : NULL;
    }
}

/* No mail server takes a longer address. A longer text is not walked: the validator refuses one
 * without an '@' at once. */
#define ALTHAIA_LONGEST_EMAIL 320

/* Return 1 if the text is an address of the common form, which upstream's validate.Email always
 * accepts. 0 means "unknown": the validator must be called. */
static int
althaia_email_is_plain(PyObject *text)
{
    const Py_UCS1 *at, *end, *start;
    if (!PyUnicode_IS_ASCII(text) || PyUnicode_GET_LENGTH(text) > ALTHAIA_LONGEST_EMAIL) {
        return 0;
    }
    at = PyUnicode_1BYTE_DATA(text);
    end = at + PyUnicode_GET_LENGTH(text);
    for (;;) {
        start = at;
        while (Py_ISALNUM(*at) || *at == '_' || *at == '-' || *at == '+') {
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

/* Return 1 if the text is an http or https address of the common form, which upstream's
 * validate.URL (absolute, either scheme allowed) always accepts. 0 means "unknown": the validator
 * must be called. `fragments`: whether '#' may directly follow the host. */
static int
althaia_url_is_plain(PyObject *text, int fragments)
{
    const Py_UCS1 *at, *end;
    if (!PyUnicode_IS_ASCII(text)) {
        return 0;
    }
    at = PyUnicode_1BYTE_DATA(text);
    end = at + PyUnicode_GET_LENGTH(text);
    if (strncmp((const char *)at, "https://", 8) == 0) {
        at += 8;
    }
    else if (strncmp((const char *)at, "http://", 7) == 0) {
        at += 7;
    }
    else {
        return 0;
    }
    at = althaia_skip_domain(at, end);
    if (at == NULL) {
        return 0;
    }
    if (*at == ':') {
        const Py_UCS1 *start = ++at;
        while (Py_ISDIGIT(*at)) {
            at++;
        }
        if (at == start) {
            return 0;
        }
    }
    if (at == end) {
        return 1;
    }
    if (*at != '/' && *at != '?' && !(*at == '#' && fragments)) {
        return 0;
    }
    /* Upstream requires at least one character after '?' or '#'. */
    if (*at != '/' && at + 1 == end) {
        return 0;
    }
    do {
        at++;
    } while (*at > ' ' && *at < 127);
    return at == end;
}

#endif
