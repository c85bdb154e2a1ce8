"""Check and convert files: send partitions to an executor and join their outcomes in order."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from typing import Any

from althaia.bulk import executors
from althaia.bulk.executors import Done
from althaia.bulk.pieces import BulkError, Partition, Problem, Summary
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
    schema: Any,
    files: str | Sequence[str],
    *,
    form: str | None = None,
    workers: int = 1,
    dask: str | None = None,
    errors_to: str | None = None,
    empty: str = "field",
    size: int = PARTITION_BYTES,
    most_unpacked: int | None = None,
    tell: Tell = lambda problem: None,
    watch: Watch = lambda partition, summary: None,
) -> Summary:
    """Load every record of ``files`` by ``schema`` and count what is wrong.

    :param schema: a schema class or an instance
    :param files: their paths, or the path of one; ``-`` is standard input; ``.gz`` are unpacked
    :param form: ``ndjson``, ``json``, ``csv`` or ``parquet``; by default the names say it
    :param workers: processes of this machine; 1 means this process alone
    :param dask: the address of a Dask scheduler, whose workers do it instead
    :param errors_to: a file that gets each problem as a line of JSON
    :param empty: what an empty cell of CSV means: ``field``, an empty text where the field accepts
        one, else no value; or always ``text``, ``missing`` or ``null``
    :param size: bytes in a partition
    :param most_unpacked: the bytes that a ``.gz`` may become; by default 200 times its size, and
        64 MiB for a small one
    :param tell: is called with each problem, in the order of the files
    :param watch: is called after each partition with what is known so far
    :raises BulkError: a file or an option that nothing can be done with
    :raises LatePatchError: a worker imported marshmallow before althaia could redirect it
    """
    task = Task(schema, empty=empty)
    named = [files] if isinstance(files, str) else files
    return _Job(
        task, named, None, form, workers, dask, errors_to, size, most_unpacked, tell, watch
    ).run()


def convert(
    schema: Any,
    source: str,
    target: str,
    *,
    form: str | None = None,
    to_form: str | None = None,
    dump: bool = False,
    workers: int = 1,
    dask: str | None = None,
    errors_to: str | None = None,
    empty: str = "field",
    size: int = PARTITION_BYTES,
    most_unpacked: int | None = None,
    tell: Tell = lambda problem: None,
    watch: Watch = lambda partition, summary: None,
) -> Summary:
    """Load every record of ``source`` and write those that are valid to ``target``.

    They are written in their order, as the schema dumps them; to Parquet as they were loaded.
    With ``dump`` they are dumped without being loaded. ``target`` appears when it is whole. The
    other parameters and errors are those of :func:`check`.
    """
    if is_copied(target):
        raise BulkError(f"{target}: is not written: name a file that is not packed")
    to_form = form_of(target, to_form)
    if dump and to_form == "parquet":
        raise BulkError("Parquet is written as records are loaded: it cannot be had with dump")
    task = Task(schema, to_form, dump=dump, empty=empty)
    return _Job(
        task, [source], target, form, workers, dask, errors_to, size, most_unpacked, tell, watch
    ).run()


@dataclass(frozen=True)
class _Job:
    """One call of :func:`check` or :func:`convert`, which explains the fields."""

    task: Task
    files: Sequence[str]
    target: str | None
    form: str | None
    workers: int
    dask: str | None
    errors_to: str | None
    size: int
    most_unpacked: int | None
    tell: Tell
    watch: Watch

    def run(self) -> Summary:
        """Do it: write what there is to be written, tell of each problem, and count."""
        forms = self._forms()
        summary = Summary()
        with ExitStack() as stack:
            tell, write = [summary.add, self.tell], []
            if self.errors_to is not None:
                compare(self.errors_to, self.files, self.target)
                tell.append(stack.enter_context(problems_to(self.errors_to)))
            if self.target is not None:
                assert self.task.target is not None
                form, schema = self.task.target, self.task.schema
                write.append(stack.enter_context(written_to(self.target, form, schema)))
            done = self._execute()(self.task, self._partitions(forms, stack))
            for partition, outcome in stack.enter_context(closing(done)):
                if outcome.lost:
                    summary.lost.append(f"{partition}: {outcome.lost}")
                else:
                    summary.records += outcome.records
                    for line, kind, errors in outcome.problems:
                        problem = Problem(partition.file, line, kind, errors)
                        for each in tell:
                            each(problem)
                    for each in write:
                        each(outcome.output)
                self.watch(partition, summary)
            if self.target is not None and summary.lost:
                raise BulkError(
                    f"{self.target} was not written, parts of it are missing: "
                    + "; ".join(summary.lost)
                )
        summary.files = len(self.files)
        return summary

    def _forms(self) -> list[str]:
        """Return the form of each file; BulkError if the options do not go together."""
        if self.workers < 1:
            raise BulkError(f"{self.workers} workers cannot do anything: at least 1")
        if not self.files:
            raise BulkError("no file is named")
        forms = [form_of(file, self.form) for file in self.files]
        copied = [file for file in self.files if is_copied(file)]
        if self.dask is not None and copied:
            raise BulkError(
                f"{copied[0]}: is read by way of a copy on this machine, and the workers of a "
                "cluster read files themselves: name a file that is not packed"
            )
        if copied.count(STANDARD_INPUT) > 1:
            raise BulkError("standard input is named twice, and can be read once")
        return forms

    def _execute(self) -> Callable[..., Generator[Done]]:
        if self.dask is not None:
            return partial(executors.dask, address=self.dask)
        if self.workers > 1:
            return partial(executors.processes, count=self.workers)
        return executors.here

    def _partitions(self, forms: Sequence[str], copies: ExitStack) -> Iterator[Partition]:
        for file, form in zip(self.files, forms, strict=True):
            path = copies.enter_context(readable(file, self.most_unpacked))
            found = partitions(file, form, self.size, path)
            for number, partition in enumerate(found):
                if number == 0 and form in ("csv", "parquet"):
                    self._compare_columns(partition)
                yield partition

    def _compare_columns(self, partition: Partition) -> None:
        """Raise BulkError if the columns match no field: this is an error of the file, not of each
        of its records."""
        schema = self.task.schema
        if self.task.dump or schema._hooks.get("pre_load"):
            return
        known = {
            name if field.data_key is None else field.data_key: field
            for name, field in schema.load_fields.items()
        }
        strange = [name for name in partition.columns if name not in known]
        lacking = [
            name
            for name, field in known.items()
            if field.required and name not in partition.columns and not schema.partial
        ]
        words = []
        if strange and schema.unknown == "raise":
            words.append(f"has columns that the schema does not know: {', '.join(strange)}")
        if lacking:
            words.append(f"lacks columns that the schema requires: {', '.join(lacking)}")
        if words:
            raise BulkError(f"{partition.file}: {'; '.join(words)}")
