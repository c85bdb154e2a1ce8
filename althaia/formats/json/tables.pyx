"""Fills the tables of the functions in C, when the module is imported."""

cdef extern from "althaia/formats/json/doubles.h":
    enum:
        ALTHAIA_MOST_TEN
    uint64_t althaia_tens[1][2]
    int althaia_ten_exponent(int power)

cdef extern from "althaia/formats/json/quoting.h":
    char althaia_digit_pairs[512]

cdef extern from "althaia/formats/json/unquoting.h":
    signed char althaia_digits[256]


cdef int store_ten(int power, number, int scale) except -1:
    """Store the 128 highest bits of a power of ten; the number is that times 2 ** scale."""
    number >>= scale + althaia_ten_exponent(power) - 127
    althaia_tens[power + ALTHAIA_MOST_TEN][0] = number >> 64
    althaia_tens[power + ALTHAIA_MOST_TEN][1] = number & 0xFFFFFFFFFFFFFFFF
    return 0


cdef int fill_tables() except -1:
    cdef int power
    cdef bytes pairs = bytes(range(256)).hex().encode()
    # Dividing an integer again and again, each time rounded down, is dividing once.
    up, down = 1 << 128, 1 << 1248
    for power in range(ALTHAIA_MOST_TEN + 1):
        store_ten(-power, down, 1248)
        store_ten(power, up, 128)
        up *= 10
        down //= 10
    memcpy(althaia_digit_pairs, PyBytes_AS_STRING(pairs), len(pairs))
    memset(althaia_digits, -1, sizeof(althaia_digits))
    for digit in "0123456789abcdefABCDEF":
        althaia_digits[ord(digit)] = int(digit, 16)
    return 0


fill_tables()
