"""``Schema.dumps``: what is about the text and nothing else; every scenario that dumps runs through
it as well.
"""

import hashlib

import pytest

from tests.conformance.text import without_notes

OPTIONS = {
    "none": {},
    "compact sorted": {"separators": (",", ":"), "sort_keys": True},
    "unescaped": {"ensure_ascii": False},
    "indented": {"indent": 1},
}


def row_of(ma):
    return ma.Schema.from_dict(
        {
            "number": ma.fields.Integer(),
            "raw": ma.fields.Raw(),
            "text": ma.fields.String(),
            "last": ma.fields.Raw(),
        }
    )


@pytest.mark.parametrize("wide", ["never", "early", "late", "in a container", "long"])
@pytest.mark.parametrize("count", [1, 40, 3_000])
@pytest.mark.parametrize("options", OPTIONS)
def test_texts_of_every_length(ma, log, options, count, wide):
    """Long text is written where the str has it, and has containers of the user's in between."""
    rows = [
        {"number": i, "raw": {"i": [i, None]} if i % 3 else i, "text": "x" * (i % 40), "last": [{}]}
        for i in range(count)
    ]
    if wide == "in a container":
        rows[count // 2]["raw"] = {"é": ["日", "\ud800"]}
    elif wide == "long":
        long = '日é"\n\x7f\ud800' * 100
        rows[0]["text"] = rows[-1]["last"] = long
        rows[count // 2]["raw"] = {long: [long, "é", {"b": long[1:]}]}
    elif wide != "never":
        rows[0 if wide == "early" else -1]["text"] = "日é"
    text = row_of(ma)(many=True).dumps(rows, **OPTIONS[options])
    log("text", type(text), len(text), text if count < 50 else hash_of(text))
    assert ma.Schema.from_dict({"a": ma.fields.Raw()})().dumps({"a": rows}, **OPTIONS[options])


def hash_of(text):
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@pytest.mark.parametrize("options", OPTIONS)
def test_the_whole_text_is_one_container(ma, log, options):
    class Hooked(row_of(ma)):
        @ma.post_dump(pass_collection=True)
        def wrap(self, data, **kwargs):
            return {"rows": data, "more": [{"a": 1, "b": 2}, {"a": 1, "c": 2}, {"b": 1, "a": 2}]}

    rows = [{"number": i, "raw": {"a": i, "b": [i]}, "text": "é" * (i % 2)} for i in range(2_000)]
    for _ in range(3):
        log("text", hash_of(Hooked(many=True).dumps(rows, **OPTIONS[options])))


def test_what_cannot_be_encoded(ma, log):
    rows = [{"number": i, "raw": [i]} for i in range(5_000)]
    rows[4_000]["raw"] = {"a": object}
    rows[4_500]["last"] = float("nan")

    def text(**options):
        with without_notes():
            return hash_of(row_of(ma)(many=True).dumps(rows, **options))

    log.attempt(text)
    log.attempt(text, allow_nan=False)
    log.attempt(text, default=lambda value: value.__name__)
