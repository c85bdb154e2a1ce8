"""Parses MessagePack into a tape, and ``loads`` without a schema, which reads JSON as well.

The format: https://github.com/msgpack/msgpack/blob/master/spec.md
"""

cdef enum:
    # The limit of the msgpack package; of its writer from release 1.2 on.
    MOST_LEVELS = 1024


class MessagePackDecodeError(ValueError):
    """The bytes are not valid MessagePack, or are incomplete.

    :ivar msg: the reason.
    :ivar pos: the position of the first byte that is wrong, counted from 0.
    """

    __module__ = "althaia.msgpack"

    def __init__(self, msg, pos):
        super().__init__(f"{msg} (byte {pos})")
        self.msg = msg
        self.pos = pos

    def __reduce__(self):
        return type(self), (self.msg, self.pos)


def msgpack_loads(s, **options):
    """Return what the ``msgpack`` package's ``unpackb(s)`` or ``json.loads(s)`` returns.

    The first byte decides: each MessagePack value of more than one byte begins with a byte with
    which JSON text never begins. A single byte is MessagePack. Hence a store can be converted from
    one format to the other, entry by entry.

    :param s: ``bytes``, ``bytearray`` or another object with the buffer protocol; ``str`` is JSON.
    :param options: options of :func:`json.loads`, for JSON only.
    :raises MessagePackDecodeError: the bytes are cut off, are followed by others, are nested more
        than 1,024 levels deep, or contain what is not supported: extension types, and mappings
        whose keys are neither text nor bytes. A size in the bytes is checked before memory is
        allocated for it.
    :raises json.JSONDecodeError: the bytes are in neither format.
    :raises TypeError: there are options, and the bytes are MessagePack.

    >>> from althaia import msgpack
    >>> msgpack.loads(b"\\x82\\xa2id\\x07\\xa4tags\\x91\\xa1a")
    {'id': 7, 'tags': ['a']}
    >>> msgpack.loads(b'{"id": 7}')
    {'id': 7}
    """
    cdef bytes data
    if isinstance(s, str):
        return json_loads(s, **options)
    data = s if type(s) is bytes else bytes(memoryview(s))
    if not is_msgpack(<const uint8_t*>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data)):
        return json_loads(data, **options)
    if options:
        raise TypeError(
            f"options of json.loads are for JSON text; this is MessagePack: {sorted(options)}"
        )
    return read_msgpack(data).make(0)


cdef bint is_msgpack(const uint8_t* data, Py_ssize_t size) noexcept:
    """Return whether bytes are MessagePack; if not, they are JSON.

    The first byte of JSON is below 0x80 or belongs to a byte order mark. As MessagePack a byte
    order mark would be a small negative number, after which more bytes are an error.
    """
    return size == 1 or (size > 1 and 0x80 <= data[0] < 0xE0)


# A container that is not complete: its slot, and the number of values that follow. Keys count as
# values.
cdef struct OpenContainer:
    Py_ssize_t slot
    uint64_t left


cdef object failed(msg, Py_ssize_t at):
    raise MessagePackDecodeError(msg, at)


cdef Tape read_packed(object data):
    """Return the tape of bytes in MessagePack or JSON; None if :func:`loads` must be called.

    :raises MessagePackDecodeError: see :func:`loads`.
    """
    if type(data) is not bytes:
        return None
    if is_msgpack(<const uint8_t*>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data)):
        return read_msgpack(data)
    return read_json(data)


cdef Tape read_msgpack(bytes data):
    """Return the tape of one MessagePack value.

    :raises MessagePackDecodeError: see :func:`loads`.
    """
    cdef Tape tape = Tape.__new__(Tape)
    tape.owner = data
    tape.text = <const uint8_t*>PyBytes_AS_STRING(data)
    scan_msgpack(tape, tape.text, PyBytes_GET_SIZE(data))
    return tape


cdef int scan_msgpack(Tape tape, const uint8_t* data, Py_ssize_t size) except -1:
    cdef OpenContainer levels[MOST_LEVELS]
    cdef OpenContainer* level
    cdef int depth = 0
    cdef Py_ssize_t at = 0, begins
    cdef bint is_key
    cdef Slot* slot
    while True:
        is_key = False
        if depth:
            level = &levels[depth - 1]
            is_key = tape.slots[level.slot].kind == RECORD and level.left % 2 == 0
            level.left -= 1
        begins = at
        at = read_value(tape, data, at, size)
        slot = &tape.slots[tape.count - 1]
        if is_key and slot.kind != TEXT and slot.kind != RAW and slot.kind != OBJECT:
            failed("the key of a mapping is neither text nor bytes", begins)
        if slot.kind >= ARRAY and slot.size:
            if depth == MOST_LEVELS:
                failed(f"nested more than {MOST_LEVELS} deep", begins)
            level = &levels[depth]
            level.slot = tape.count - 1
            level.left = <uint64_t>slot.size * (2 if slot.kind == RECORD else 1)
            depth += 1
            continue
        if slot.kind >= ARRAY:
            slot.content.next = tape.count
        while depth and levels[depth - 1].left == 0:
            depth -= 1
            tape.slots[levels[depth].slot].content.next = tape.count
        if depth == 0:
            if at < size:
                failed(f"{size - at} more bytes behind the value", at)
            return 0


cdef uint64_t number_at(const uint8_t* data, Py_ssize_t at, Py_ssize_t size, int width) except? 0:
    """Read an unsigned big-endian number of ``width`` bytes."""
    cdef uint64_t value = 0
    cdef int i
    if size - at < width:
        failed(f"cut off: {width} bytes of a number or a size should follow", at)
    for i in range(width):
        value = value << 8 | data[at + i]
    return value


cdef Py_ssize_t read_value(
    Tape tape, const uint8_t* data, Py_ssize_t at, Py_ssize_t size
) except -1:
    """Append a value, or the head of a container, to the tape. Return the index after it."""
    cdef uint8_t head
    if at >= size:
        failed("cut off: a value should follow", at)
    head = data[at]
    at += 1
    if head < 0x80:
        return put_whole(tape, head, at)
    if head < 0x90:
        return put_head(tape, RECORD, head & 0x0F, at, size)
    if head < 0xA0:
        return put_head(tape, ARRAY, head & 0x0F, at, size)
    if head < 0xC0:
        return put_text(tape, data, at, size, head & 0x1F)
    if head >= 0xE0:
        return put_whole(tape, <int8_t>head, at)
    if head == 0xC0:
        new_slot(tape, NONE)
        return at
    if head == 0xC2 or head == 0xC3:
        new_slot(tape, TRUE if head == 0xC3 else FALSE)
        return at
    if 0xC4 <= head <= 0xC6:
        return put_sized(tape, data, at, size, RAW, 1 << (head - 0xC4))
    if head == 0xCA or head == 0xCB:
        return put_real(tape, data, at, size, head == 0xCA)
    if 0xCC <= head <= 0xD3:
        return put_integer(tape, data, at, size, 1 << (head & 3), head >= 0xD0)
    if 0xD9 <= head <= 0xDB:
        return put_sized(tape, data, at, size, TEXT, 1 << (head - 0xD9))
    if head == 0xDC or head == 0xDD:
        return put_sized(tape, data, at, size, ARRAY, 2 if head == 0xDC else 4)
    if head == 0xDE or head == 0xDF:
        return put_sized(tape, data, at, size, RECORD, 2 if head == 0xDE else 4)
    if head == 0xC1:
        failed("0xc1 begins nothing in MessagePack", at - 1)
    failed("an extension type, which is no Python value here", at - 1)


cdef Py_ssize_t put_whole(Tape tape, int64_t value, Py_ssize_t at) except -1:
    new_slot(tape, WHOLE).content.whole = value
    return at


cdef Py_ssize_t put_integer(
    Tape tape, const uint8_t* data, Py_ssize_t at, Py_ssize_t size, int width, bint has_sign
) except -1:
    cdef uint64_t value = number_at(data, at, size, width)
    # The bits above a signed number are copies of its sign.
    cdef uint64_t sign = <uint64_t>1 << (8 * width - 1)
    if has_sign or <int64_t>value >= 0:
        return put_whole(tape, <int64_t>((value ^ sign) - sign if has_sign else value), at + width)
    new_slot(tape, UNSIGNED).content.unsigned = value
    return at + width


cdef Py_ssize_t put_real(
    Tape tape, const uint8_t* data, Py_ssize_t at, Py_ssize_t size, bint single
) except -1:
    cdef int width = 4 if single else 8
    cdef uint64_t bits = number_at(data, at, size, width)
    cdef uint32_t few = <uint32_t>bits
    cdef float small
    cdef double real
    if single:
        memcpy(&small, &few, 4)
        real = small
    else:
        memcpy(&real, &bits, 8)
    new_slot(tape, REAL).content.real = real
    return at + width


cdef Py_ssize_t put_sized(
    Tape tape, const uint8_t* data, Py_ssize_t at, Py_ssize_t size, int kind, int width
) except -1:
    """Append a value whose size precedes it, in ``width`` bytes."""
    cdef uint64_t claimed = number_at(data, at, size, width)
    if kind == TEXT:
        return put_text(tape, data, at + width, size, claimed)
    if kind == RAW:
        return put_bytes(tape, RAW, at + width, size, claimed)
    return put_head(tape, kind, claimed, at + width, size)


cdef Py_ssize_t put_head(
    Tape tape, int kind, uint64_t claimed, Py_ssize_t at, Py_ssize_t size
) except -1:
    """Append the head of a container. A size that exceeds the remaining bytes is an error, because
    each value takes at least one byte."""
    cdef uint64_t least = claimed * 2 if kind == RECORD else claimed
    if least > <uint64_t>(size - at):
        failed(f"cut off: a container of {claimed} begins, and {size - at} bytes follow", at)
    new_slot(tape, kind).size = <uint32_t>claimed
    return at


cdef Py_ssize_t put_bytes(
    Tape tape, uint8_t kind, Py_ssize_t at, Py_ssize_t size, uint64_t length
) except -1:
    """Append RAW or TEXT of that many bytes."""
    cdef Slot* slot
    if length > <uint64_t>(size - at):
        failed(f"cut off: {length} bytes of text should follow, and {size - at} do", at)
    slot = new_slot(tape, kind)
    slot.content.start = at
    slot.size = <uint32_t>length
    return at + <Py_ssize_t>length


cdef Py_ssize_t put_text(
    Tape tape, const uint8_t* data, Py_ssize_t at, Py_ssize_t size, uint64_t length
) except -1:
    """Append text. Text beyond ASCII becomes a str at once, because decoding it validates it."""
    cdef Py_ssize_t end = put_bytes(tape, TEXT, at, size, length)
    if althaia_bytes_are_ascii(data + at, <Py_ssize_t>length):
        return end
    tape.count -= 1
    try:
        put_object(
            tape, PyUnicode_DecodeUTF8(<const char*>data + at, <Py_ssize_t>length, "strict")
        )
    except UnicodeDecodeError as error:
        raise MessagePackDecodeError("text that is not UTF-8", at + error.start) from None
    return end
