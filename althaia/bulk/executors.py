"""Where the partitions are worked on: here, in processes of this machine, on a Dask cluster.

Each gives the outcomes in the order of the partitions, holds only a few at a time, and has each
partition counted once: outcomes are return values, and what comes back from nobody is done again.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from althaia.bulk.partitions import BulkError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future
    from typing import Any

    from althaia.bulk.partitions import Partition
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


def here(work: Work, partitions: Iterable[Partition]) -> Iterator[Done]:
    """One after the other in this process."""
    for partition in partitions:
        yield partition, work(partition)


def processes(work: Work, partitions: Iterable[Partition], count: int) -> Iterator[Done]:
    """In ``count`` processes of this machine.

    Where one dies, nobody can say on which of the partitions under way, so each of these is
    tried alone: one that takes its process with it is then known, and the others lose nothing.
    """
    source = iter(partitions)
    pool = _Pool(work, count)
    waiting: deque[tuple[Partition, Future[Outcome]]] = deque()
    try:
        while True:
            while len(waiting) < count * AHEAD and (one := next(source, None)) is not None:
                waiting.append((one, pool.submit(one)))
            if not waiting:
                return
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
    finally:
        pool.close()


class _Pool:
    """Processes that are made anew when one of them died."""

    def __init__(self, work: Work, count: int) -> None:
        self._work, self._count = work, count
        self._pool = self._made()

    def _made(self) -> ProcessPoolExecutor:
        # Not forked: marshmallow is redirected in a process that has imported nothing yet.
        spawn = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self._count, mp_context=spawn)

    def submit(self, partition: Partition) -> Future[Outcome]:
        try:
            return self._pool.submit(self._work, partition)
        except BrokenProcessPool:
            self._pool = self._made()
            return self._pool.submit(self._work, partition)

    def alone(self, partition: Partition) -> Outcome | Lost:
        for _ in range(ATTEMPTS):
            try:
                return self.submit(partition).result()
            except BrokenProcessPool:
                continue
        return Lost(f"the process that worked on it died, {ATTEMPTS} times")

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


def dask(work: Work, partitions: Iterable[Partition], address: str) -> Iterator[Done]:
    """On the workers of a Dask cluster, which see the files under the same names.

    :raises BulkError: ``distributed`` is not installed, nobody answers at ``address``, or the
        cluster has no workers
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
        source = iter(partitions)
        waiting: deque[tuple[Partition, Any]] = deque()
        while True:
            while len(waiting) < workers * AHEAD and (one := next(source, None)) is not None:
                # Not pure: a partition done before may be another file's by now.
                waiting.append((one, client.submit(_call, work, one, pure=False)))
            if not waiting:
                return
            partition, future = waiting.popleft()
            try:
                yield partition, future.result()
            except KilledWorker as error:
                yield partition, Lost(f"the workers that had it died: {error}")
            # The cluster may forget it: memory is bounded there too.
            future.release()


def _call(work: Work, partition: Partition) -> Outcome:
    return work(partition)
