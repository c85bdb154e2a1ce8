"""Where the partitions are worked on: here, in processes of this machine, on a Dask cluster.

Each gives the outcomes in the order of the partitions, holds only a few at a time, and has each
partition counted once: outcomes are return values, and what comes back from nobody is done again.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import time
from collections import deque
from concurrent.futures import CancelledError, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing.connection import wait
from threading import Lock, Thread

from althaia.bulk.pieces import BulkError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future
    from multiprocessing.process import BaseProcess
    from typing import Any

    from althaia.bulk.pieces import Partition
    from althaia.bulk.summary import Outcome

    Work = Callable[[Partition], Outcome]
    Done = tuple[Partition, Outcome | "Lost"]

ATTEMPTS = 3
"""How often a partition is tried when whoever worked on it came to an end."""
SECONDS_TO_CONNECT = 10
"""To the scheduler of a cluster."""
AHEAD = 2
"""Partitions under way or waiting to be asked for, for each worker."""


class Lost:
    """No outcome: everybody who worked on the partition came to an end."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


class _Source:
    """Partitions, asked for ahead of the work: an error waits until those before it are done."""

    def __init__(self, partitions: Iterable[Partition]) -> None:
        self._left = iter(partitions)
        self._error: Exception | None = None

    def next(self) -> Partition | None:
        """The next one, or None where there is none."""
        try:
            return next(self._left, None)
        except Exception as error:
            self._error = error
            return None

    def end(self) -> None:
        """Raise what ended the partitions early, if anything did."""
        if self._error is not None:
            raise self._error


def here(work: Work, partitions: Iterable[Partition]) -> Iterator[Done]:
    """One after the other in this process."""
    for partition in partitions:
        yield partition, work(partition)


def processes(work: Work, partitions: Iterable[Partition], count: int) -> Iterator[Done]:
    """In ``count`` processes of this machine.

    Where one dies, nobody can say on which of the partitions under way, so each of these is
    tried alone: one that takes its process with it is then known, and the others lose nothing.
    """
    source = _Source(partitions)
    pool = _Pool(work, count)
    waiting: deque[tuple[Partition, Future[Outcome]]] = deque()
    try:
        while True:
            while len(waiting) < count * AHEAD and (one := source.next()) is not None:
                waiting.append((one, pool.submit(one)))
            if not waiting:
                return source.end()
            partition, future = waiting.popleft()
            try:
                yield partition, future.result()
            except RecursionError:
                # Too deep to be pickled, on the way there or back: no process is needed for it.
                yield partition, work(partition)
            except BrokenProcessPool:
                interrupted = [partition, *(one for one, _ in waiting)]
                waiting.clear()
                for one in interrupted:
                    yield one, pool.alone(one)
    except BaseException:
        pool.kill()
        raise
    finally:
        pool.close()


class _Pool:
    """Processes that are made anew when one of them died."""

    def __init__(self, work: Work, count: int) -> None:
        self._work, self._count = work, count
        self._pool = self._made()
        self._watched: set[BaseProcess] = set()
        self._ending = Lock()

    def _made(self) -> ProcessPoolExecutor:
        # Not forked: marshmallow is redirected in a process that has imported nothing yet.
        spawn = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self._count, mp_context=spawn, initializer=_begin)

    def submit(self, partition: Partition) -> Future[Outcome]:
        try:
            future = self._pool.submit(self._work, partition)
        except (BrokenProcessPool, OSError):
            # The latter where one has died, and its pipe was closed, while the next was started.
            self.kill()
            self._pool = self._made()
            future = self._pool.submit(self._work, partition)
        # Processes are started as they are needed.
        for process in set((self._pool._processes or {}).values()) - self._watched:
            self._watched.add(process)
            Thread(target=self._end_with, args=(process, self._pool), daemon=True).start()
        return future

    def alone(self, partition: Partition) -> Outcome | Lost:
        for _ in range(ATTEMPTS):
            try:
                return self.submit(partition).result()
            except BrokenProcessPool:
                continue
        return Lost(f"the process that worked on it died, {ATTEMPTS} times")

    def kill(self) -> None:
        """End the processes at once: nobody waits for what they are working on."""
        self._end(self._pool)

    def _end_with(self, process: BaseProcess, pool: ProcessPoolExecutor) -> None:
        """Wait until a process has ended, and end the others.

        The executor does so itself, but not while it reads a result that the process was sending.
        """
        wait([process.sentinel])
        if not pool._shutdown_thread:
            self._end(pool)

    def _end(self, pool: ProcessPoolExecutor) -> None:
        # Before CPython 3.14 an executor has no public way to do so, and that of 3.14 waits for
        # the rest of a result that a process was just sending: nobody else may hold the pipe.
        results = pool._result_queue
        for process in list((pool._processes or {}).values()):
            process.kill()
        with self._ending:
            if results is not None and not results._writer.closed:  # type: ignore[attr-defined]
                results._writer.close()  # type: ignore[attr-defined]

    def close(self) -> None:
        for _ in range(100):
            try:
                self._pool.shutdown(cancel_futures=True)
            except RuntimeError:
                # A signal came while the executor was starting its thread, which cannot be waited
                # for yet; or never, if the signal was the earlier.
                time.sleep(0.01)
            else:
                break


def _begin() -> None:
    """In a new process: it is told to end by the one that made it, and ends when that one does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def dask(work: Work, partitions: Iterable[Partition], address: str) -> Iterator[Done]:
    """On the workers of a Dask cluster, which see the files under the same names.

    :raises BulkError: ``distributed`` is not installed, nobody answers at ``address`` or does so no
        longer, the cluster has no workers, or a file has a name that means another one there
    """
    try:
        from distributed import Client, KilledWorker
    except ImportError as error:
        raise BulkError(
            f"--dask needs distributed ({error}): pip install 'althaia[many]'"
        ) from error
    try:
        client: Any = Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TypeError) as error:
        raise BulkError(f"no Dask scheduler answers at {address}: {error}") from error
    with client:
        workers = len(client.scheduler_info(n_workers=-1)["workers"])
        if not workers:
            raise BulkError(f"the Dask cluster at {address} has no workers")
        source = _Source(map(_named_for_all, partitions))
        waiting: deque[tuple[Partition, Any]] = deque()
        while True:
            while len(waiting) < workers * AHEAD and (one := source.next()) is not None:
                try:
                    packed = pickle.dumps(replace(one, file=os.path.abspath(one.file)))
                except RecursionError:
                    # Too deep to be sent: it is done here.
                    waiting.append((one, None))
                    continue
                # Not pure: a partition done before may be another file's by now.
                waiting.append((one, client.submit(_call, work, packed, pure=False)))
            if not waiting:
                return source.end()
            partition, future = waiting.popleft()
            if future is None:
                yield partition, work(partition)
                continue
            try:
                yield partition, future.result()
            except KilledWorker as error:
                yield partition, Lost(f"the workers that had it died: {error}")
            except CancelledError as error:
                raise BulkError(f"the Dask scheduler at {address} has gone: {error}") from error
            # The cluster may forget it: memory is bounded there too.
            future.release()


def _named_for_all(partition: Partition) -> Partition:
    """The partition, if its file can have the same name in other processes."""
    if os.path.realpath(partition.file).startswith(("/dev/", "/proc/")):
        raise BulkError(
            f"{partition.file}: is another file in each process, and the workers of a cluster read "
            "it themselves: name a file"
        )
    return partition


def _call(work: Work, packed: bytes) -> Outcome:
    """Packed by us: what a cluster makes of a deep partition it cannot pack is another error."""
    partition: Partition = pickle.loads(packed)
    return work(partition)
