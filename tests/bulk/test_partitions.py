"""Files parted anywhere give the same records with the same numbers."""

import csv
import json
import os
import threading

import pytest

from althaia.bulk import csv_files, json_files
from althaia.bulk.pieces import BulkError, Unreadable
from althaia.bulk.reading import form_of, items, partitions


def read(file, form, size):
    """All items with their numbers in the file, through partitions of ``size`` bytes."""
    found = []
    for partition in partitions(str(file), form, size):
        for line, record in items(partition):
            said = record.text if isinstance(record, Unreadable) else record
            found.append((line, said))
    return found


@pytest.mark.parametrize("size", [1, 2, 7, 64, 1000, 10**6])
def test_ndjson(tmp_path, size):
    file = tmp_path / "x.ndjson"
    file.write_bytes('\ufeff{"a": 1}\n\n  \n{"a": "é"}\r\n[\n{"a": 3}'.encode())
    found = read(file, "ndjson", size)
    (line, said) = found.pop(2)
    assert found == [(1, {"a": 1}), (4, {"a": "é"}), (6, {"a": 3})]
    assert line == 5
    assert said.startswith("not JSON: Expecting value")


def test_ndjson_that_is_cut_off_in_a_line_or_in_a_character(tmp_path):
    file = tmp_path / "x.ndjson"
    file.write_bytes(b'{"a": 1}\n{"a": "\xc3')
    first, (line, said) = read(file, "ndjson", 4)
    assert (first, line) == ((1, {"a": 1}), 2)
    assert "can't decode byte 0xc3" in said
    assert said.endswith("the file ends within this line")


@pytest.mark.parametrize("size", [1, 10, 30, 10**6])
def test_csv_with_breaks_and_quotes_in_cells(tmp_path, size):
    file = tmp_path / "x.csv"
    file.write_bytes(
        b'\xef\xbb\xbf"i\nd",text\r\n1,"two\nlines, one ""word"""\r\n2,\n\n3,a,b\n4,\xff\n5,"cut'
    )
    found = read(file, "csv", size)
    assert found[:2] == [
        (3, {"i\nd": "1", "text": 'two\nlines, one "word"'}),
        (5, {"i\nd": "2", "text": ""}),
    ]
    assert found[2] == (7, "3 cells where the head has 2")
    assert found[3] == (8, "not UTF-8")
    assert found[4][0] == 9
    # PyPy's message names the line, too.
    assert found[4][1].startswith("not CSV: ")
    assert "unexpected end of data" in found[4][1]
    assert len(found) == 5


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("", "no line with the names"),
        ("a,b,a\n1,2,3\n", "more than one column is named 'a'"),
        (None, "No such file"),
    ],
)
def test_csv_without_a_good_head(tmp_path, head, said):
    file = tmp_path / "x.csv"
    if head is not None:
        file.write_text(head)
    with pytest.raises(BulkError, match=said):
        list(partitions(str(file), "csv"))


@pytest.mark.parametrize("block", [1, 3, 16, 2**20])
@pytest.mark.parametrize("elements", [1, 2, 10_000])
@pytest.mark.parametrize("size", [1, 10**6])
def test_json_arrays_in_blocks_of_any_size(tmp_path, monkeypatch, block, elements, size):
    values = [
        {"a": [1, {"é": 'x\\"y\u1234'}]},
        12345,
        -1.5e10,
        None,
        "text",
        [],
        True,
        "\U0001f600",
    ]
    file = tmp_path / "x.json"
    file.write_text(" " + json.dumps(values, ensure_ascii=False, indent=1) + "\n ")
    monkeypatch.setattr(json_files, "BLOCK", block)
    monkeypatch.setattr(json_files, "ELEMENTS", elements)
    assert read(file, "json", size) == list(enumerate(values, 1))


@pytest.mark.parametrize(
    ("text", "good", "said"),
    [
        ("[1, 2", 2, "expected ',' or ']', found the end"),
        ('[1, {"a": ', 1, "Expecting value"),
        ('[1, "ab', 1, "Unterminated string"),
        ("[1, 2] 3", 2, "there is more behind the array"),
        ("[1, 2]\n[3]", 2, "there is more behind the array"),
        ("[1 2]", 1, "expected ',' or ']', found '2'"),
        ("[1, 2, tru]", 2, "Expecting value: line 1 column 1 (char 0)"),
        ("[1,]", 1, "Expecting value"),
        ('{"a": 1}', 0, "expected '[', found '{'"),
        ("", 0, "expected '[', found the end"),
        ("[ ]\n", 0, None),
    ],
)
def test_json_that_is_none(tmp_path, text, good, said):
    file = tmp_path / "x.json"
    file.write_text(text)
    found = read(file, "json", 1)
    if said is None:
        assert found == []
        return
    assert found[:-1] == [(1, 1), (2, 2)][:good]
    # The mistake belongs to the element after the last good one.
    assert found[-1][0] == good + 1
    assert said in found[-1][1]
    assert found[-1][1].endswith("the rest is not read")


@pytest.mark.parametrize("block", [1, 3, 16, 2**20])
def test_json_with_bytes_that_are_no_characters(tmp_path, monkeypatch, block):
    file = tmp_path / "x.json"
    monkeypatch.setattr(json_files, "BLOCK", block)
    good = '"é", ' * 1_000
    file.write_bytes(
        b"[" + good.encode() + b'"a\xff\xc3", "\\udcff", {"\xc3": 1}, "\xc3\xa9", \xff, 1]'
    )
    found = read(file, "json", 1)
    assert found[:1_000] == [(i, "é") for i in range(1, 1_001)]
    assert found[1_000:-1] == [
        (1_001, "not UTF-8"),
        (1_002, "\udcff"),
        (1_003, "not UTF-8"),
        (1_004, "é"),
    ]
    assert found[-1][0] == 1_005
    assert found[-1][1].endswith("the rest is not read")


@pytest.mark.parametrize(
    ("size", "elements", "most"), [(1_000, 10_000, 10), (1_000, 7, 7), (10**6, 10_000, 500)]
)
def test_a_partition_of_a_json_array_holds_so_much_text_and_so_many_elements(
    tmp_path, monkeypatch, size, elements, most
):
    monkeypatch.setattr(json_files, "ELEMENTS", elements)
    file = tmp_path / "x.json"
    file.write_text("[" + ",".join(['"' + "x" * 97 + '"'] * 500) + "]")
    found = list(partitions(str(file), "json", size))
    assert {len(one.content) for one in found[:-1]} <= {most}
    assert sum(len(one.content) for one in found) == 500
    assert len(found[0].content) == most
    # The bracket at the end belongs to no partition.
    assert sum(one.share for one in found) == file.stat().st_size - 1


def test_the_form_is_said_by_the_name_or_has_to_be_named():
    assert [form_of(f"x.{end}") for end in ("jsonl", "JSON", "csv", "pq")] == [
        "ndjson",
        "json",
        "csv",
        "parquet",
    ]
    assert form_of("x.txt", "csv") == "csv"
    with pytest.raises(BulkError, match=r"x\.txt: its name does not say"):
        form_of("x.txt")
    with pytest.raises(BulkError, match="'xml' is no form"):
        form_of("x.txt", "xml")


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("form", "text"), [("json", "[1, 2]"), ("ndjson", "1\n2\n"), ("csv", "a\n1\n2\n")]
)
def test_text_comes_through_a_pipe(tmp_path, form, text):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(text,), daemon=True)
    writer.start()
    found = read(pipe, form, 10**6)
    writer.join()
    expected = [(2, {"a": "1"}), (3, {"a": "2"})] if form == "csv" else [(1, 1), (2, 2)]
    assert found == expected


@pytest.mark.timeout(20)
def test_parquet_comes_through_no_pipe(tmp_path):
    pytest.importorskip("pyarrow")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_text, args=("x",), daemon=True).start()
    with pytest.raises(BulkError, match="pipe: cannot be read as Parquet"):
        list(partitions(str(pipe), "parquet"))


ODD_CSV = {
    "quotes in the middle of a cell are text": (
        b'id,5" pipe\n1,5" pipe\n2,"two\nlines"\n3,"a"b\n4,"one, ""\n""two"\n5,7"\n'
        b'6,"x\r\ny"\r\n7,8" and 9"\n',
        [
            (2, {"id": "1", '5" pipe': '5" pipe'}),
            (3, {"id": "2", '5" pipe': "two\nlines"}),
            (5, "not CSV: ',' expected after '\"'"),
            (6, {"id": "4", '5" pipe': 'one, "\n"two'}),
            (8, {"id": "5", '5" pipe': '7"'}),
            (9, {"id": "6", '5" pipe': "x\r\ny"}),
            (11, {"id": "7", '5" pipe': '8" and 9"'}),
        ],
    ),
    "a lone carriage return in a cell ends a line": (
        b'id\n"a\rb\rc"\n\n"d\ne"\nf\n"g"h\ni\n',
        [
            (2, {"id": "a\rb\rc"}),
            (6, {"id": "d\ne"}),
            (8, {"id": "f"}),
            (9, "not CSV: ',' expected after '\"'"),
            (10, {"id": "i"}),
        ],
    ),
    "a lone carriage return ends what is no record": (
        b'a,b\n"x"y\r1,"q\nz"\r2,"r\ns\n"\n3,t\n',
        [
            (2, "not CSV: ',' expected after '\"'"),
            (3, {"a": "1", "b": "q\nz"}),
            (5, {"a": "2", "b": "r\ns\n"}),
            (8, {"a": "3", "b": "t"}),
        ],
    ),
}


@pytest.mark.parametrize("size", [1, 5, 10, 12, 10**6])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize(("text", "expected"), ODD_CSV.values(), ids=ODD_CSV)
def test_odd_csv(tmp_path, size, mark, text, expected):
    file = tmp_path / "x.csv"
    file.write_bytes(mark + text)
    assert read(file, "csv", size) == expected


@pytest.mark.parametrize("size", [1, 1_000, 10**6])
def test_a_cell_longer_than_csv_takes_by_itself(tmp_path, size):
    file = tmp_path / "x.csv"
    cells = ["\n".join(["7,inside"] * 20_000), "x" * 150_000]
    file.write_text(f'a,b\n1,"{cells[0]}"\n2,{cells[1]}\n3,y\n', newline="")
    found = read(file, "csv", size)
    assert [line for line, _ in found] == [2, 20_002, 20_003]
    # `all` compares them, because pytest would take minutes to show how they differ.
    wanted = [{"a": "1", "b": cells[0]}, {"a": "2", "b": cells[1]}, {"a": "3", "b": "y"}]
    assert all(one == record for one, (_, record) in zip(wanted, found, strict=True))


@pytest.mark.parametrize("size", [1, 100, 10**6])
@pytest.mark.parametrize("cell", ['"' + "7,inside\n" * 50 + '"', "x" * 300, '"never closed'])
def test_behind_a_cell_that_is_too_long_nothing_is_taken_for_records(
    tmp_path, monkeypatch, size, cell
):
    monkeypatch.setattr(csv_files, "MOST_IN_CELL", 200)
    limit = csv.field_size_limit(200)
    file = tmp_path / "x.csv"
    file.write_text(f"a,b\n1,x\r2,{cell}\n" + "3,y\n" * 100)
    try:
        found = read(file, "csv", size)
    finally:
        csv.field_size_limit(limit)
    assert found == [(2, {"a": "1", "b": "x"}), (3, csv_files.TOO_LONG)]
    assert found[-1][1].endswith("; the rest is not read")
