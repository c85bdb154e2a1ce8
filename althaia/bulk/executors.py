"""Executors of partitions: this process, processes of this machine, a Dask cluster.

Each yields the outcomes in the order of the partitions and holds only a few at a time. Each
partition is counted once, because outcomes are return values. A partition whose outcome was lost is
processed again.
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
"""How often a partition is tried if its worker dies."""
SECONDS_TO_CONNECT = 10
"""The timeout for connecting to the scheduler of a cluster."""
AHEAD = 2
"""The number of partitions in progress or waiting, for each worker."""


class Lost:
    """No outcome: every worker that processed the partition died."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


class _Source:
    """Reads partitions ahead of the work. An error is raised only after all earlier partitions are
    done."""

    def __init__(self, partitions: Iterable[Partition]) -> None:
        self._left = iter(partitions)
        self._error: Exception | None = None

    def next(self) -> Partition | None:
        """Return the next one, or None."""
        try:
            return next(self._left, None)
        except Exception as error:
            self._error = error
            return None

    def end(self) -> None:
        """Raise the error that ended the partitions early, if there is one."""
        if self._error is not None:
            raise self._error


def here(work: Work, partitions: Iterable[Partition]) -> Iterator[Done]:
    """Process the partitions one after the other in this process."""
    for partition in partitions:
        yield partition, work(partition)


def processes(work: Work, partitions: Iterable[Partition], count: int) -> Iterator[Done]:
    """Process the partitions in ``count`` processes of this machine.

    If a process dies, it is unknown which of the partitions in progress was the cause. Hence each
    of these is tried again alone, so that only the one that kills its process is lost.
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
                # The partition or its outcome is nested too deep for pickle: process it here.
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
    """Worker processes, which are replaced when one of them dies."""

    def __init__(self, work: Work, count: int) -> None:
        self._work, self._count = work, count
        self._pool = self._new_pool()
        self._watched: set[BaseProcess] = set()
        self._ending = Lock()

    def _new_pool(self) -> ProcessPoolExecutor:
        # Not forked: the redirect needs a process that has imported nothing yet.
        spawn = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self._count, mp_context=spawn, initializer=_begin)

    def submit(self, partition: Partition) -> Future[Outcome]:
        try:
            future = self._pool.submit(self._work, partition)
        except (BrokenProcessPool, OSError):
            # OSError: a process died, and its pipe was closed, while the next one was started.
            self.kill()
            self._pool = self._new_pool()
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
        """Kill the processes at once, because their outcomes are no longer needed."""
        self._end(self._pool)

    def _end_with(self, process: BaseProcess, pool: ProcessPoolExecutor) -> None:
        """Wait until a process has ended, and end the others.

        The executor does so itself, but not while it reads a result that the process was sending.
        """
        wait([process.sentinel])
        if not pool._shutdown_thread:
            self._end(pool)

    def _end(self, pool: ProcessPoolExecutor) -> None:
        # Executors have kill_workers() since CPython 3.14 only, and that waits for the rest of a
        # result that a process was sending. So the other end of the pipe is closed here.
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
                # A signal came while the executor was starting its thread. A thread that has not
                # started cannot be joined.
                time.sleep(0.01)
            else:
                break


def _begin() -> None:
    """Initialize a new process. It ends when its parent says so, or when the parent ends."""
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
                    # The partition is nested too deep for pickle: process it here.
                    waiting.append((one, None))
                    continue
                # pure=False: Dask would reuse the result of an equal partition, but the file may
                # have changed.
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
            # Release the future, so that the cluster frees the result.
            future.release()


def _named_for_all(partition: Partition) -> Partition:
    """Return the partition, if its file has the same name in other processes."""
    if os.path.realpath(partition.file).startswith(("/dev/", "/proc/")):
        raise BulkError(
            f"{partition.file}: is another file in each process, and the workers of a cluster read "
            "it themselves: name a file"
        )
    return partition


def _call(work: Work, packed: bytes) -> Outcome:
    """Call ``work`` in the cluster. The partition is packed by us, because a cluster that cannot
    pack a deep partition raises another error."""
    partition: Partition = pickle.loads(packed)
    return work(partition)
