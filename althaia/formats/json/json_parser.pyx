"""Parses JSON text into a tape, and ``loads`` without a schema.

If the text may be invalid, the standard library's scanner reads it again, from the innermost
container on, and makes the exception. Hence messages and limits are those of the running
interpreter. It is data until the last function raises it: leaving compiled functions takes longer.
"""

cdef extern from "althaia/formats/words.h":
    Py_ssize_t althaia_plain_run(const uint8_t* text, Py_ssize_t size, uint64_t* seen)
    bint althaia_bytes_are_ascii(const uint8_t* text, ptrdiff_t size)
    void althaia_mark(int kind, const void* text, ptrdiff_t size, char* marks)

cdef extern from "althaia/formats/json/unquoting.h":
    PyObject* althaia_unquoted(
        object owner, const uint8_t* text, Py_ssize_t start, Py_ssize_t at, Py_ssize_t size,
        uint64_t seen, Py_ssize_t* after
    ) except? NULL

cdef extern from "althaia/formats/json/doubles.h":
    void althaia_make_tens()
    bint althaia_nearest(uint64_t digits, int places, double* number)

cdef extern from "althaia/cpython/stack.h":
    ctypedef struct althaia_thread_state:
        size_t floor

    size_t ALTHAIA_HERE()
    althaia_thread_state althaia_thread

cdef enum:
    # Text nested deeper is left to the standard library, whose limit depends on the stack. It does
    # not check how much is left; with this much it reaches its own recursion limit first.
    MOST_DEPTH = 1024
    MUCH_STACK = 4 << 20
    # Longer numbers are left to the standard library. The interpreter may refuse integers with more
    # digits: sys.set_int_max_str_digits() accepts no limit below 640.
    MOST_DIGITS = 640
    # Any 18 digits fit into a signed integer of 64 bits, any 19 into an unsigned one.
    MOST_WHOLE_DIGITS = 18
    MOST_REAL_DIGITS = 19

# The highest bit of each byte of a word.
cdef uint64_t HIGH_BITS = 0x8080808080808080
# A bit for each white-space character.
cdef uint64_t WHITE_SPACE = 1 << c" " | 1 << c"\n" | 1 << c"\r" | 1 << c"\t"

althaia_make_tens()

# The size in a slot has 32 bits.
cdef Py_ssize_t MOST_TEXT = 0x7FFFFFFF


def json_loads(s, **options):
    """Return or raise what ``json.loads`` does for the same arguments, faster.

    :param s: a ``str``, ``bytes`` or ``bytearray`` that holds one JSON document; bytes in UTF-8,
        UTF-16 or UTF-32.
    :param options: those of ``json.loads``, which is called if there is one, or if a program has
        replaced a part of ``json``.
    :raises json.JSONDecodeError: the text is not valid JSON; message and position are the standard
        library's.

    >>> from althaia import json
    >>> json.loads('{"symbol": "ACME", "prices": [1, 2.5]}')
    {'symbol': 'ACME', 'prices': [1, 2.5]}
    """
    cdef Tape tape = None if options else parse_json(s)
    if tape is None:
        return standard(json.loads, LOADS)(s, **options)
    if tape.failure is not None:
        raise tape.failure
    return tape.make(0)


cdef Tape parse_json(text):
    """Return the tape of a JSON document, or None if ``json.loads`` must be called.

    Runs no user code. Accepts only exact ``str``, ``bytes`` and ``bytearray``.

    :raises RecursionError: ``json.loads`` would overflow the stack of this thread.
    """
    cdef Tape tape
    cdef Py_ssize_t size
    if not shipped or not decoder.holds():
        return None
    if type(text) is str:
        owner = text
        if (<str>owner).startswith("\ufeff"):
            return refused("Unexpected UTF-8 BOM (decode using utf-8-sig)", owner, 0)
    elif type(text) is bytes or type(text) is bytearray:
        try:
            owner = decoded(text)
        except UnicodeDecodeError as error:
            return refusal(error)
    else:
        return None
    size = len(<str>owner)
    if size > MOST_TEXT:
        return None
    tape = Tape.__new__(Tape)
    tape.owner = owner
    tape.text = <const uint8_t*>PyUnicode_DATA(owner)
    if PyUnicode_KIND(owner) > 1:
        tape.marks = PyBytes_FromStringAndSize(NULL, size)
        althaia_mark(PyUnicode_KIND(owner), tape.text, size, PyBytes_AS_STRING(tape.marks))
        tape.text = <const uint8_t*>PyBytes_AS_STRING(tape.marks)
    if scan(tape, tape.text, size):
        return tape
    return scanned(owner, tape.text, size, tape.reached)


cdef Tape scanned(str owner, const uint8_t* text, Py_ssize_t size, start):
    """Return a tape with the value that json's scanner reads, or with its exception.

    :param start: where it starts: at the document, or at a container in which the error is.
    """
    cdef Tape tape
    try:
        value, end = scan_once(owner, start)
    except StopIteration as stop:
        tape = refused("Expecting value", owner, stop.value)
        tape.failure.__cause__ = None
        tape.failure.__context__ = stop
        return tape
    except Exception as error:
        return refusal(error)
    if start > skip(text, 0):
        # There is no error in it: only the parser here does not know it.
        return scanned(owner, text, size, skip(text, 0))
    end = skip(text, end)
    if end != size:
        return refused("Extra data", owner, end)
    tape = Tape.__new__(Tape)
    put_object(tape, value)
    return tape


cdef Tape refused(str message, str text, at):
    """Return the tape of text that is no JSON."""
    return refusal(decode_error(message, text, at))


cdef Tape refusal(failure):
    cdef Tape tape = Tape.__new__(Tape)
    tape.failure = failure
    return tape


cdef decoded(text):
    """Return the text of a JSON document in UTF-8, UTF-16 or UTF-32."""
    cdef bytes start = bytes(text[:2])
    # UTF-16 and UTF-32 have a zero among the first two bytes, or begin with a byte order mark.
    cdef bytes encoding = b"utf-8" if (
        len(start) < 2 or (0 < start[0] < 0x80 and start[1] != 0)
    ) else json.detect_encoding(text).encode()
    return PyUnicode_FromEncodedObject(text, encoding, "surrogatepass")


# ---- The parser ---------------------------------------------------------------------
#
# CPython stores a zero after the characters of a str and of bytes. It is neither white space nor
# part of a token, so that every loop ends there. Hence `size` is compared only at the end.


cdef inline Py_ssize_t skip(const uint8_t* text, Py_ssize_t at) noexcept:
    """Return the index after the white space at ``at``."""
    while text[at] <= c" " and WHITE_SPACE >> text[at] & 1:
        at += 1
    return at


cdef bint scan(Tape tape, const uint8_t* text, Py_ssize_t size):
    """Fill the tape. Return False if json's scanner must say whether the text is valid."""
    cdef Py_ssize_t containers[MOST_DEPTH]
    cdef int depth = 0
    cdef Py_ssize_t at = 0
    cdef uint8_t here
    cdef Slot* container
    tape.reached = skip(text, 0)
    while True:
        # A value begins.
        at = skip(text, at)
        here = text[at]
        if here == c"{" or here == c"[":
            if depth == MOST_DEPTH:
                althaia_check_stack()
                if ALTHAIA_HERE() - althaia_thread.floor < MUCH_STACK:
                    raise RecursionError("maximum recursion depth exceeded: the stack is used up")
                return False
            containers[depth] = tape.count
            tape.reached = at
            depth += 1
            append_slot(tape, RECORD if here == c"{" else ARRAY).content.start = at
            at = skip(text, at + 1)
            if here == c"{" and text[at] != c"}":
                at = read_key(tape, text, at, size)
                if at < 0:
                    return False
                continue
            if here == c"[" and text[at] != c"]":
                continue
        else:
            at = read_scalar(tape, text, at, size)
            if at < 0:
                return False
            if depth:
                tape.slots[containers[depth - 1]].size += 1
        # A value has ended, or an empty container ends here.
        while True:
            if depth == 0:
                at = skip(text, at)
                return at == size
            at = skip(text, at)
            here = text[at]
            at += 1
            container = &tape.slots[containers[depth - 1]]
            if here == c",":
                if container.type == RECORD:
                    at = read_key(tape, text, skip(text, at), size)
                    if at < 0:
                        return False
                break
            if here != <uint32_t>(c"}" if container.type == RECORD else c"]"):
                return False
            container.content.next = tape.count
            depth -= 1
            if depth:
                container = &tape.slots[containers[depth - 1]]
                container.size += 1
                tape.reached = container.content.start


cdef inline Py_ssize_t read_key(
    Tape tape, const uint8_t* text, Py_ssize_t at, Py_ssize_t size
) except? -1:
    """Return the index after a key and its colon, or -1 if there is none."""
    if text[at] != c'"':
        return -1
    at = read_text(tape, text, at + 1, size)
    if at < 0:
        return -1
    at = skip(text, at)
    return at + 1 if text[at] == c":" else -1


cdef inline Py_ssize_t read_scalar(
    Tape tape, const uint8_t* text, Py_ssize_t at, Py_ssize_t size
) except? -1:
    """Return the index after a value that is no container, or -1 if there is none."""
    cdef uint8_t here = text[at]
    if here == c'"':
        return read_text(tape, text, at + 1, size)
    if here == c"-" or c"0" <= here <= c"9":
        return read_number(tape, text, at)
    if here == c"n":
        return read_word(tape, text, at, b"null", NONE)
    if here == c"t":
        return read_word(tape, text, at, b"true", TRUE)
    if here == c"f":
        return read_word(tape, text, at, b"false", FALSE)
    if here == c"N":
        return read_word(tape, text, at, b"NaN", OBJECT)
    return read_word(tape, text, at, b"Infinity", OBJECT)


cdef Py_ssize_t read_word(
    Tape tape, const uint8_t* text, Py_ssize_t at, const char* word, uint8_t type_
) except? -1:
    """Return the index after a word, or -1 if it is not there. The type of those that only json has
    is OBJECT."""
    cdef Py_ssize_t size = 0
    while word[size] != 0:
        if text[at + size] != <uint8_t>word[size]:
            return -1
        size += 1
    if type_ == OBJECT:
        put_object(tape, find_constant(word[:size].decode()))
    else:
        append_slot(tape, type_)
    return at + size


cdef inline Py_ssize_t read_text(
    Tape tape, const uint8_t* text, Py_ssize_t start, Py_ssize_t size
) except? -1:
    """Return the index after the quote that ends the string from ``start`` on, or -1."""
    cdef uint64_t seen = 0
    cdef Py_ssize_t at = start + althaia_plain_run(text + start, size - start, &seen)
    if text[at] != c'"' or seen & HIGH_BITS:
        return read_odd_text(tape, text, start, size, at, seen)
    return put_characters(tape, start, at)


cdef inline Py_ssize_t put_characters(Tape tape, Py_ssize_t start, Py_ssize_t end) except? -1:
    """Append text up to the quote at ``end``, and return the index after it."""
    cdef Slot* slot = append_slot(tape, TEXT)
    slot.content.start = start
    slot.size = <uint32_t>(end - start)
    return end + 1


cdef Py_ssize_t read_odd_text(
    Tape tape, const uint8_t* text, Py_ssize_t start, Py_ssize_t size, Py_ssize_t at, uint64_t seen
) except? -1:
    """Do the same for text with escapes, beyond ASCII, or near the end of the document. It is read
    up to ``at``, and has the bits of ``seen`` so far."""
    cdef Py_ssize_t after = -1
    cdef PyObject* made
    while True:
        at += althaia_plain_run(text + at, size - at, &seen)
        if text[at] == c'"':
            break
        if text[at] < 0x20:
            return -1
        if text[at] == c"\\":
            made = althaia_unquoted(tape.owner, text, start, at, size, seen, &after)
            if made is not NULL:
                put_object(tape, <object>made)
                Py_DECREF(<object>made)
            return after
        seen |= text[at]
        at += 1
    if seen & HIGH_BITS == 0:
        return put_characters(tape, start, at)
    put_object(tape, PyUnicode_Substring(tape.owner, start, at))
    return at + 1


cdef Py_ssize_t read_number(Tape tape, const uint8_t* text, Py_ssize_t start) except? -1:
    """Return the index after the number that begins at ``start``, or -1 if it is invalid."""
    cdef bint negative = text[start] == c"-", real = False, scaled = False
    cdef Py_ssize_t at = start + negative, first = at, point = 0, digits
    cdef uint64_t value = 0
    cdef double number
    cdef char* end
    if text[at] == c"0":
        at += 1
    elif c"1" <= text[at] <= c"9":
        while c"0" <= text[at] <= c"9":
            value = value * 10 + (text[at] - c"0")
            at += 1
    elif negative and text[at] == c"I":
        return read_word(tape, text, start, b"-Infinity", OBJECT)
    else:
        return -1
    digits = at - first
    if text[at] == c".":
        real = True
        at += 1
        point = at
        while c"0" <= text[at] <= c"9":
            value = value * 10 + (text[at] - c"0")
            at += 1
        if at == point:
            return -1
        digits += at - point
        point = at - point
    if text[at] == c"e" or text[at] == c"E":
        real = scaled = True
        at += 2 if text[at + 1] == c"+" or text[at + 1] == c"-" else 1
        first = at
        while c"0" <= text[at] <= c"9":
            at += 1
        if at == first:
            return -1
    if at - start > MOST_DIGITS:
        return -1
    if real:
        if scaled or digits > MOST_REAL_DIGITS or not althaia_nearest(value, <int>point, &number):
            number = PyOS_string_to_double(<const char*>text + start + negative, &end, NULL)
        append_slot(tape, REAL).content.real = -number if negative else number
    elif digits <= MOST_WHOLE_DIGITS:
        append_slot(tape, WHOLE).content.whole = -<int64_t>value if negative else <int64_t>value
    else:
        put_object(tape, int((<const char*>text)[start:at]))
    return at
