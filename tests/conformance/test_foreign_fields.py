"""Fields of the user's own in lazy instances: whose code sees what, how often, in which order."""

import datetime as dt
from unittest import mock

import pytest

from benchmarks.third_party import library
from tests.conformance.material import Plain, meta, subclass, watching


def test_instances_of_their_own(ma, log):
    own, fields = watching(ma, log), ma.fields
    Inner = ma.Schema.from_dict({"own": own(), "plain": fields.Int()}, name="Inner")
    item = {"own": "o", "plain": 3}

    class Outer(ma.Schema):
        id = fields.Int()
        own_field = own(load_default="d", data_key="own", attribute="own")
        inner = fields.Nested(Inner)
        listed = fields.List(own())
        pairs = fields.Dict(keys=fields.Str(), values=own())
        several = fields.Tuple((fields.Int(), own()))
        nested = fields.List(fields.Nested(Inner))

    def source(number=1):
        return {
            "id": number, "own": f"own {number}", "inner": item, "listed": ["a", "b"],
            "pairs": {"k": "v"}, "several": (1, "x"), "nested": [item, item],
        }  # fmt: skip

    def record(number=1):
        return {**source(number), "several": [1, "x"]}

    def make(number=0, **options):
        one = Outer(**options)
        one.tag = number
        return one

    for i in range(6):
        log("first", make(i).dump(source(i)), make(-i).load(record(i)))
        one = make(i)
        log("uses", [one.dump(source(k)) for k in range(4)], one.load(record()), one.validate({}))
        log("many", one.dump([source(1), source(2)], many=True))
        log("only", make(i, only=("own_field", "inner.own", "nested.plain")).dump(source()))
        log.attempt(make(i, exclude=("listed", "own_field")).load, record(), unknown="exclude")
        log.attempt(make(i, exclude=("listed", "inner.own")).load, record(), unknown="exclude")
        log("partial", make(i, partial=True).load({"own": "x"}))
        log("dump_only", make(i, dump_only=("own_field",)).load({"own": "x"}, unknown="include"))
        log("many", make(i, many=True).dump([source(1), source(2)]))
        one = make(i)
        log.attempt(one.load, {**record(), "own": 3, "listed": [1, "a"], "nested": [{"own": 1}, 2]})
        log("messages", one.validate({"inner": {"own": 4}}))
        log.attempt(make(i).dump, {**source(), "several": (1,)})
        log.attempt(make(i).dump, {**source(), "pairs": 5})


def test_what_is_seen_is_what_is_there(ma, log):
    """The field whose code ran is the one in ``schema.fields``, before, then and later."""
    kept = []

    class Keeping(ma.fields.String):
        def _serialize(self, value, attr, obj, **kwargs):
            kept.append(self)
            return value

    class Holder(ma.fields.List):
        def _serialize(self, value, attr, obj, **kwargs):
            kept.append(self)
            return super()._serialize(value, attr, obj, **kwargs)

    cls = ma.Schema.from_dict(
        {"a": Keeping(), "b": Holder(Keeping()), "c": ma.fields.List(Keeping())}
    )
    for look_first in (False, True, False, True, False):
        one = cls()
        kept.clear()
        fields = dict(one.fields) if look_first else None
        one.dump({"a": "x", "b": ["y"], "c": ["z"]})
        fields = fields or one.fields
        own = fields["a"], fields["b"], fields["b"].inner, fields["c"].inner
        log("same", [mine is seen for mine, seen in zip(own, kept, strict=True)])
        log("bound", [(field.parent is one, field.root is one) for field in kept])
        for each in (one.dump_fields, one.load_fields, one.declared_fields, cls._declared_fields):
            log("same", each["a"] is kept[0])


@pytest.mark.parametrize("name", ["dump_default", "load_default", "required", "other"])
def test_a_field_that_changes_itself(ma, log, name):
    class Changing(ma.fields.String):
        def change(self):
            setattr(self, name, "changed")

        def _serialize(self, value, attr, obj, **kwargs):
            self.change()
            return f"{value} {getattr(self, name, None)}"

        def _deserialize(self, value, attr, data, **kwargs):
            self.change()
            return f"{value} {getattr(self, name, None)}"

    cls = ma.Schema.from_dict({"a": Changing(), "b": ma.fields.Int()})
    for _ in range(5):
        one = cls()
        log("dump", one.dump({"a": 1}), one.dump({"a": 1}), one.dump({}))
        two = cls()
        log.attempt(two.load, {"a": "1"})
        log.attempt(two.load, {"a": "1"})
        log.attempt(two.load, {})


@pytest.mark.parametrize("name", ["parent", "root", "data_key", "load_only", "attribute", "inner"])
def test_computed_attributes(ma, log, name):
    def get(self):
        log("get", name)
        return self.__dict__.get(name)

    def set_(self, value):
        log("set", name)
        self.__dict__[name] = value

    own = type("Own", (ma.fields.List,), {name: property(get, set_)})
    cls = ma.Schema.from_dict({"a": own(ma.fields.Int()), "b": ma.fields.Int()})
    for _ in range(5):
        log.attempt(lambda: cls().dump({"a": [1], "b": 2}))


# ---- Other libraries' fields --------------------------------------------------------------


def test_webargs_delimited_values(ma, log):
    webargs = library(ma, "webargs.fields")

    class Loud:
        def __format__(self, spec):
            log("formatted", spec)
            return "loud"

    class Ends:
        def __format__(self, spec):
            raise StopIteration

    class Other(webargs.DelimitedFieldMixin, ma.fields.List):
        delimiter = "|"
        empty_value = None

    class Further(webargs.DelimitedList):
        def _serialize(self, value, attr, obj, **kwargs):
            return super()._serialize([*value, 0], attr, obj, **kwargs)

        def _deserialize(self, value, attr, data, **kwargs):
            return [*super()._deserialize(value, attr, data, **kwargs), 0]

    class Doubled(ma.fields.List):
        def _serialize(self, value, attr, obj, **kwargs):
            return super()._serialize([*value, *value], attr, obj, **kwargs)

    Between = subclass(webargs.DelimitedFieldMixin, Doubled)
    kinds = {
        "raw": webargs.DelimitedList(ma.fields.Raw(allow_none=True)),
        "whole": webargs.DelimitedList(ma.fields.Int(), validate=ma.validate.Length(max=3)),
        "days": webargs.DelimitedList(ma.fields.Date(), delimiter=" / "),
        "other": Other(ma.fields.Str(allow_none=True)),
        "further": Further(ma.fields.Str()),
        "between": Between(ma.fields.Str()),
        "own": webargs.DelimitedList(watching(ma, log)()),
        "pair": webargs.DelimitedTuple((ma.fields.Int(), ma.fields.Str())),
        "seen": webargs.DelimitedTuple((watching(ma, log)(), ma.fields.Raw()), delimiter="; "),
        "none": webargs.DelimitedTuple(()),
        "nested": webargs.Nested({"x": ma.fields.Int()}),
    }
    dumped = (
        [], None, "ab", 3, [1, None, "x"], (1, 2), (1, "x"), [1, 2, 3], (1, 2, 3),
        [dt.date(2024, 2, 29)], [Loud(), Loud()],
        [Ends()], (Loud(), Ends()),
    )  # fmt: skip
    loaded = (
        "", "a", "1,2", ",", "1,,2", "1;2", "1,2,3,4", "x,1", "a; b",
        "2024-02-29 / 2024-03-01", "a||b", b"1,2", 3, None, ["1"],
    )  # fmt: skip
    for name, field in kinds.items():
        cls = ma.Schema.from_dict({name: field})
        one = cls()
        for value in dumped:
            log.attempt(cls().dump, {name: value})
            log.attempt(one.dumps, [{name: value}, {}], many=True)
        for value in loaded:
            log.attempt(cls().load, {name: value})
            log.attempt(one.load, [{name: value}, {}], many=True)


def test_webargs_fields_that_change(ma, log):
    webargs = library(ma, "webargs.fields")
    cls = ma.Schema.from_dict({"tags": webargs.DelimitedList(ma.fields.Str())})
    one = cls()

    def both():
        log.attempt(one.dump, {"tags": ["a", "b"]})
        log.attempt(one.load, {"tags": "a;b,c"})
        log.attempt(cls().load, {"tags": "a;b,c"})

    for one.fields["tags"].delimiter in (",", ";", "", ","):
        both()
    mixin, methods = webargs.DelimitedFieldMixin, ("_serialize", "_deserialize")
    with mock.patch.multiple(mixin, **dict.fromkeys(methods, lambda *args, **options: "replaced")):
        both()
    both()


def zone_of(far):
    return dt.timezone(dt.timedelta(hours=far))


def is_even(far):
    return far % 2 == 0


# What a property that stands before a field's own attribute gives, by how far the schema is.
COMPUTED = {
    "error_messages": ("Integer", lambda far: {"invalid": f"far: {far}", "required": "r"}, "x"),
    "validators": ("String", lambda far: [lambda value: len(value) <= far], "abc"),
    "default_timezone": ("AwareDateTime", zone_of, "2024-01-01T10:00:00"),
    "timezone": ("NaiveDateTime", zone_of, "2024-01-01T10:00:00+00:00"),
    "allow_nan": ("Decimal", is_even, "NaN"),
    **dict.fromkeys(("required", "allow_none"), ("Integer", is_even, None)),
    "strict": ("Integer", is_even, "1.5"),
    "as_string": ("Integer", is_even, 1),
    **dict.fromkeys(("load_default", "dump_default"), ("Integer", lambda far: far, None)),
    "truthy": ("Boolean", lambda far: {f"t{far}"}, "t2"),
}


@pytest.mark.parametrize("hook", ["no hook", "on_bind_field"])
@pytest.mark.parametrize("name", COMPUTED)
def test_a_property_that_stands_before_what_a_field_keeps(ma, log, name, hook):
    """It is asked of the instance's own field, whose schema is that instance."""
    base, of, value = COMPUTED[name]
    own = type(
        "Own",
        (getattr(ma.fields, base),),
        {name: property(lambda self: of(getattr(self.root, "far", 7)), lambda self, value: None)},
    )

    class S(ma.Schema):
        f = own()
        plain = ma.fields.Integer()

        def __init__(self, far, **options):
            self.far = far
            super().__init__(**options)

    if hook != "no hook":
        S.on_bind_field = lambda self, field_name, field_obj: log("bound", field_name)
    for far in (1, 2, 3, 4, 1, 2):
        made = S(far)
        for data in ({"f": value}, {}, {"f": None}, {"f": "t2"}):
            log.attempt(made.load, data)
            log.attempt(made.dump, data)
        log.attempt(S(far, many=True).load, [{"f": value}, {}])


def shop(ma, log):
    """Mapped classes, an open session with two authors, and marshmallow-sqlalchemy."""
    sa = pytest.importorskip("sqlalchemy")
    from sqlalchemy import orm
    from sqlalchemy.ext.associationproxy import association_proxy

    foreign = library(ma, "marshmallow_sqlalchemy")
    base = orm.declarative_base()

    class Author(base):
        __tablename__ = "author"
        id = sa.Column(sa.Integer, primary_key=True)
        name = sa.Column(sa.String)
        books = orm.relationship("Book", back_populates="author", order_by="Book.isbn")
        titles = association_proxy("books", "title")

    class Book(base):
        __tablename__ = "book"
        isbn = sa.Column(sa.String, primary_key=True)
        edition = sa.Column(sa.Integer, primary_key=True)
        title = sa.Column(sa.String)
        author_id = sa.Column(sa.ForeignKey("author.id"))
        author = orm.relationship("Author", back_populates="books")

    engine = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool)
    base.metadata.create_all(engine)
    session = orm.Session(engine)
    books = [Book(isbn=f"i{i}", edition=i, title=f"t{i}") for i in range(3)]
    session.add_all([Author(id=1, name="a", books=books[:2]), Author(id=2), books[2]])
    session.commit()
    log.at_end(engine.dispose)
    log.at_end(session.close)
    return foreign, Author, Book, session


def test_related_of_marshmallow_sqlalchemy(ma, log):
    foreign, Author, Book, session = shop(ma, log)
    related, listed = foreign.fields.Related, foreign.fields.RelatedList

    class Auto(foreign.SQLAlchemyAutoSchema):
        Meta = meta(model=Book, include_relationships=True)

    class Own(foreign.SQLAlchemySchema):
        Meta = meta(model=Author)
        books = listed(related(attribute="books"), attribute="books")
        titles = related("title", attribute="books", dump_only=True)
        both = listed(
            related(["title", "isbn"], attribute="books"), attribute="books", dump_only=True
        )

    class Further(related):
        @property
        def related_keys(self):
            log("asked")
            return super().related_keys

    class Others(foreign.SQLAlchemySchema):
        Meta = meta(model=Book)
        author = Further()
        none = related(attribute="author", dump_only=True)
        proxy = related(attribute="nope")

    for _ in range(4):
        for book in session.query(Book).order_by(Book.isbn):
            log.attempt(Auto().dump, book)
            log.attempt(Others(only=("author", "none")).dump, book)
            log.attempt(Others().dump, book)
        for author in session.query(Author).order_by(Author.id):
            log.attempt(Own(only=("books", "both")).dump, author)
            log.attempt(Own().dump, author)
        log("many", Auto(many=True).dump(session.query(Book).order_by(Book.isbn).all()))
    one = Auto()
    book = session.query(Book).order_by(Book.isbn).first()
    log("as it was", [one.dump(book) for _ in range(4)])
    one.fields["author"].columns.append("name")
    log("another column", one.dump(book))
    one.fields["author"].columns = ["id", "name"]
    log("other columns", one.dump(book))


def test_instances_of_marshmallow_sqlalchemy(ma, log):
    foreign, Author, Book, session = shop(ma, log)

    class BookSchema(foreign.SQLAlchemyAutoSchema):
        Meta = meta(model=Book, load_instance=True)

    class AuthorSchema(foreign.SQLAlchemyAutoSchema):
        Meta = meta(model=Author, load_instance=True, include_relationships=True)
        books = ma.fields.List(foreign.fields.Nested(BookSchema))

    record = {"id": 1, "name": "new", "books": [{"isbn": "i0", "edition": 0, "title": "t"}]}

    def shown(author):
        books = [(book.isbn, book.title) for book in author.books]
        return author.id, author.name, books, author in session

    for _ in range(5):
        log("loaded", shown(AuthorSchema(session=session).load(record)))
        log("given", shown(AuthorSchema().load(record, session=session, instance=Author(id=7))))
        log.attempt(AuthorSchema().load, record)
        log.attempt(AuthorSchema(session=session).load, {"books": [{"isbn": 3}]})
        session.rollback()
        log("transient", shown(AuthorSchema(transient=True).load(record)))


@pytest.mark.parametrize("inner", ["auto", "made", "own load", "own session", "no session"])
def test_nested_loads_of_marshmallow_sqlalchemy(ma, log, inner):
    """A nested load is the field's own: it gives its session to the schema, and calls ``load``."""
    foreign, Author, Book, session = shop(ma, log)

    class Plain(ma.Schema):
        isbn = ma.fields.String(required=True)

        @ma.post_load
        def seen(self, data, **kwargs):
            log("seen", sorted(vars(self)), getattr(self, "session", 0) is session)
            return data

    class BookSchema(foreign.SQLAlchemyAutoSchema):
        Meta = meta(model=Book, load_instance=inner == "made")
        seen = Plain.seen

    class Loading(BookSchema):
        def load(self, data, **kwargs):
            log("load", data, sorted(kwargs))
            return super().load(data, **kwargs)

    kinds = {
        "own load": Loading,
        "own session": type("WithSession", (Plain,), {"session": None, "transient": None}),
        "no session": Plain,
    }
    cls = kinds.get(inner, BookSchema)

    class Nested(foreign.fields.Nested):
        def _deserialize(self, *args, **kwargs):
            log("around", self.name, type(self.root).__name__, self.parent is self.root)
            return super()._deserialize(*args, **kwargs)

    class Writer(foreign.SQLAlchemyAutoSchema):
        Meta = meta(model=Author)
        book = foreign.fields.Nested(cls, unknown="exclude")
        books = Nested(cls, many=True)
        several = ma.fields.List(foreign.fields.Nested(cls, only=("isbn",)))

    Root = ma.Schema.from_dict({"book": foreign.fields.Nested(cls)})

    def shown(loaded):
        if isinstance(loaded, dict):
            return {name: shown(value) for name, value in loaded.items()}
        if isinstance(loaded, list):
            return [shown(each) for each in loaded]
        return (loaded.isbn, loaded.title) if isinstance(loaded, Book) else loaded

    def load(schema, record, **options):
        return shown(schema.load(record, **options))

    one = {"isbn": "i0"} if "session" in inner else {"isbn": "i0", "edition": 0, "title": "t"}
    made = Writer(transient=True)
    for record in [
        {"book": {**one, "more": 1}, "books": [one, one], "several": [{"isbn": "i1"}] * 2},
        {"book": {"isbn": 1}, "books": [one, {"isbn": 2}], "several": [{"isbn": 3}, 4]},
        {"book": None, "books": one, "several": [None]},
    ] * 3:
        with session.no_autoflush:
            log.attempt(load, Writer(session=session), record)
            log.attempt(load, Writer(), record, session=session, partial=True)
            log.attempt(load, made, record, unknown="include")
            log.attempt(load, Root(), {"book": record["book"]})
        session.rollback()
    # The first planned load replaces what marshmallow-sqlalchemy calls to please type checkers.
    names = foreign.SQLAlchemyAutoSchema.load.__globals__
    cast = names.get("_cast_data")
    if cast is not None:
        with mock.patch.dict(names, _cast_data=lambda data: (log("cast", data), data)[1]):
            log.attempt(load, Writer(transient=True), {"book": one})
            log.attempt(load, made, {"books": [one]})


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.usefixtures("hooked_at_once")
def test_nested_schemas_that_get_a_session_are_their_instances_own(ma, log, own):
    """The nested field is the only one, so that nothing else makes room for its instance's own."""
    foreign, Author, Book, _ = shop(ma, log)

    class Inner(foreign.SQLAlchemyAutoSchema):
        Meta = meta(model=Book)

        @ma.post_load
        def seen(self, data, **kwargs):
            log("seen", self.session, self.transient)
            return data

    class Outer(foreign.SQLAlchemySchema):
        Meta = meta(model=Author)
        book = foreign.fields.Nested(Inner)

        if own:

            def on_bind_field(self, name, field):
                field.metadata = {"of": self._session}

    schemas = []
    for number in range(6):
        one = Outer(session=f"session {number}")
        log.attempt(one.load, {"book": {"isbn": "i", "edition": number}})
        log.attempt(one.load, {"book": {"isbn": number}})
        schemas.append(one.fields["book"].schema)
        log("schema", schemas[-1].session, one.fields["book"].parent is one, len(set(schemas)))


def test_links_of_flask_marshmallow(ma, log):
    flask = pytest.importorskip("flask")
    foreign = library(ma, "flask_marshmallow.fields")
    app = flask.Flask("shop")
    app.add_url_rule("/a/<name>", "a", lambda name: "")
    app.add_url_rule("/all", "all", lambda: "")

    class Tagged(foreign.URLFor):
        def _serialize(self, value, key, obj):
            log("tagged", key)
            return super()._serialize(value, key, obj)

    class Links(ma.Schema):
        url = foreign.URLFor("a", values={"name": " < name > ", "page": 2, "q": "x", "f": True})
        deep = foreign.URLFor("a", values={"name": "<inner.name>"})
        full = foreign.AbsoluteURLFor("a", values={"name": "<name>"})
        plain = foreign.AbsoluteURLFor("all")
        own = Tagged("a", values={"name": "<name>"})
        wrong = foreign.URLFor("nowhere", load_only=True)
        tree = foreign.Hyperlinks(
            {
                "self": foreign.URLFor("a", values={"name": "<name>"}),
                "list": [foreign.AbsoluteURLFor("all"), Tagged("all"), "text", 3, None],
                "deep": {"er": (foreign.URLFor("a", values={"name": "<inner.name>"}),)},
            }
        )

    objects = [
        {"name": "n", "inner": {"name": "i"}}, Plain(name="n", inner=Plain(name=3)), {"name": "n"},
        Plain(name="", inner=None), {"name": None, "inner": {"name": None}}, {"inner": {}},
        Plain(name="n", inner=7),
    ]  # fmt: skip
    with app.test_request_context():
        for _ in range(4):
            for obj in objects:
                log.attempt(Links().dump, obj)
                log.attempt(Links(only=("tree",)).dump, obj)
                log.attempt(Links(only=("deep",)).dump, obj)
        one = Links()
        for _ in range(3):
            one.dump(objects[0])
        one.fields["url"].values["also"] = "<inner.name>"
        one.fields["tree"].schema["more"] = foreign.URLFor("all")
        log("changed", one.dump(objects[0]))
        one.fields["url"].endpoint = "nowhere"
        log.attempt(one.dump, objects[0])
    log.attempt(Links().dump, objects[0])


def test_links_by_another_url_for(ma, log):
    """A test replaces ``url_for`` in this way."""
    pytest.importorskip("flask")
    foreign = library(ma, "flask_marshmallow.fields")
    cls = ma.Schema.from_dict(
        {
            "url": foreign.URLFor("a", values={"id": "<id>"}),
            "links": foreign.Hyperlinks({"self": foreign.URLFor("b")}),
        }
    )
    for round in range(4):
        log.patch(foreign, "url_for", lambda name, at=round, **values: (at, name, values))
        log("dumped", cls().dump({"id": 3}))
    with mock.patch.object(foreign, "_tpl", return_value=None):
        log("another meaning", cls().dump({"id": 3}))
    log("as before", cls().dump({"id": 3}))


def test_one_of_several_schemas(ma, log):
    pytest.importorskip("marshmallow_oneofschema")
    foreign = library(ma, "marshmallow_oneofschema")

    A = ma.Schema.from_dict({"a": ma.fields.Int(required=True)})

    class B(ma.Schema):
        b = ma.fields.Str(required=True)
        made = ma.post_load(log.hook("made"))

    class Either(foreign.OneOfSchema):
        type_schemas = {"a": A, "b": B()}

        def get_obj_type(self, obj):
            return obj.get("kind")

    class Outer(ma.Schema):
        one = ma.fields.Nested(Either)
        several = ma.fields.List(ma.fields.Nested(Either))

    records = [{"type": "a", "a": "1"}, {"type": "b", "b": "x"}, {"type": "c"}, {}, {"type": "a"}]
    objects = [{"kind": "a", "a": 1}, {"kind": "b", "b": "x"}, {"kind": "c"}, {}]
    for _ in range(5):
        for record in records:
            log.attempt(Either().load, dict(record))
            log.attempt(Outer().load, {"one": record, "several": [record, record]})
            log.attempt(Either().validate, dict(record))
        for obj in objects:
            log.attempt(Either().dump, obj)
            log.attempt(Outer().dump, {"one": obj, "several": [obj, obj]})
        log.attempt(Either(many=True).load, [dict(record) for record in records])
        log.attempt(Either(many=True).dump, objects)
