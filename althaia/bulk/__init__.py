"""Checks or converts files of records, on one core, on all, or on many machines.

:func:`check` and :func:`convert` are what ``python -m althaia check`` and ``convert`` call::

    from althaia import bulk

    summary = bulk.check(OrderSchema, ["orders.ndjson"], workers=4)
    print(summary.valid, summary.invalid)

A file is read in partitions, so that memory does not grow with the file. The outcomes of the
partitions are joined in their order. Worker processes redirect marshmallow before they import the
schema; this process keeps the marshmallow of the application.
"""

from __future__ import annotations

from althaia.bulk.jobs import check, convert
from althaia.bulk.pieces import BulkError, Partition, Problem, Summary

__all__ = ["BulkError", "Partition", "Problem", "Summary", "check", "convert"]
