"""Check files of records against a schema, line by line, on one core or many.

Reads NDJSON, JSON arrays, CSV and Parquet. Each record is loaded by itself; problems are told by
line, counted by message, and written to a file with --errors-to. Memory does not grow with the
files. The exit code is 0 if every record is valid, 1 if one is not, 2 if a file could not be read.

    python -m althaia check shop.schemas:Order orders.ndjson --workers 4
"""

import argparse

from althaia import bulk
from althaia.cli import Answer, bulkwork


def configure(parser: argparse.ArgumentParser) -> None:
    bulkwork.configure(parser)
    what = "what is checked; - is standard input, .gz is unpacked"
    parser.add_argument("file", nargs="+", help=what)


def execute(options: argparse.Namespace) -> Answer:
    return bulkwork.run(options, options.file, bulk.check, options.file)
