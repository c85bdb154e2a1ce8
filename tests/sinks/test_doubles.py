"""Floats as text and back: the digits of ``float.__repr__``, and the double nearest to a text."""

import json
import random
import struct
from fractions import Fraction

import pytest

from althaia.json import dumps, loads
from althaia.marshmallow import Schema, fields

RANDOM = 100_000
"""Bit patterns in each run; 10**8 were compared once, when the algorithms were written."""


class Numbers(Schema):
    number = fields.Float()


def double(bits):
    (number,) = struct.unpack("<d", struct.pack("<Q", bits))
    return float(number)


def bits_of(number):
    (bits,) = struct.unpack("<Q", struct.pack("<d", number))
    return int(bits)


def with_neighbours(numbers):
    return [
        double(bits_of(number) + step)
        for number in numbers
        for step in range(-2, 3)
        if 0 <= bits_of(number) + step < 0x7FF << 52
    ]


def compare(numbers):
    """Write each number, and read it again, as the standard library does."""
    written = dumps(numbers)
    assert written == "[" + ", ".join(map(float.__repr__, numbers)) + "]"
    rows = [{"number": number} for number in numbers]
    assert Numbers(many=True).dumps(rows) == json.dumps(rows)
    assert list(map(bits_of, loads(written))) == list(map(bits_of, numbers))


def compare_texts(texts):
    text = "[" + ",".join(texts) + "]"
    assert list(map(repr, loads(text))) == list(map(repr, json.loads(text)))


def test_powers_of_two_and_ten():
    compare(with_neighbours(2.0**power for power in range(-1074, 1024)))
    compare(with_neighbours(float(f"{m}e{power}") for power in range(-324, 309) for m in (1, 5)))
    compare([-(10.0**power) for power in range(-30, 30)])


def test_numbers_that_are_hard_to_print():
    """From the papers on Grisu, Ryū and Schubfach, and from the tests of David Gay's dtoa.c."""
    compare([
        0.0, -0.0, 5e-324, 1e-323, 1.5e-323, 2e-323, 2.2250738585072014e-308,
        2.225073858507201e-308,
        1.7976931348623157e308, 9.5367431640625e-07, 2**-44, 1e16, 1e15, 123456789012345680.0,
        9007199254740991.0, 9007199254740992.0, 9007199254740994.0, 2.0**63, 1e22, 1e23,
        9.409340012568248e18, 1.2345678, 4.35, 0.1 + 0.2, 1e-4, 1e-5, 0.00012345, 299792.458,
        2.98023223876953125e-8, 4.940656e-318, 1.18575755e-316, 2.989102097996e-312,
        9.0608011534336e15, 4.708356024711512e18, 1.8531501765868567e21, -3.347727380279489e33,
        2.109808898695963e16, 4.8726570057e288, 5.764607523034235e39, 1.152921504606847e40,
        8.41e21, 2.0e-308, 3.5844466002796428e298, 1.790086667993e18, 9.007199254740994e15,
        8.371857024e-320, 4.4501477170144023e-308, 6.631236846766e-315, 1.3076622631878654e65,
    ])  # fmt: skip


def test_random_bits():
    rng = random.Random(51)
    bits = (rng.getrandbits(64) for _ in range(RANDOM))
    compare([double(each) for each in bits if each >> 52 & 0x7FF != 0x7FF])
    # Subnormal numbers.
    compare([double(rng.getrandbits(rng.randrange(1, 53))) for _ in range(RANDOM // 100)])


def test_random_decimals():
    rng = random.Random(52)
    digits = [rng.getrandbits(rng.randrange(1, 64)) for _ in range(RANDOM // 2)]
    compare_texts([f"{each}e{rng.randrange(-345, 320)}" for each in digits])
    compare_texts([f"-{each}.{rng.getrandbits(30)}" for each in digits])
    compare([each / 10 ** rng.randrange(20) for each in digits])


def test_between_two_doubles():
    """Exactly between two doubles, the even one is the nearest; a last digit more or less decides
    otherwise."""
    rng = random.Random(53)
    texts = []
    for _ in range(RANDOM // 100):
        number = double(rng.getrandbits(63) % (0x7FE << 52))
        middle = (Fraction(number) + Fraction(double(bits_of(number) + 1))) / 2
        if middle.denominator == 1 and middle < 10**300:
            texts += [f"{int(middle) + step}.0" for step in (-1, 0, 1)]
        else:
            # All digits of the middle, then one more, and one less.
            places = middle.denominator.bit_length() - 1
            exact = str(int(middle * 10**places))
            texts += [f"{exact}{last}e-{places + 1}" for last in (0, 1)]
            texts += [
                f"{int(exact) - 1}9e-{places + 1}",
                f"{exact[:18]}e{len(exact) - 18 - places}",
            ]
    compare_texts([text for text in texts if len(text) < 640])


@pytest.mark.parametrize(
    "text",
    [
        "18446744073709551616.0", "18446744073709551617.5", "36893488147419103232.25",
        "9007199254740993.0", "9007199254740992.999999", "9007199254740993.0000000000000001",
        "0.000000000000000000000000000000000000000000000012345678901234567890",
        "0." + "0" * 330 + "1", "0." + "0" * 300 + "12345678901234567e5", "0e999",
        "0e-999", "0.0e5",
        "1e309", "1.7976931348623158e308", "1.7976931348623159e308", "2e-324", "3e-324",
        "2.4703282292062327e-324", "2.4703282292062328e-324", "2.2250738585072011e-308",
        "2.2250738585072012e-308", "6250000000000000000e-19", "8.5e1", "10000000000000000000.0",
        "9999999999999999999e5", "1e99999999999", "1e-99999999999", "7.2057594037927933e16",
        "1448997445238699e0", "0.500000000000000166533453693773481063544750213623046875",
        "3.518437208883201171875e13", "62.5364939768271845828", "8.10109172351e-10",
        "1.50000000000000011102230246251565", "6929495644600919.5", "3929.88273010e-330",
        "2.5e-323", "4.9406564584124654e-324", "0.1e1", "123456789012345678901234567890",
    ],
)  # fmt: skip
def test_numbers_that_are_hard_to_read(text):
    compare_texts([text, f"-{text}"])
