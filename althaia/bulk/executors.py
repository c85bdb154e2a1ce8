"""Executors of partitions: this process, processes of this machine, a Dask cluster.

Each yields the outcomes in the order of the partitions and holds only a few at a time. Each
partition is counted once, because outcomes are return values. A partition whose outcome was lost is
processed again.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Lock, local
from traceback import format_exc
from typing import Any

from althaia.bulk.pieces import BulkError, Outcome, Partition

Work = Callable[[Partition], Outcome]
Done = tuple[Partition, Outcome]

ATTEMPTS = 3
"""How often a partition is tried if its worker dies."""
DIED = "the processes that worked on it died"
SECONDS_TO_CONNECT = 10
"""The timeout for connecting to the scheduler of a cluster."""
AHEAD = 2
"""The number of partitions in progress or waiting, for each worker."""


def here(work: Work, partitions: Iterable[Partition]) -> Generator[Done]:
    """Process the partitions one after the other in this process."""
    for partition in partitions:
        yield partition, work(partition)


def _in_order(
    work: Work,
    partitions: Iterable[Partition],
    submit: Callable[[Partition], Any],
    workers: int,
    died: type[Exception] | tuple[()] = (),
) -> Generator[Done]:
    """Submit partitions ahead of the one whose outcome is yielded next.

    An error of reading is raised only after all earlier partitions are done.

    :param submit: returns a future, of this module's workers or of Dask
    :param died: what the future raises if a partition kills its workers, unless it returns that
    """
    left = iter(partitions)
    ended: Exception | None = None
    waiting: deque[tuple[Partition, Any]] = deque()
    while waiting or ended is None:
        while ended is None and len(waiting) < workers * AHEAD:
            try:
                one = next(left)
            except Exception as error:
                ended = error
            else:
                waiting.append((one, submit(one)))
        if waiting:
            partition, future = waiting.popleft()
            try:
                outcome = future.result()
            except RecursionError:
                # The partition or its outcome is nested too deep for pickle: process it here.
                outcome = work(partition)
            except died as error:
                outcome = Outcome(lost=f"{DIED}: {error}")
            yield partition, outcome
    if not isinstance(ended, StopIteration):
        raise ended


def processes(work: Work, partitions: Iterable[Partition], count: int) -> Generator[Done]:
    """Process the partitions in ``count`` processes of this machine."""
    with closing(_Workers(work, count)) as workers:
        yield from _in_order(work, partitions, workers.submit, count)


class _Workers:
    """Worker processes, each of which belongs to a thread, by a pipe of its own.

    Hence it is known which partition a process had when it died, and another one gets it.
    """

    def __init__(self, work: Work, count: int) -> None:
        self._work = work
        self._threads = ThreadPoolExecutor(count)
        self._own = local()
        self._started: list[tuple[BaseProcess, Connection]] = []
        self._starting = Lock()
        self._ending = False

    def submit(self, partition: Partition) -> Future[Outcome]:
        return self._threads.submit(self._outcome, partition)

    def _outcome(self, partition: Partition) -> Outcome:
        """Have the process of this thread work; while it dies, have other ones."""
        for _ in range(ATTEMPTS):
            try:
                if getattr(self._own, "pipe", None) is None:
                    self._own.pipe = self._start()
                self._own.pipe.send(partition)
                found: Outcome | BaseException = self._own.pipe.recv()
            except (EOFError, OSError):
                self._own.pipe = None
                continue
            if isinstance(found, BaseException):
                raise found
            return found
        return Outcome(lost=f"{DIED}: {ATTEMPTS} times")

    def _start(self) -> Connection:
        """Start a process and return the end of its pipe; CancelledError after ``close``."""
        # Not forked: the redirect needs a process that has imported nothing yet.
        spawn = multiprocessing.get_context("spawn")
        ours, theirs = spawn.Pipe()
        with theirs, self._starting:
            if self._ending:
                raise CancelledError
            process = spawn.Process(target=_serve, args=(theirs, self._work))
            process.start()
            self._started.append((process, ours))
        return ours

    def close(self) -> None:
        """Kill the processes, whose outcomes are there or no longer needed, and wait for them."""
        with self._starting:
            self._ending = True
        for process, _ in self._started:
            process.kill()
        self._threads.shutdown(cancel_futures=True)
        for process, pipe in self._started:
            pipe.close()
            process.join()


def _serve(pipe: Connection, work: Work) -> None:
    """Work on the partitions that come through a pipe, in a new process, until it is closed.

    It is closed, too, when the parent ends. SIGINT of a terminal is the parent's to handle.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            partition = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(work(partition))
        except Exception as error:
            error.add_note(format_exc())
            pipe.send(error)


def dask(work: Work, partitions: Iterable[Partition], address: str) -> Generator[Done]:
    """On the workers of a Dask cluster.

    :raises BulkError: ``distributed`` is not installed, nobody answers at ``address`` or does so no
        longer, or the cluster has no workers
    """
    try:
        from distributed import Client, KilledWorker
    except ImportError as error:
        raise BulkError(
            f"--dask needs distributed ({error}): pip install 'althaia[many]'"
        ) from error
    try:
        connect: Any = Client  # has no types, and need not be installed where types are checked
        client = connect(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise BulkError(f"no Dask scheduler answers at {address}: {error}") from error

    with client:
        workers = len(client.scheduler_info(n_workers=-1)["workers"])
        if not workers:
            raise BulkError(f"the Dask cluster at {address} has no workers")
        # pure=False: Dask would compute a hash of the whole content.
        submit = partial(client.submit, work, pure=False)
        try:
            yield from _in_order(work, partitions, submit, workers, KilledWorker)
        except CancelledError as error:
            raise BulkError(f"the Dask scheduler at {address} has gone: {error}") from error
