"""Load records from one form of file and write what is valid in another.

From and to NDJSON, JSON arrays, CSV and Parquet. Records are loaded and written as the schema dumps
them, to Parquet with the types they were loaded as; with --dump they are dumped without being
loaded. What is not valid is left out, told and counted as by 'check', with the same exit codes.

    python -m althaia convert shop.schemas:Order orders.csv orders.parquet
"""

import argparse
from functools import partial

from althaia import bulk
from althaia.bulk.reading import FORMS
from althaia.cli import Answer, bulkwork


def configure(parser: argparse.ArgumentParser) -> None:
    bulkwork.configure(parser)
    add = parser.add_argument
    add("source", help="what is read; - is standard input, .gz is unpacked")
    add("target", help="the file that is written; it appears when it is whole")
    add("--to-format", choices=FORMS,
        help="of what is written; by default the file's name says it")  # fmt: skip
    add("--dump", action="store_true", help="dump without loading")


def execute(options: argparse.Namespace) -> Answer:
    job = partial(bulk.convert, to_form=options.to_format, dump=options.dump)
    return bulkwork.run(options, [options.source], job, options.source, options.target)
