"""Check and convert files: send partitions to an executor and join their outcomes in order."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial

from althaia.bulk import executors
from althaia.bulk.executors import Lost
from althaia.bulk.inputs import STANDARD_INPUT, is_copied, readable
from althaia.bulk.outputs import Problems, appearing, compare
from althaia.bulk.partitions import PARTITION_BYTES, form_of, parted
from althaia.bulk.pieces import BulkError, Partition, naming
from althaia.bulk.records import lines_in
from althaia.bulk.summary import Problem, Summary
from althaia.bulk.task import Task

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from typing import Any

    from althaia.bulk.executors import Done
    from althaia.bulk.summary import Outcome

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
    return _Job(schema, None, False, empty, errors_to, most_unpacked, tell, watch).run(
        [files] if isinstance(files, str) else files, form, workers, dask, size
    )


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
    job = _Job(schema, (target, to_form), dump, empty, errors_to, most_unpacked, tell, watch)
    return job.run([source], form, workers, dask, size)


class _Job:
    """One call of :func:`check` or :func:`convert`."""

    def __init__(
        self,
        schema: Any,
        target: tuple[str, str] | None,
        dump: bool,
        empty: str,
        errors_to: str | None,
        most_unpacked: int | None,
        tell: Tell,
        watch: Watch,
    ) -> None:
        self._task = Task(schema, target and target[1], dump=dump, empty=empty)
        self._schema = self._task.schema
        self._target = target
        self._errors_to = errors_to
        self._most_unpacked = most_unpacked
        self._tell, self._watch = tell, watch
        self._summary = Summary()

    def run(
        self, files: Sequence[str], form: str | None, workers: int, dask: str | None, size: int
    ) -> Summary:
        if workers < 1:
            raise BulkError(f"{workers} workers cannot do anything: at least 1")
        if not files:
            raise BulkError("no file is named")
        forms = [form_of(file, form) for file in files]
        copied = [file for file in files if is_copied(file)]
        if dask is not None and copied:
            raise BulkError(
                f"{copied[0]}: is read by way of a copy on this machine, and the workers of a "
                "cluster read files themselves: name a file that is not packed"
            )
        if copied.count(STANDARD_INPUT) > 1:
            raise BulkError("standard input is named twice, and can be read once")
        if self._errors_to is not None:
            compare(self._errors_to, files, self._target and self._target[0])
        with ExitStack() as stack:
            errors = None
            if self._errors_to is not None:
                errors = stack.enter_context(Problems(self._errors_to))
            out = None
            if self._target is not None:
                from althaia.bulk.writers import Target

                file, to_form = self._target
                opened = stack.enter_context(appearing(file))
                out = stack.enter_context(Target(opened, file, to_form, self._schema))
            located = self._located(files, forms, workers, dask, size, stack)
            for partition, problems, outcome in stack.enter_context(closing(located)):
                for problem in problems:
                    self._summary.add(problem)
                    self._tell(problem)
                    if errors is not None:
                        errors.add(problem)
                if out is not None and outcome is not None:
                    out.add(outcome.output)
                self._watch(partition, self._summary)
            if out is not None and self._summary.lost:
                raise BulkError(
                    f"{out.file} was not written, parts of it are missing: "
                    + "; ".join(self._summary.lost)
                )
        self._summary.files = len(files)
        return self._summary

    def _located(
        self,
        files: Sequence[str],
        forms: Sequence[str],
        workers: int,
        dask: str | None,
        size: int,
        copies: ExitStack,
    ) -> Generator[tuple[Partition, list[Problem], Outcome | None]]:
        """Yield outcomes in order, with line numbers that count from the beginning of the file."""
        execute: Callable[..., Iterator[Done]] = executors.here
        if dask is not None:
            execute = partial(executors.dask, address=dask)
        elif workers > 1:
            execute = partial(executors.processes, count=workers)
        before, place = 0, None
        for partition, outcome in execute(self._task, self._partitions(files, forms, size, copies)):
            if partition.place != place:
                place, before = partition.place, _lines_before(partition)
            if isinstance(outcome, Lost):
                self._summary.lost.append(f"{partition}: {outcome.reason}")
                before += lines_in(partition)
                yield partition, [], None
                continue
            self._summary.records += outcome.records
            problems = [
                Problem(partition.file, before + line, kind, errors)
                for line, kind, errors in outcome.problems
            ]
            before += outcome.lines
            yield partition, problems, outcome

    def _partitions(
        self, files: Sequence[str], forms: Sequence[str], size: int, copies: ExitStack
    ) -> Iterator[Partition]:
        for place, (file, form) in enumerate(zip(files, forms, strict=True)):
            known = False
            path = copies.enter_context(readable(file, self._most_unpacked))
            copy = "" if path == file else path
            for found in _named(parted(path, form, size), path, file):
                partition = replace(found, file=file, place=place, copy=copy)
                if not known and form in ("csv", "parquet"):
                    self._compare_columns(partition)
                    known = True
                yield partition

    def _compare_columns(self, partition: Partition) -> None:
        """Raise BulkError if the columns match no field: this is an error of the file, not of each
        of its records."""
        if self._task.dump or self._schema._hooks.get("pre_load"):
            return
        known = {
            name if field.data_key is None else field.data_key: field
            for name, field in self._schema.load_fields.items()
        }
        strange = [name for name in partition.columns if name not in known]
        lacking = [
            name
            for name, field in known.items()
            if field.required and name not in partition.columns and not self._schema.partial
        ]
        words = []
        if strange and self._schema.unknown == "raise":
            words.append(f"has columns that the schema does not know: {', '.join(strange)}")
        if lacking:
            words.append(f"lacks columns that the schema requires: {', '.join(lacking)}")
        if words:
            raise BulkError(f"{partition.file}: {'; '.join(words)}")


def _named(partitions: Iterator[Partition], path: str, file: str) -> Iterator[Partition]:
    """Yield the partitions of a copy; errors name the file that it is made of."""
    try:
        yield from partitions
    except BulkError as error:
        raise BulkError(str(error).replace(path, file)) from error


def _lines_before(partition: Partition) -> int:
    """The lines of a CSV file's head."""
    if partition.form != "csv":
        return 0
    with naming(partition.file), open(partition.path, "rb") as opened:
        return opened.read(partition.start).count(b"\n")
