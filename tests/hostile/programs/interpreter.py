"""What the interpreter itself does with no memory or little stack, marshmallow left out."""

import json
import threading
from contextlib import suppress
from typing import Any

from tests.hostile.programs import arguments, report


def without_memory():
    """Make functions and encode JSON, one allocation failing at a time."""
    from tests.hostile.programs import allocations

    for job in (make_closures, encode):
        allocations.run(job)


def without_memory_checked():
    """What else ends a debug build: what it asserts does not hold where there is no memory."""
    from tests.hostile.programs import allocations

    for job in (replace_dictionaries, append):
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
    def holding(value):
        return lambda: value

    return [holding(number)() for number in range(30)]


def encode():
    return json.JSONEncoder(default=str).encode({"a": [1, 2.5, None, object]})


def on_a_small_stack():
    """Encode and free deep lists and dictionaries in a thread that has a stack of 128 KiB."""
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
    "no memory": without_memory,
    "no memory, with assertions": without_memory_checked,
    "small stack": on_a_small_stack,
}

_, job = arguments()
JOBS[job]()
report(job, "survived")
