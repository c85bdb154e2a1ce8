"""Readers are found by type, used where they may be, and given up where they may not."""

import functools
import linecache
import sys
import types
from hashlib import sha256
from pathlib import Path
from unittest import mock

import pytest
import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.orm import attributes

import althaia
from althaia import marshmallow as ma
from althaia.engine.objects import known_code as known, libraries, sqlalchemy as adapter
from tests.conformance.harness import plans_at_once
from tests.redirect import processes

readers = pytest.importorskip("althaia.engine.objects.object_reader")


@pytest.fixture
def authors():
    base = orm.declarative_base()

    class Author(base):
        __tablename__ = "author"
        id = sa.Column(sa.Integer, primary_key=True)
        name = sa.Column(sa.String)

    engine = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool)
    base.metadata.create_all(engine)
    session = orm.Session(engine)
    session.add_all(Author(id=i, name=f"name {i}") for i in range(1, 6))
    session.commit()
    authors = list(session.scalars(sa.select(Author)))
    # SQLAlchemy 1.4 decides at the first read.
    assert authors[0].id, authors[0].name
    yield authors
    session.close()
    # From 3.13 on a connection left open warns whoever runs at its end.
    engine.dispose()
    # Not orm.clear_mappers(), which takes the mappers of all other tests as well.
    base.registry.dispose()


@pytest.fixture
def dump():
    with plans_at_once():
        yield ma.Schema.from_dict({"id": ma.fields.Int(), "name": ma.fields.Str()})(many=True).dump


def calls_into(file, function, *args):
    """How often Python functions of a file run during a call."""
    seen = []

    def profile(frame, event, arg):
        if event == "call" and frame.f_code.co_filename == file:
            seen.append(frame.f_code.co_name)

    sys.setprofile(profile)
    try:
        function(*args)
    finally:
        sys.setprofile(None)
    return seen


def test_what_is_loaded_is_read_without_sqlalchemy_and_the_rest_asked_for(authors, dump):
    assert calls_into(attributes.__file__, dump, authors) == []
    dotted = ma.Schema.from_dict({"n": ma.fields.Raw(attribute="of.name")})(many=True).dump
    rows = [{"of": author} for author in authors]
    assert calls_into(attributes.__file__, dotted, rows) == []
    author = authors[0]
    author._sa_instance_state.session.expire(author, ["name"])
    assert calls_into(attributes.__file__, dump, [author]).count("__get__") == 1


def test_a_patch_ends_it_and_its_end_does_not_hurt(authors, dump, monkeypatch):
    get = attributes.InstrumentedAttribute.__get__
    with monkeypatch.context() as patch:
        patch.setattr(
            attributes.InstrumentedAttribute, "__get__", lambda self, *args: get(self, *args)
        )
        assert calls_into(attributes.__file__, dump, authors).count("__get__") == 10
    assert calls_into(attributes.__file__, dump, authors) == []


def test_an_unknown_release_is_not_read(monkeypatch):
    monkeypatch.setattr(adapter, "GET", frozenset())
    monkeypatch.setattr(adapter, "ROWS", frozenset())
    for maker in ("orm_readers", "row_readers"):
        with pytest.raises(libraries.NoReader, match="is not known"):
            getattr(adapter, maker)()
        assert libraries.load_readers("sqlalchemy", maker) == ()
    explanation = althaia.explain(ma.Schema())
    assert explanation.as_dict()["readers"] == libraries.status()
    mapped, rows, *_ = libraries.status().values()
    assert mapped == "the code of InstrumentedAttribute.__get__ is not known"
    assert rows.startswith("the code of sqlalchemy.")
    assert f"mapped objects: read as marshmallow does, because {mapped}" in explanation.as_text()


def test_readers_are_named():
    mapped, rows, *_ = althaia.explain(ma.Schema()).as_dict()["readers"].items()
    assert mapped == (f"sqlalchemy {sa.__version__}, mapped objects", "")
    assert rows == (f"sqlalchemy {sa.__version__}, rows", "")
    assert "mapped objects: read directly" in althaia.explain(ma.Schema()).as_text()


def test_every_library_is_registered_and_none_is_loaded_for_a_name_alone(monkeypatch):
    dumped = ma.Schema.from_dict({"id": ma.fields.Int()})().dump({"id": 1})
    assert dumped == {"id": 1}
    monkeypatch.delitem(sys.modules, "sqlalchemy")
    assert libraries.load_readers("sqlalchemy", "orm_readers") == ()


def test_what_is_known_code():
    one = known.digest("def f(a):\n    # why\n    return (a,\n        1)\n")
    assert one == known.digest("def f(a):\n\n  return (a, 1)")
    assert one != known.digest("def f(a):\n    return (a, 2)\n")
    assert not known.is_known(len, frozenset())
    assert not known.is_known_module("no.such.module", frozenset())
    get = attributes.InstrumentedAttribute.__get__

    assert known.is_known(get, adapter.GET)
    assert not known.is_known(functools.wraps(get)(lambda *args: get(*args)), adapter.GET)


def test_no_mock_sees_how_sources_are_read(authors, dump, monkeypatch):
    """What a test counts are its own calls; and what it makes them give is not what is read."""
    known._function_digest.cache_clear()
    known._module_digest.cache_clear()
    linecache.clearcache()
    session = orm.object_session(authors[0])
    rows = session.execute(sa.select(sa.literal(1).label("id"))).all()
    opened = mock.mock_open(read_data="")
    for name in ("builtins.open", "io.open", "os.stat", "os.path.exists"):
        monkeypatch.setattr(name, opened)
    orm_readers, row_readers = adapter.orm_readers(), adapter.row_readers()
    for _ in range(3):
        dump(rows), dump(authors)
    monkeypatch.undo()
    assert opened.mock_calls == []
    assert len(orm_readers) == 1
    assert len(row_readers) == 2


def test_a_source_is_read_once_and_a_failure_is_not_remembered(tmp_path):
    class Loader:
        reads = 0

        def get_data(self, path):
            self.reads += 1
            return Path(path).read_bytes()

    file = tmp_path / "of_a_library.py"
    module = types.ModuleType("of_a_library")
    module.__file__, module.__loader__ = str(file), Loader()
    digests = frozenset({sha256(b"x = 1\ny = 2\n").hexdigest()[:16]})
    with mock.patch.dict(sys.modules, of_a_library=module):
        assert not known.is_known_module("of_a_library", digests)
        file.write_bytes(b"x = 1\r\ny = 2\r\n")
        reads = module.__loader__.reads
        for _ in range(3):
            assert known.is_known_module("of_a_library", digests)
            assert not known.is_known_module("of_a_library", frozenset())
        assert module.__loader__.reads == reads + 1
        del module.__loader__
        assert not known.is_known_module("of_a_library", digests)


def test_a_watch_ends_with_what_it_watches():
    with pytest.raises(ValueError, match="16"):
        readers.Watch(tuple(type(f"T{i}", (), {}) for i in range(17)))


def test_what_is_patched_in_the_middle_is_seen_in_the_next_call(authors, monkeypatch):
    get, seen = attributes.InstrumentedAttribute.__get__, []

    def patched(self, instance, owner):
        seen.append(self.key)
        return get(self, instance, owner)

    def patch(author):
        monkeypatch.setattr(attributes.InstrumentedAttribute, "__get__", patched)

    fields = {"at": ma.fields.Function(patch), "name": ma.fields.Str()}
    dump = ma.Schema.from_dict(fields)().dump
    with plans_at_once():
        assert dump(authors[0])["name"] == "name 1"
        assert seen == []
        dump(authors[0])
    assert seen == ["name"]


def test_descriptors_that_keep_key_and_impl_in_their_dictionary(dump, monkeypatch):
    """As SQLAlchemy 1.4's do, which also say whether a value may be taken from the instance."""
    asked = []

    class Described:
        def __init__(self, key, permitted):
            self.key, self.impl, self.permitted = key, Implementation(), permitted

        def __get__(self, instance, owner):
            asked.append(self.key)
            return vars(instance)[self.key]

        def __set__(self, instance, value):
            vars(instance)[self.key] = value

    Implementation = type("Implementation", (), {})
    members = {"id": Described("id", True), "name": Described("name", False)}
    Row = type("Row", (), {"_sa_class_manager": 1, **members})
    watch, kinds = readers.Watch((Described, Implementation), ()), (Implementation,)
    options = {"descriptor": Described, "implementations": kinds, "permission": "permitted"}
    reader = readers.DescriptorReader(watch, **options)
    row = Row()
    row.id, row.name = 1, "x"
    monkeypatch.setattr(adapter, "orm_readers", lambda: (reader,))
    # The readers that are loaded are dropped with the first change of what they rest on.
    monkeypatch.setattr(attributes.InstrumentedAttribute, "note", 1, raising=False)
    assert dump([row, row]) == [{"id": 1, "name": "x"}] * 2
    assert asked == ["name"] * 2
    renamed = type("Row", (Row,), {"name": Described("id", True)})()
    vars(renamed).update(id=1, name="hidden")
    assert dump([renamed]) == [{"id": 1, "name": "1"}]
    Described.note = 1


BOUND = """
from sqlalchemy import Column, Integer, orm
from sqlalchemy.orm import attributes
from althaia import marshmallow as ma
from tests.plans.test_readers import calls_into, plans_at_once

class Author(orm.declarative_base()):
    __tablename__ = "author"
    id = Column(Integer, primary_key=True)

read, authors = [], [Author(id=1)] * 2
get = attributes.InstrumentedAttribute.__get__
with plans_at_once():
    dump = ma.Schema.from_dict({"id": ma.fields.Int()})(many=True).dump
    for _ in range(80):
        attributes.InstrumentedAttribute.__get__ = lambda self, *args: get(self, *args)
        assert dump(authors) == [{"id": 1}] * 2
        attributes.InstrumentedAttribute.__get__ = get
        assert dump(authors) == [{"id": 1}] * 2
        read.append(calls_into(attributes.__file__, dump, authors) == [])
print(read[0], read[-1])
"""


def test_a_library_that_changes_all_the_time_is_examined_no_more():
    root = Path(__file__).parents[2]
    assert processes.program(BOUND, cwd=root, env={"PYTHONPATH": str(root)}) == "True False\n"
