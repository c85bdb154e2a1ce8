"""Text that nobody means well with, loaded and dumped on a stack of a given size."""

import threading
import time

from tests.hostile.programs import arguments, begin, library, report

LIBRARY, STACK = arguments()
m = library(LIBRARY)


class Node(m.Schema):
    name = m.fields.String()
    raw = m.fields.Raw()
    child = m.fields.Nested(lambda: Node(), allow_none=True)
    children = m.fields.List(m.fields.Nested(lambda: Node()))


class Packed(m.Schema):
    raw = m.fields.Raw()

    class Meta:
        if LIBRARY != "upstream":
            from althaia import msgpack as render_module


def packed(levels):
    return b"\x81\xa3raw" + b"\x91" * levels + b"\xc0"


def nested(levels, key=None):
    value = [] if key is None else {}
    for _ in range(levels):
        value = [value] if key is None else {key: value}
    return value


TEXTS = {
    "openings": lambda: Node().loads("[" * 10_000_000),
    "objects": lambda: Node().loads('{"raw":' * 1_000_000),
    "deep": lambda: Node().loads('{"raw":' + "[" * 100_000 + "]" * 100_000 + "}"),
    "64 deep": lambda: Node().loads('{"raw":' + "[" * 63 + "]" * 63 + "}"),
    "nested": lambda: Node().loads('{"child":' * 60 + "null" + "}" * 60),
    "nested lists": lambda: Node().loads('{"children":[' * 31 + "]}" * 31),
    "digits": lambda: Node().loads('{"raw":' + "1" * 1_000_000 + "}"),
    "decimals": lambda: Node().loads('{"raw":0.' + "1" * 1_000_000 + "}"),
    "exponent": lambda: Node().loads('{"raw":1e' + "9" * 1_000_000 + "}"),
    "one text": lambda: Node().loads('{"name":"' + "x" * 50_000_000 + '"}'),
    "escapes": lambda: Node().loads('{"name":"' + "\\n" * 5_000_000 + '"}'),
    "no end": lambda: Node().loads('{"name":"' + "x" * 50_000_000),
    "many keys": lambda: Node().loads(
        "{" + ",".join(f'"{i}":{i}' for i in range(300_000)) + "}", unknown="exclude"
    ),
    "equal keys": lambda: Node().loads("{" + ",".join(['"name":"a"'] * 300_000) + "}"),
    "cut utf-8": lambda: Node().loads(b'{"name":"' + b"\xe6\x97\xa5" * 1000 + b"\xe6"),
    "cut utf-16": lambda: Node().loads('{"name":"é"}'.encode("utf-16")[:-1]),
    "overlong utf-8": lambda: Node().loads(b'{"name":"\xc0\xaf"}'),
    "deep where text belongs": lambda: Node().loads(
        '{"name":' + "[" * 100_000 + "]" * 100_000 + "}"
    ),
    "deep unknown": lambda: Node().loads(
        '{"x":' + '{"a":' * 100_000 + "1" + "}" * 100_001, unknown="exclude"
    ),
    "dump deep lists": lambda: Node().dumps({"raw": nested(100_000)}),
    "dump deep dicts": lambda: Node().dumps({"raw": nested(100_000, "a")}),
    "dump deep objects": lambda: Node().dumps(nested(100_000, "child")),
    "dump digits": lambda: Node().dumps({"raw": 10**1_000_000}),
    "dump one text": lambda: Node().dumps({"name": "x" * 50_000_000}),
    "dump escapes": lambda: Node().dumps({"raw": "é\n" * 5_000_000}),
    "packed openings": lambda: Packed().loads(b"\x91" * 10_000_000),
    "packed deep": lambda: Packed().loads(packed(1000)),
    "packed claims": lambda: Packed().loads(b"\x81\xa3raw\xdd\xff\xff\xff\xff"),
}


def try_all():
    for what, load in TEXTS.items():
        if LIBRARY == "upstream" and what.startswith("packed"):
            continue
        begin(what)
        start = time.perf_counter()
        try:
            load()
            said = "ok"
        except Exception as error:
            said = f"{type(error).__name__}: {str(error)[:60]}"
        report(what, said)
        report(f"{what} seconds", time.perf_counter() - start)


threading.stack_size(int(STACK) * 1024)
thread = threading.Thread(target=try_all)
thread.start()
thread.join()
