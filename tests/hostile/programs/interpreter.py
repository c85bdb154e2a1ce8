"""What the interpreter itself does with no memory or little stack, marshmallow left out."""

import json
import threading
from contextlib import suppress
from typing import Any

from tests.hostile.programs import arguments, report


def without_memory(*jobs):
    """Let one allocation of a job fail at a time."""
    from tests.hostile.programs import allocations

    for job in jobs:
        allocations.run(job)


class Plain:
    held: Any
    more: Any


def replace_dictionaries():
    for number in range(5):
        each = Plain()
        each.held = each.more = number
        before = vars(each)
        each.__dict__ = {"held": before}
    return 5


def append():
    grown = []
    for number in range(100):
        grown.append([number])
    return len(grown)


def make_closures():
    return [(lambda value: lambda: value)(number)() for number in range(30)]


def encode():
    return json.JSONEncoder(default=str).encode({"a": [1, 2.5, None, object]})


def on_a_small_stack():
    """Encode and free deep values in a thread that has a stack of 128 KiB."""
    threading.stack_size(128 * 1024)
    thread = threading.Thread(target=encode_and_free)
    thread.start()
    thread.join()


def encode_and_free():
    deep_list = []
    deep_dict = {}
    for _ in range(100_000):
        deep_list, deep_dict = [deep_list], {"a": deep_dict}
    for value in (deep_list, deep_dict):
        with suppress(RecursionError):
            json.dumps(value)


JOBS = {
    "no memory": lambda: without_memory(make_closures, encode),
    # What else ends a debug build, whose assertions do not hold there.
    "no memory, with assertions": lambda: without_memory(replace_dictionaries, append),
    "small stack": on_a_small_stack,
}

_, job = arguments()
JOBS[job]()
report(job, "survived")
