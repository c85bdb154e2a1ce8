"""Large work: files of records checked or converted, on one core, on all, on many machines.

:func:`check` and :func:`convert` are what ``python -m althaia check`` and ``convert`` call::

    from althaia import bulk

    summary = bulk.check(OrderSchema, ["orders.ndjson"], workers=4)
    print(summary.valid, summary.invalid)

A file is read in partitions, one after the other: memory does not grow with the file. What the
partitions give is put together in their order, whoever worked on them. Worker processes redirect
marshmallow before they import the schema; this process is as the application made it.
"""

from __future__ import annotations

from althaia.bulk.jobs import check, convert
from althaia.bulk.pieces import BulkError, Partition
from althaia.bulk.summary import Problem, Summary

__all__ = ["BulkError", "Partition", "Problem", "Summary", "check", "convert"]
