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
    if not is_msgpack(data):
        return json_loads(data, **options)
    if options:
        raise TypeError(
            f"options of json.loads are for JSON text; this is MessagePack: {sorted(options)}"
        )
    return read_msgpack(data).make(0)


cdef bint is_msgpack(bytes data):
    """Return whether bytes are MessagePack; if not, they are JSON.

    The first byte of JSON is below 0x80 or belongs to a byte order mark. As MessagePack a byte
    order mark would be a small negative number, after which more bytes are an error.
    """
    return len(data) == 1 or (len(data) > 1 and 0x80 <= <uint8_t>data[0] < 0xE0)


# A container that is not complete: its slot, and the number of values that follow. Keys count as
# values.
cdef struct OpenContainer:
    Py_ssize_t slot
    uint64_t left


cdef failed(msg, Py_ssize_t at):
    raise MessagePackDecodeError(msg, at)


cdef Tape parse_msgpack(data):
    """Return the tape of bytes in MessagePack or JSON; None if :func:`loads` must be called.

    :raises MessagePackDecodeError: see :func:`loads`.
    """
    if type(data) is not bytes:
        return None
    if is_msgpack(data):
        return read_msgpack(data)
    return parse_json(data)


cdef Tape read_msgpack(bytes data):
    """Return the tape of one MessagePack value.

    :raises MessagePackDecodeError: see :func:`loads`.
    """
    cdef Tape tape = Tape.__new__(Tape)
    tape.owner = data
    tape.text = <const uint8_t*>PyBytes_AS_STRING(data)
    scan_msgpack(tape, tape.text, PyBytes_GET_SIZE(data))
    return tape


cdef int scan_msgpack(Tape tape, const uint8_t* data, Py_ssize_t size):
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
            is_key = tape.slots[level.slot].type == RECORD and level.left % 2 == 0
            level.left -= 1
        begins = at
        at = read_value(tape, data, at, size)
        slot = &tape.slots[tape.count - 1]
        if is_key and slot.type != TEXT and slot.type != RAW and slot.type != OBJECT:
            failed("the key of a mapping is neither text nor bytes", begins)
        if slot.type >= ARRAY and slot.size:
            if depth == MOST_LEVELS:
                failed(f"nested more than {MOST_LEVELS} deep", begins)
            level = &levels[depth]
            level.slot = tape.count - 1
            level.left = <uint64_t>slot.size * (2 if slot.type == RECORD else 1)
            depth += 1
            continue
        if slot.type >= ARRAY:
            slot.content.next = tape.count
        while depth and levels[depth - 1].left == 0:
            depth -= 1
            tape.slots[levels[depth].slot].content.next = tape.count
        if depth == 0:
            if at < size:
                failed(f"{size - at} more bytes behind the value", at)
            return 0


# The type of value, and the bytes of its number or size, behind each head from 0xC0 to 0xDF. The
# width 0xFF is that of heads which begin no value here.
cdef bytes VALUE_TYPES = bytes([
    NONE, NONE, FALSE, TRUE, RAW, RAW, RAW, NONE, NONE, NONE, REAL, REAL,
    UNSIGNED, UNSIGNED, UNSIGNED, UNSIGNED, WHOLE, WHOLE, WHOLE, WHOLE,
    NONE, NONE, NONE, NONE, NONE, TEXT, TEXT, TEXT, ARRAY, ARRAY, RECORD, RECORD,
])
cdef bytes WIDTHS = (
    b"\0\xFF\0\0\1\2\4\xFF\xFF\xFF\4\x08\1\2\4\x08\1\2\4\x08"
    b"\xFF\xFF\xFF\xFF\xFF\1\2\4\2\4\2\4"
)


cdef Py_ssize_t read_value(
    Tape tape, const uint8_t* data, Py_ssize_t at, Py_ssize_t size
):
    """Append a value, or the head of a container, to the tape. Return the index after it."""
    cdef uint8_t head, type_, width
    cdef uint64_t value = 0
    cdef int i
    if at >= size:
        failed("cut off: a value should follow", at)
    head = data[at]
    at += 1
    if head < 0x80 or head >= 0xE0:
        append_slot(tape, WHOLE).content.whole = <int8_t>head
        return at
    if head < 0xC0:
        type_ = RECORD if head < 0x90 else ARRAY if head < 0xA0 else TEXT
        return put_sized(tape, data, at, size, type_, head & (0x1F if type_ == TEXT else 0x0F))
    type_, width = VALUE_TYPES[head - 0xC0], WIDTHS[head - 0xC0]
    if head == 0xC1:
        failed("0xc1 begins nothing in MessagePack", at - 1)
    if width == 0xFF:
        failed("an extension type, which is no Python value here", at - 1)
    if size - at < width:
        failed(f"cut off: {width} bytes of a number or a size should follow", at)
    for i in range(width):
        value = value << 8 | data[at + i]
    if type_ == TEXT or type_ == RAW or type_ >= ARRAY:
        return put_sized(tape, data, at + width, size, type_, value)
    put_number(tape, type_, value, width)
    return at + width


cdef int put_number(Tape tape, uint8_t type_, uint64_t value, int width):
    """Append a number, or a constant, of ``width`` bytes."""
    cdef uint32_t few = <uint32_t>value
    cdef float small
    cdef Slot* slot
    if type_ == UNSIGNED and <int64_t>value >= 0:
        type_ = WHOLE
    elif type_ == WHOLE:
        # The bits above a signed number are copies of its sign.
        value = <uint64_t>(<int64_t>(value << (64 - 8 * width)) >> (64 - 8 * width))
    slot = append_slot(tape, type_)
    slot.content.unsigned = value
    if type_ == REAL:
        memcpy(&slot.content.real, &value, 8)
        if width == 4:
            memcpy(&small, &few, 4)
            slot.content.real = small


cdef Py_ssize_t put_sized(
    Tape tape, const uint8_t* data, Py_ssize_t at, Py_ssize_t size, uint8_t type_, uint64_t claimed
):
    """Append text or bytes, or the head of a container, of a size that precedes it.

    A size that exceeds the remaining bytes is an error: each value takes at least one byte. Text
    beyond ASCII becomes a str at once, because decoding it validates it.
    """
    cdef Slot* slot
    if type_ >= ARRAY:
        if claimed * (2 if type_ == RECORD else 1) > <uint64_t>(size - at):
            failed(f"cut off: a container of {claimed} begins, and {size - at} bytes follow", at)
        append_slot(tape, type_).size = <uint32_t>claimed
        return at
    if claimed > <uint64_t>(size - at):
        failed(f"cut off: {claimed} bytes of text should follow, and {size - at} do", at)
    if type_ == TEXT and not althaia_bytes_are_ascii(data + at, <Py_ssize_t>claimed):
        try:
            put_object(
                tape, PyUnicode_DecodeUTF8(<const char*>data + at, <Py_ssize_t>claimed, "strict")
            )
        except UnicodeDecodeError as error:
            raise MessagePackDecodeError("text that is not UTF-8", at + error.start) from None
    else:
        slot = append_slot(tape, type_)
        slot.content.start = at
        slot.size = <uint32_t>claimed
    return at + <Py_ssize_t>claimed
