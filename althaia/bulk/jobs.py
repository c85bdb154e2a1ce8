"""Check and convert files: send partitions to an executor and join their outcomes in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from typing import Any

from althaia import seam
from althaia.bulk import executors
from althaia.bulk.pieces import BulkError, Partition, Problem, Summary, by_key
from althaia.bulk.reading import (
    PARTITION_BYTES,
    STANDARD_INPUT,
    form_of,
    is_copied,
    partitions,
    readable,
)
from althaia.bulk.task import Task
from althaia.bulk.writing import compare, problems_to, written_to

Watch = Callable[[Partition, Summary], object]
Tell = Callable[[Problem], object]


def check(
    schema: Any, files: str | Sequence[str], *, empty: str = "field", **options: Any
) -> Summary:
    """Load every record of ``files`` by ``schema`` and count what is wrong.

    :param schema: a schema class or an instance
    :param files: their paths, or the path of one; ``-`` is standard input; ``.gz`` are unpacked
    :param empty: what an empty cell of CSV means: ``field``, an empty text where the field accepts
        one, else no value; or always ``text``, ``missing`` or ``null``
    :param form: ``ndjson``, ``json``, ``csv`` or ``parquet``; by default the names say it
    :param workers: processes of this machine; by default 1, this process alone
    :param dask: the address of a Dask scheduler, whose workers do it instead
    :param errors_to: a file that gets each problem as a line of JSON
    :param size: bytes in a partition
    :param most_unpacked: the bytes that a ``.gz`` may become; by default 200 times its size, and
        64 MiB for a small one
    :param tell: is called with each problem, in the order of the files
    :param watch: is called after each partition with what is known so far
    :raises BulkError: a file or an option that nothing can be done with
    :raises LatePatchError: a worker imported marshmallow before althaia could redirect it
    """
    named = [files] if isinstance(files, str) else files
    return _run(Task(schema, empty=empty), named, None, **options)


def convert(
    schema: Any,
    source: str,
    target: str,
    *,
    to_form: str | None = None,
    dump: bool = False,
    empty: str = "field",
    **options: Any,
) -> Summary:
    """Load every record of ``source`` and write those that are valid to ``target``.

    They are written in their order, as the schema dumps them; to Parquet as they were loaded.
    With ``dump`` they are dumped without being loaded. ``target`` appears when it is whole. The
    other parameters and errors are those of :func:`check`.
    """
    if is_copied(target):
        raise BulkError(f"{target}: is not written: name a file, without .gz")
    compare(target, [source])
    to_form = form_of(target, to_form)
    if dump and to_form == "parquet":
        raise BulkError("Parquet is written as records are loaded: it cannot be had with dump")
    return _run(Task(schema, to_form, dump=dump, empty=empty), [source], target, **options)


def _run(
    task: Task,
    files: Sequence[str],
    target: str | None,
    *,
    form: str | None = None,
    workers: int = 1,
    dask: str | None = None,
    errors_to: str | None = None,
    size: int = PARTITION_BYTES,
    most_unpacked: int | None = None,
    tell: Tell = lambda problem: None,
    watch: Watch = lambda partition, summary: None,
) -> Summary:
    """Write what there is to be written, tell of each problem, and count.

    :func:`check` explains the parameters.
    """
    if workers < 1:
        raise BulkError(f"{workers} workers cannot do anything: at least 1")
    if not files:
        raise BulkError("no file is named")
    if list(files).count(STANDARD_INPUT) > 1:
        raise BulkError("standard input is named twice, and can be read once")
    forms = [form_of(file, form) for file in files]
    summary = Summary(files=len(files))
    with ExitStack() as stack:
        to_tell, write = [summary.add, tell], []
        if errors_to is not None:
            compare(errors_to, files, [] if target is None else [target])
            to_tell.append(stack.enter_context(problems_to(errors_to)))
        if target is not None:
            assert task.target is not None
            write.append(stack.enter_context(written_to(target, task.target, task.schema)))

        def found() -> Iterator[Partition]:
            for file, its_form in zip(files, forms, strict=True):
                path = stack.enter_context(readable(file, most_unpacked))
                for number, partition in enumerate(partitions(file, its_form, size, path)):
                    if number == 0 and its_form in ("csv", "parquet"):
                        _compare_columns(task, partition)
                    yield partition

        if dask is not None:
            done = executors.dask(task, found(), dask)
        elif workers > 1:
            done = executors.processes(task, found(), workers)
        else:
            done = executors.here(task, found())
        for partition, outcome in stack.enter_context(closing(done)):
            if outcome.lost:
                summary.lost.append(f"{partition}: {outcome.lost}")
            else:
                summary.records += outcome.records
                for problem in outcome.problems:
                    for each in to_tell:
                        each(problem)
                for each in write:
                    each(outcome.output)
            watch(partition, summary)
        if target is not None and summary.lost:
            lost = "; ".join(summary.lost)
            raise BulkError(f"{target} was not written, parts of it are missing: {lost}")
    return summary


def _compare_columns(task: Task, partition: Partition) -> None:
    """Raise BulkError if the columns match no field: this is an error of the file, not of each of
    its records."""
    schema = task.schema
    if task.dump or seam.hooks_of(schema, "pre_load"):
        return
    known = by_key(schema.load_fields)
    strange = [name for name in partition.columns if name not in known]
    if strange and schema.unknown == "raise":
        raise BulkError(
            f"{partition.file}: has columns that the schema does not know: {', '.join(strange)}"
        )
    required = [] if schema.partial else [name for name in known if known[name].required]
    if lacking := [name for name in required if name not in partition.columns]:
        raise BulkError(
            f"{partition.file}: lacks columns that the schema requires: {', '.join(lacking)}"
        )
