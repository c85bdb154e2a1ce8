"""Jobs in which each allocation fails, one after the other."""

import _testcapi
import gc
import sys

# More than any job allocates.
MOST = 20_000
MOST_ROUNDS = 24


def fails_at(number, job):
    """What comes of the job when the allocation with this number fails, and only that one."""
    try:
        _testcapi.set_nomemory(number, number + 1)
        try:
            result = job()
        finally:
            _testcapi.remove_mem_hooks()
    except BaseException as error:
        return ("MemoryError" if is_told(error) else f"{type(error).__name__}: {error}"), None
    return "ok", result


def is_told(error):
    """Whether an exception is about memory: itself, or by what it was raised after.

    An interpreted call for whose frame there is no memory fails without an exception in some
    CPythons, which then make a SystemError of it.
    """
    while error is not None:
        if isinstance(error, MemoryError) or (
            "without" in str(error) and "exception" in str(error)
        ):
            return True
        error = error.__cause__ or error.__context__
    return False


def run(job):
    expected = job()
    strange = {}
    undisturbed = failures = number = 0
    # Where nothing failed any more, several answers in a row are right.
    while undisturbed < 50 and number < MOST:
        outcome, result = fails_at(number, job)
        undisturbed = undisturbed + 1 if outcome == "ok" else 0
        failures += outcome == "MemoryError"
        if outcome == "ok" and result != expected:
            outcome = "a wrong answer"
        if outcome not in ("ok", "MemoryError"):
            strange[outcome] = strange.get(outcome, 0) + 1
        if job() != expected:
            strange["a wrong answer afterwards"] = strange.get("a wrong answer afterwards", 0) + 1
        number += 1
    return {"failures": failures, "strange": strange, "leaked": leaked(job, min(number, 200))}


def leaked(job, numbers):
    """Blocks of memory that every round of failures leaves behind.

    The smallest growth of several rounds: a leak is in each of them, while what the interpreter
    keeps for itself (free lists, what it has learned of a function that seldom comes to its end)
    grows in one round, or in the first dozen on 3.14, and not in another.
    """
    least = MOST
    for _ in range(MOST_ROUNDS):
        before = blocks()
        for number in range(numbers):
            fails_at(number, job)
        least = min(least, blocks() - before)
        if least <= 0:
            break
    return least


def blocks():
    gc.collect()
    return sys.getallocatedblocks()
