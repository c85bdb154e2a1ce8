"""Dates and times in ISO form and others: the plain case is written and read by the plans."""

import datetime as dt
import email.utils

import pytest


class Summerless(dt.tzinfo):
    """A zone that nobody has told its daylight saving time."""

    def utcoffset(self, when):
        return dt.timedelta(hours=2)

    def __repr__(self):
        return "Summerless()"


ZONES = [
    None, dt.UTC, dt.timezone(dt.timedelta(hours=5, minutes=30)),
    dt.timezone(-dt.timedelta(minutes=1)), dt.timezone(dt.timedelta(seconds=1)),
    dt.timezone(dt.timedelta(0), "Zulu"), Summerless(),
]  # fmt: skip


class Later(dt.datetime):
    """A datetime with a mind of its own."""

    def strftime(self, format):
        return f"later {super().strftime(format)}"

    def timetuple(self):
        return super().replace(year=self.year + 1).timetuple()

    def timestamp(self):
        return 1.5


MOMENTS = [
    moment.replace(tzinfo=zone)
    for moment in (
        dt.datetime(1, 1, 1),
        dt.datetime(99, 12, 31),
        dt.datetime(999, 12, 31, 23, 59, 59, 999_999),
        dt.datetime(1000, 1, 1),
        dt.datetime(1799, 12, 31, 23, 59, 59, 999_999),
        dt.datetime(1800, 1, 1, 0, 0, 0, 1),
        dt.datetime(1900, 2, 28),
        dt.datetime(1969, 12, 31, 23, 59, 59, 999_999),
        dt.datetime(1970, 1, 1),
        dt.datetime(2000, 2, 29, 12),
        dt.datetime(2024, 2, 29, 8, 15, 30, 123_456),
        dt.datetime(2200, 12, 31, 23, 59, 59, 999_999),
        dt.datetime(2201, 3, 1, 0, 0, 0, 7),
        dt.datetime(9999, 12, 31, 23, 59, 59, 999_999),
        Later(2024, 2, 29, 8),
    )
    for zone in ZONES
]
OTHERS = [None, "2024-02-29", 5, dt.date(2024, 2, 29), dt.date(999, 1, 1), dt.time(8, 15, 30, 5)]
FORMATS = [
    "rfc", "rfc822", "timestamp", "timestamp_ms",
    "%Y-%m-%d", "%Y%m%d%H%M%S", "%d.%m.%Y %H:%M", "%Y-%m-%dT%H:%M:%S.%fZ", "%H:%M:%S", "%H%M%f",
    "%Y", "%f", "%y-%m-%d", "%d %b %Y", "%Y %Y", "%Y%%", "%", "%Y-%", "", "%Y\N{BULLET}%m",
    "%Y  %m", "iso", "%H:%M", "T%H:%M", "%m/%Y",
    "%Y-%m-%d" * 12, "%-d.%m.%Y", "%d/%m/%Y", "Y%Y", "%Y\n", "%Y-%m-%d %z", "%_d %Y",
]  # fmt: skip


@pytest.mark.parametrize("kind", ["DateTime", "Date", "Time", "NaiveDateTime", "AwareDateTime"])
@pytest.mark.parametrize("format_", FORMATS)
def test_dump(ma, log, kind, format_):
    schema = ma.Schema.from_dict({"at": getattr(ma.fields, kind)(format=format_)})()
    for value in MOMENTS + OTHERS:
        log(repr(value), log.attempt(schema.dump, {"at": value}))


TEXTS = [
    "Thu, 29 Feb 2024 08:15:30 +0000", "Thu, 29 Feb 2024 08:15:30 -0000",
    "Thu, 29 Feb 2024 08:15:30 +0530", "Thu, 29 Feb 2024 08:15:30 -0001",
    "Thu, 29 Feb 2024 08:15:30 +2359", "Thu, 29 Feb 2024 08:15:30 +2459",
    "Thu, 29 Feb 2024 08:15:30 +0099", "Thu, 29 Feb 2023 08:15:30 +0000",
    "Mon, 29 Feb 2024 08:15:30 +0000", "Xyz, 29 Feb 2024 08:15:30 +0000",
    "thu, 29 feb 2024 08:15:30 +0000", "Thu, 29 Fex 2024 08:15:30 +0000",
    "Thu, 29 Feb 0099 08:15:30 +0000", "Thu, 29 Feb 0068 08:15:30 +0000",
    "Thu, 29 Feb 0100 08:15:30 +0000", "Thu, 28 Feb 0100 08:15:30 +0000",
    "Thu, 29 Feb 2024 24:15:30 +0000", "Thu, 29 Feb 2024 08:60:30 +0000",
    "Thu, 29 Feb 2024 08:15:60 +0000", "Thu, 00 Feb 2024 08:15:30 +0000",
    "Thu, 29 Feb 2024 08:15:30 GMT", "Thu, 29 Feb 2024 08:15:30  +0000",
    "29 Feb 2024 08:15:30 +0000", "Thu, 29 Feb 2024 08:15:30 +00000",
    "Thu,  9 Feb 2024 08:15:30 +0000",
    "Thu, 29 Feb 2024 08:15:30 +\N{ARABIC-INDIC DIGIT ONE}000", "Thu, 1_ Feb 2024 08:15:30 +0000",
    "2024-02-29", "2023-02-29", "2024-2-9", "2024-02-29 ", " 2024-02-29", "0000-01-01",
    "0001-01-01",
    "20240229081530", "2024022908153", "20240230081530", "29.02.2024 08:15", "29.02.2024  08:15",
    "29.02.2024\t08:15", "2024-02-29T08:15:30.123456Z", "2024-02-29T08:15:30.123Z",
    "2024-02-29t08:15:30.123456z", "2024-02-29T08:15:61.000000Z", "2024-02-29T08:15:60.000000Z",
    "2024", "99", "\N{ARABIC-INDIC DIGIT TWO}024", "29/02/2024", "29/13/2024", "Y2024", "y2024",
    "1709194530", "0", "", "08:15:30", "nan", "08:15", "t08:15", "T08:15", "02/2024", "29 02",
    "08:15:30.5", "08:15:30.", "08:15:30.1234567", "08:15:30Z", "24:00:00", "24:00",
    *["2024-02-29T08:15:30" + end for end in (
        "", "Z", "z", "+02:00", "-05:30", "-00:00", "+0200", "+02", "+2", "+24:00", "+99:99",
        "+02:00:00", "\n", "Z\n", " ", ".", ".5", ".5.5", ".5Z", ".123-0100", ".123456+01:00",
        ".1234567", "5Z", "+\N{ARABIC-INDIC DIGIT ONE}0:00",
    )],
    "2024-02-29 08:15:30", "2024-02-29?08:15:30", "2024-02-29t08:15:30", "2024-02-29T24:00:00",
    "0000-02-29T08:15:30", "2023-02-29T08:15:30", "2024-02-29T08:15", "0099-12-31T23:59:59Z",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", ["DateTime", "Date", "Time", "NaiveDateTime", "AwareDateTime"])
@pytest.mark.parametrize("format_", FORMATS)
def test_load(ma, log, kind, format_):
    schema = ma.Schema.from_dict({"at": getattr(ma.fields, kind)(format=format_)})()
    for value in (*TEXTS, None, 5, 1.5, True, b"2024-02-29", dt.datetime(2024, 2, 29)):
        log("load", value, log.attempt(schema.load, {"at": value}))


@pytest.mark.parametrize("kind", ["NaiveDateTime.timezone", "AwareDateTime.default_timezone"])
@pytest.mark.parametrize(
    "zone", [None, dt.UTC, ZONES[2], Summerless(), "refusing", "no zone"], ids=str
)
@pytest.mark.parametrize("message", ["Not a valid {awareness} {obj_type}.", "{input}", "{x}", 5])
def test_load_of_the_other_awareness(ma, log, kind, zone, message):
    class Refusing(dt.tzinfo):
        def fromutc(self, when):
            log("converts", str(when))
            if when.year == 2024:
                return Later(2024, 2, 29)
            raise ma.ValidationError("no such time", valid_data=[1])

    cls, option = kind.split(".")
    zone = Refusing() if zone == "refusing" else zone
    field = getattr(ma.fields, cls)(**{option: zone}, error_messages={"invalid_awareness": message})
    schema = ma.Schema.from_dict({"at": field, "all": ma.fields.List(field)})()

    def use():
        for text in (*TEXTS[-8:], "0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59-01:00"):
            log(text, log.attempt(schema.load, {"at": text, "all": [text]}))

    use()
    setattr(schema.fields["at"], option, None if zone else dt.UTC)
    use()
    schema.fields["at"].AWARENESS = "own"
    use()


@pytest.mark.parametrize("name", ["format_datetime", "parsedate_to_datetime"])
def test_what_they_rest_on_is_patched(ma, log, name):
    schema = ma.Schema.from_dict({"at": ma.fields.DateTime(format="rfc")})()

    def use():
        log.attempt(schema.dump, {"at": dt.datetime(2024, 2, 29)})
        log.attempt(schema.load, {"at": "Thu, 29 Feb 2024 08:15:30 +0000"})

    use()
    log.patch(email.utils, name, log.spy(name, getattr(email.utils, name)))
    use()


@pytest.mark.parametrize("where", ["instance", "class"])
def test_own_ways_to_make_an_object(ma, log, where):
    def own(value, data_format):
        log("made", value, data_format)
        return value

    cls = type("Own", (ma.fields.DateTime,), {})
    if where == "class":
        cls._make_object_from_format = staticmethod(own)
    field = cls(format="%Y-%m-%d")
    if where == "instance":
        field._make_object_from_format = own
    schema = ma.Schema.from_dict({"at": field})()
    return [schema.load({"at": "2024-02-29"}) for _ in range(3)]
