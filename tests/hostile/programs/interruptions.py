"""How soon a long call ends when a signal asks it to, and how long other threads wait."""

import os
import signal
import threading
from time import process_time, sleep

from tests.hostile.programs import arguments, begin, library, report

TRIES = 4
AFTER = 0.15

(LIBRARY,) = arguments()
m = library(LIBRARY)
fields = m.fields


class Item(m.Schema):
    a = fields.Integer()
    b = fields.String()


class Box(m.Schema):
    numbers = fields.List(fields.Integer())
    table = fields.Dict(keys=fields.String(), values=fields.Integer())
    nested = fields.List(fields.Nested(Item))


MILLION = 1_000_000
ROW = {"a": 1, "b": "x"}
ROWS = [ROW] * MILLION
WRONG_ROWS = [{"b": 1}] * MILLION
NUMBERS = {"numbers": [1] * 5 * MILLION}
TABLE = {"table": {str(number): 1 for number in range(2 * MILLION)}}
NESTED = {"nested": ROWS}


def jobs(way):
    return {
        f"{way} many": lambda: getattr(Item(many=True), way)(ROWS),
        f"{way} a list": lambda: getattr(Box(), way)(NUMBERS),
        f"{way} a mapping": lambda: getattr(Box(), way)(TABLE),
        f"{way} nested": lambda: getattr(Box(), way)(NESTED),
    }


JOBS = jobs("dump") | jobs("load") | jobs("dumps")
JOBS["load wrong"] = lambda: Item(many=True).validate(WRONG_ROWS)


class Turns:
    """A thread that gives up its turn at once and notes how long it waits for the next."""

    def __init__(self):
        self.waits = []
        self._running = True
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._running = False
        self._thread.join()

    def _run(self):
        before = process_time()
        while self._running:
            sleep(0)
            now = process_time()
            self.waits.append(now - before)
            before = now


def interrupt(job):
    """Seconds from SIGINT to KeyboardInterrupt in the caller."""
    # A shell starts background programs with the signal ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sent = []

    def send():
        sleep(AFTER)
        sent.append(process_time())
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    try:
        sender.start()
        while True:
            job()
    except KeyboardInterrupt:
        caught = process_time()
    sender.join()
    return caught - sent[0]


class Alarm(BaseException):
    pass


def ring(*_):
    raise Alarm


def alarm(job):
    """Seconds from SIGPROF to the exception its handler raises."""

    signal.signal(signal.SIGPROF, ring)
    start = process_time()
    signal.setitimer(signal.ITIMER_PROF, AFTER)
    try:
        while True:
            job()
    except Alarm:
        return process_time() - start - AFTER


def waits(job):
    """The median and the longest wait of another thread during half a second of the job."""

    signal.signal(signal.SIGPROF, ring)
    with Turns() as turns:
        signal.setitimer(signal.ITIMER_PROF, 0.5)
        try:
            while True:
                job()
        except Alarm:
            pass
    ordered = sorted(turns.waits)
    return {"median": ordered[len(ordered) // 2], "longest": ordered[-1]}


def soonest(measure, job):
    """The best of a few tries: a collection of garbage adds to some of them."""
    best = measure(job)
    for _ in range(TRIES):
        if best < 0.05:
            break
        best = min(best, measure(job))
    return best


for name, work in JOBS.items():
    begin(name)
    shortest = waits(work)
    for _ in range(TRIES):
        if shortest["longest"] < 0.1:
            break
        shortest = min(shortest, waits(work), key=lambda one: one["longest"])
    report(
        name,
        {
            "interrupt": soonest(interrupt, work),
            "alarm": soonest(alarm, work),
            "median wait": shortest["median"],
            "longest wait": shortest["longest"],
        },
    )
