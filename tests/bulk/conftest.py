import json

import pytest

from althaia import bulk


def order(i):
    return {
        "id": i,
        "name": f"Ünder {i}",
        "at": "2025-01-02T03:04:05+00:00",
        "day": "2025-01-02",
        "key": f"00000000-0000-0000-0000-{i:012x}",
        "paid": i % 2 == 0,
        "rate": None if i % 3 else i / 7,
        "lines": [{"position": 1, "price": "1.50"}],
    }


def written(file, *records, **options):
    file.write_text("".join(f"{json.dumps(one, **options)}\n" for one in records))
    return file


def lines(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def checked(schema, *files, **options):
    told = []
    return bulk.check(schema, [*map(str, files)], tell=told.append, **options), told


def converted(schema, source, target, **options):
    told = []
    return bulk.convert(schema, str(source), str(target), tell=told.append, **options), told


def made(schema, tmp_path, form, *records):
    """What was told of a conversion, and the text that it made."""
    target = tmp_path / f"out.{form}"
    _, told = converted(schema, written(tmp_path / "in.ndjson", *records), target)
    return told, target.read_text()


@pytest.fixture
def orders():
    return [order(i) for i in range(1, 501)]


@pytest.fixture
def ndjson(tmp_path, orders):
    return written(tmp_path / "orders.ndjson", *orders, ensure_ascii=False)
