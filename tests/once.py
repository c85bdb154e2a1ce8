"""What the processes of one run share: a folder that one makes and all use, and a lock."""

import os
import time
from contextlib import contextmanager

WAIT = 900.0
"""Seconds after which a lock is taken for forgotten."""


def run_folder(factory):
    """The temporary folder of the whole run, the same in each of its processes."""
    base = factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@contextmanager
def locked(path):
    """Keep the run's other processes out.

    :param path: of a folder that is there while the lock is held.
    :raises TimeoutError: it was held for :data:`WAIT` seconds.
    """
    end = time.monotonic() + WAIT
    while True:
        try:
            path.mkdir()
            break
        except FileExistsError:
            if time.monotonic() > end:
                raise TimeoutError(f"{path} is held by another process") from None
            time.sleep(0.05)
    try:
        yield
    finally:
        path.rmdir()


def once(factory, name, make):
    """A folder that the first process which asks for it fills, for all processes of the run.

    A test that changes what is in it holds a lock (:func:`locked`), or makes a copy. If ``make``
    fails, the next process calls it again.

    :param make: fills the folder it is given, which exists and is empty.
    """
    folder = run_folder(factory) / f"once-{name}"
    made = folder.with_suffix(".made")
    with locked(folder.with_suffix(".lock")):
        if not made.exists():
            folder.mkdir(exist_ok=True)
            make(folder)
            made.touch()
    return folder
