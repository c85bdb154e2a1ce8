"""Objects of other libraries: values, and the SQL that getting them takes, are upstream's."""

import sys
from typing import Optional

import pytest
import sqlalchemy as sa
from sqlalchemy import event, orm
from sqlalchemy.ext.associationproxy import association_proxy
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import attributes

from tests.conformance.material import written
from tests.engine import NEEDS_ENGINE


class Shop:
    """A database of authors and their books, and a log of the statements it is sent."""

    def __init__(self, log):
        base = orm.declarative_base()

        class Author(base):
            __tablename__ = "author"
            id = sa.Column(sa.Integer, primary_key=True)
            kind = sa.Column(sa.String)
            name = sa.Column(sa.String)
            bio = orm.deferred(sa.Column(sa.String))
            born = sa.Column("year", sa.Integer)
            books = orm.relationship("Book", back_populates="author", order_by="Book.id")
            lazy_books = orm.relationship("Book", lazy="dynamic", viewonly=True)
            also = orm.synonym("name")
            loud = orm.column_property(sa.func.upper(name))
            titles = association_proxy("books", "title")
            plain = "of the class"
            __mapper_args__ = {"polymorphic_on": kind, "polymorphic_identity": "author"}

            @hybrid_property
            def shout(self):
                log("hybrid", self.name)
                return f"{self.name}!"

            @property
            def size(self):
                return len(self.books)

        class Editor(Author):
            __mapper_args__ = {"polymorphic_identity": "editor"}

        class Book(base):
            __tablename__ = "book"
            id = sa.Column(sa.Integer, primary_key=True)
            title = sa.Column(sa.String)
            author_id = sa.Column(sa.ForeignKey("author.id"))
            author = orm.relationship(Author, back_populates="books")

        self.base, self.Author, self.Editor, self.Book = base, Author, Editor, Book
        self.engine = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool)
        base.metadata.create_all(self.engine)
        with orm.Session(self.engine) as session:
            session.add_all(
                (Editor if i == 2 else Author)(
                    id=i,
                    name=f"name {i}",
                    bio=f"bio {i}",
                    born=1900 + i,
                    books=[Book(id=i * 10 + k, title=f"title {i}.{k}") for k in range(2)],
                )
                for i in (1, 2, 3)
            )
            session.commit()
        self.session = orm.Session(self.engine)

        @event.listens_for(self.engine, "before_cursor_execute")
        def told(connection, cursor, statement, parameters, context, many):
            log("sql", statement, parameters)

        # From 3.13 on an open connection warns when it is freed.
        log.at_end(self.close)

    def close(self):
        self.session.close()
        self.engine.dispose()
        # Only mappers of this test are disposed of: the classes of other tests stay mapped.
        self.base.registry.dispose()

    def authors(self):
        return list(self.session.scalars(sa.select(self.Author).order_by(self.Author.id)))


def schema(ma, *, books=True, **others):
    fields = ma.fields

    Book = ma.Schema.from_dict({"id": fields.Int(), "title": fields.Str()}, name="Book")
    members = {name: fields.Int() for name in ("id", "born")}
    members |= {"name": fields.Str(), "plain": fields.Str()}
    members["nowhere"] = fields.Str(dump_default="default")
    if books:
        members["books"] = fields.List(fields.Nested(Book))
    return ma.Schema.from_dict(members | others)


def everything(ma):
    fields = ma.fields
    return schema(
        ma,
        **{name: fields.Str() for name in ("bio", "also", "loud", "shout")},
        size=fields.Int(),
        titles=fields.List(fields.Str()),
        lazy_books=fields.Function(lambda author: author.lazy_books.count()),
    )


MOMENTS = written(
    {"sa": sa}, "shop, authors",
    loaded="",
    expired="""shop.session.expire(authors[0])
shop.session.expire(authors[1], ["name"])
shop.session.refresh(authors[2], ["born"])""",
    committed="shop.session.commit()",
    rolled_back="shop.session.rollback()",
    changed="""authors[0].name = "changed"
authors[1].books.append(shop.Book(id=99, title="new"))""",
    without_a_name="del authors[2].name",
    detached="shop.session.expunge_all()",
    deleted="""shop.session.execute(sa.text("delete from author"))
shop.session.expire(authors[0])""",
)  # fmt: skip


@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("moment", MOMENTS)
def test_moments_of_mapped_objects(ma, log, moment, used):
    shop = Shop(log)
    authors = shop.authors()
    dump = schema(ma)(many=True).dump
    if used:
        dump(authors)
    MOMENTS[moment](shop, authors)
    for cls in (schema(ma, books=False), schema(ma), everything(ma)):
        log("several", log.attempt(cls(many=True).dump, authors))
        one = cls()
        for author in authors:
            for _ in range(3):
                log.attempt(one.dump, author)
    log("again", log.attempt(dump, authors))
    log.attempt(lambda: everything(ma)(only=("bio",), many=True).dump(shop.authors()))


def test_transient_and_empty(ma, log):
    shop = Shop(log)
    empty = shop.Author()
    log("before", sorted(name for name in vars(empty) if name != "_sa_instance_state"))
    dumped = [schema(ma)().dump(empty) for _ in range(3)]
    log("after", sorted(name for name in vars(empty) if name != "_sa_instance_state"))
    missing = shop.Author(born=3)
    missing.__dict__["name"] = ma.missing
    log("missing", [schema(ma, books=False)().dump(missing) for _ in range(3)])
    return dumped, schema(ma)(many=True).dump([shop.Author(name="n", books=[shop.Book()])])


def test_dotted_and_nested(ma, log):
    shop = Shop(log)
    fields = ma.fields
    book = schema(
        ma,
        books=False,
        writer=fields.Str(attribute="author.name"),
        rank=fields.Int(attribute="author.nope.rank", dump_default=0),
        author=fields.Nested(schema(ma, books=False)),
        sizes=fields.Int(attribute="author.size"),
    )
    books = list(shop.session.scalars(sa.select(shop.Book).order_by(shop.Book.id)))
    log("loaded")
    return book(many=True).dump(books), book(many=True).dump(books)


def test_two_classes_in_one_list(ma, log):
    shop = Shop(log)
    authors = shop.authors()
    mixed = [authors[0], {"name": "dict"}, authors[1], shop.Book(title="t"), authors[2]] * 3
    return schema(ma, books=False, title=ma.fields.Str())(many=True).dump(mixed)


class Other:
    name = property(lambda self: "other")
    born = 3


IN_THE_MIDDLE = written(
    {"Other": Other}, "author, cls, log",
    class_changes='cls.born = property(lambda self: log("property") or 7)',
    other_class="author.__class__ = Other",
    other_dictionary='author.__dict__ = {**vars(author), "name": "swapped"}',
)  # fmt: skip


@pytest.mark.parametrize("change", IN_THE_MIDDLE)
def test_an_object_that_changes_in_the_middle(ma, log, change):
    shop = Shop(log)

    def meddle(author):
        if isinstance(author, shop.Author) and author.id == 2:
            IN_THE_MIDDLE[change](author, shop.Author, log)
        return 1

    changing = ma.Schema.from_dict(
        {"at": ma.fields.Function(meddle), "name": ma.fields.Str(), "born": ma.fields.Int()}
    )
    return changing(many=True).dump(shop.authors())


class OwnDescriptor(attributes.InstrumentedAttribute):
    """A user's own; it changes what is read."""

    __slots__ = ()

    def __get__(self, instance, owner):
        value = super().__get__(instance, owner)
        return value if instance is None else f"<{value}>"


def own_descriptor(log, shop):
    orm.configure_mappers()
    shop.Author.name.__class__ = OwnDescriptor


def patched_descriptor(log, shop):
    get = attributes.InstrumentedAttribute.__get__

    def patched(self, instance, owner):
        if instance is not None:
            log("get", self.key)
        return get(self, instance, owner)

    log.patch(attributes.InstrumentedAttribute, "__get__", patched)


def own_instrumentation(log, shop):
    of = attributes.instance_dict
    named = {"name": "instrumented"}
    log.patch(attributes, "instance_dict", lambda instance: {**of(instance), **named})


def asked_implementation(log, shop):
    impl = shop.Author.name.impl

    class Asked(type(impl)):
        __slots__ = ()
        supports_population = False

        def get(self, state, dict_, *args, **kwargs):
            log("asked", self.key)
            return "asked"

    impl.__class__ = Asked


def own_getitem(log, shop):
    def getitem(self, key):
        log("item", key)
        if key == "born":
            raise KeyError(key)
        return f"item {key}"

    shop.Author.__getitem__ = getitem


def own_getattribute(log, shop):
    def getattribute(self, name):
        if name in ("name", "born"):
            log("attribute", name)
        return object.__getattribute__(self, name)

    shop.Author.__getattribute__ = getattribute


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    "change",
    [own_descriptor, patched_descriptor, own_instrumentation, asked_implementation, own_getitem,
     own_getattribute],
)  # fmt: skip
def test_ways_of_getting_a_value_that_change(ma, log, change, when):
    shop = Shop(log)
    raw = {name: ma.fields.Raw() for name in ("id", "name", "born", "plain")}
    dump = ma.Schema.from_dict(raw)(many=True).dump
    authors = shop.authors()
    if when == "after":
        dump(authors)
    change(log, shop)
    found = [log.attempt(dump, authors), log.attempt(dump, authors)]
    for name in ("__getitem__", "__getattribute__"):
        if name in vars(shop.Author):
            delattr(shop.Author, name)
    return found, log.attempt(dump, authors)


# ---- Rows ------------------------------------------------------------------------------

ROW_NAMES = ("id", "name", "count", "index", "_hidden", "mro", "born", "nope", "_data", "t")


def rows_of(shop, *, mappings=False, **columns):
    author = shop.Author.__table__.c
    query = sa.select(
        author.id,
        author.name,
        author.id.label("count"),
        author.id.label("index"),
        author.name.label("_hidden"),
        author.name.label("mro"),
        author.year.label("born"),
        *(sa.literal(value).label(name) for name, value in columns.items()),
    ).order_by(author.id)
    result = shop.session.execute(query)
    return list(result.mappings() if mappings else result)


@pytest.mark.parametrize("mappings", [False, True])
def test_rows(ma, log, mappings):
    shop = Shop(log)
    rows = rows_of(shop, mappings=mappings)
    fields = {name: ma.fields.Raw() for name in ROW_NAMES}
    fields["default"] = ma.fields.Raw(dump_default=1)
    fields["dotted"] = ma.fields.Raw(attribute="name.real")
    cls = ma.Schema.from_dict(fields)
    log("all", str(cls(many=True).dump(rows)))
    for row in rows:
        log("one", str(cls(only=("id", "name", "mro", "born")).dump(row)))


@pytest.mark.parametrize("mappings", [False, True])
def test_rows_of_several_results_in_one_list(ma, log, mappings):
    shop = Shop(log)
    one = rows_of(shop, mappings=mappings)
    two = rows_of(shop, mappings=mappings, extra=5)
    three = rows_of(shop, mappings=mappings, name=7)
    cls = ma.Schema.from_dict({name: ma.fields.Raw() for name in ("extra", "id", "name", "born")})
    mixed = [row for rows in zip(one, two, three, strict=True) for row in rows]
    log.attempt(cls(many=True).dump, mixed)
    # A RowMapping says that a name stands for two columns.
    return cls(many=True).dump([row for rows in zip(one, two, strict=True) for row in rows])


def test_rows_of_objects(ma, log):
    shop = Shop(log)
    rows = shop.session.execute(
        sa.select(shop.Author, shop.Book.title).join(shop.Book).order_by(shop.Book.id)
    ).all()
    cls = ma.Schema.from_dict(
        {
            "Author": ma.fields.Nested(schema(ma, books=False)),
            "title": ma.fields.Str(),
            "name": ma.fields.Str(attribute="Author.name"),
        }
    )
    return cls(many=True).dump(rows)


def test_a_subclass_of_rows(ma, log):
    shop = Shop(log)
    rows = rows_of(shop)

    class Own(type(rows[0])):
        __slots__ = ()

        def __getattr__(self, name):
            log("attribute", name)
            return super().__getattr__(name)

    parent = rows[0]
    own = Own.__new__(Own)
    own.__setstate__(parent.__getstate__())
    return ma.Schema.from_dict({"id": ma.fields.Int(), "name": ma.fields.Str()})().dump(own)


# ---- Others ----------------------------------------------------------------------------


def test_sqlmodel_models(ma, log):
    sqlmodel = pytest.importorskip("sqlmodel")

    class Base(sqlmodel.SQLModel, registry=orm.registry()):
        pass

    class Team(Base, table=True):
        id: int | None = sqlmodel.Field(default=None, primary_key=True)
        name: str
        heroes: list["Hero"] = sqlmodel.Relationship(back_populates="team")

    class Hero(Base, table=True):
        id: int | None = sqlmodel.Field(default=None, primary_key=True)
        name: str
        team_id: int | None = sqlmodel.Field(default=None, foreign_key="team.id")
        team: Optional["Team"] = sqlmodel.Relationship(back_populates="heroes")

        @property
        def loud(self):
            log("loud", self.name)
            return f"{self.name}!"

    named = ma.Schema.from_dict({"name": ma.fields.Str()})
    cls = ma.Schema.from_dict(
        {
            **{name: ma.fields.Raw() for name in ("id", "name", "team_id", "loud", "nope")},
            "team": ma.fields.Nested(named),
            "heroes": ma.fields.Pluck(named, "name", many=True),
            "deep": ma.fields.Str(attribute="team.name"),
        }
    )
    engine = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool)
    Base.metadata.create_all(engine)
    with sqlmodel.Session(engine) as session:
        team = Team(name="t")
        session.add_all([Hero(name="h1", team=team), Hero(name="h2", team=team), Hero(name="h3")])
        session.commit()
        for _ in range(3):
            heroes = session.exec(sqlmodel.select(Hero).order_by(Hero.id)).all()
            log("heroes", cls(many=True).dump(heroes), cls().dump(heroes[0]))
            log("team", cls().dump(team))
            session.expire_all()
    engine.dispose()
    return cls().dump(Hero(name="new"))


@NEEDS_ENGINE
def test_sqlalchemy_is_the_release_that_the_reader_knows():
    """Without readers the scenarios above would compare upstream's code with itself."""
    from althaia.engine.objects.sqlalchemy import orm_readers, row_readers

    assert "sqlalchemy.orm.attributes" in sys.modules
    assert len(orm_readers()) == 1
    # Rows of SQLAlchemy 1.4 have another class.
    assert len(row_readers()) == (0 if sa.__version__.startswith("1.") else 2)
