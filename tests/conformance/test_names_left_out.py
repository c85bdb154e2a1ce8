"""Names for which a class declares None, as marshmallow-sqlalchemy does for those it leaves out."""

import pytest

from tests.conformance.material import meta, state, written
from tests.conformance.test_foreign_fields import shop

ROW = {"id": 1, "name": "n", "inner": {"id": 2, "name": "m"}, "all": [{"id": 3}], "gone": 4}
RECORD = {"id": "1", "name": "n", "inner": {"id": "2"}, "all": [{"id": "3"}]}
REFUSED = {"id": "?", "inner": {"gone": 1}, "gone": 2}

OPTIONS = [
    {}, {"only": ("id", "inner.id")}, {"only": ("gone",)}, {"only": ("id", "gone")},
    {"only": ("id", "gone.x")}, {"only": ("nowhere",)}, {"exclude": ("id",)},
    {"exclude": ("gone",)}, {"exclude": ("gone.x",)}, {"exclude": ("inner.gone", "all.gone")},
    {"load_only": ("gone", "id")}, {"dump_only": ("gone", "id")},
    {"partial": ("gone",), "unknown": "include"}, {"many": True},
]  # fmt: skip


def declaring(ma, *left_out):
    """A base of classes that declare None for these names."""

    class Declaring(type(ma.Schema)):
        @classmethod
        def get_declared_fields(mcs, klass, *args, **kwargs):
            found = super().get_declared_fields(klass, *args, **kwargs)
            found.update(dict.fromkeys(left_out))
            return found

    return Declaring("Declaring", (ma.Schema,), {})


def schema(ma, **members):
    fields, base = ma.fields, declaring(ma, "gone")

    class Inner(base):
        Meta = meta(exclude=("gone",))
        id = fields.Integer()
        name = fields.String()

    class Outer(base):
        Meta = meta(exclude=["gone"])
        id = fields.Integer(required=True)
        name = fields.String()
        inner = fields.Nested(Inner)
        all = fields.List(fields.Nested(Inner))
        for name_, member in members.items():
            locals()[name_] = member
            del name_, member

    return Outer


def use(log, made):
    log.attempt(made.dump, [ROW, ROW] if made.many else ROW)
    log.attempt(made.load, [RECORD] if made.many else dict(RECORD))
    log.attempt(made.load, [REFUSED] if made.many else dict(REFUSED))


def attempts(log, cls, **options):
    for _ in range(4):
        made = log.attempt(cls, **options)
        if isinstance(made, cls):
            use(log, made)
    made = log.attempt(cls, **options)
    if isinstance(made, cls):
        state(log, made)
        use(log, made)


@pytest.mark.usefixtures("hooked_at_once")
@pytest.mark.parametrize("hooked", [False, True])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_instances(ma, log, options, hooked):
    def on_bind_field(self, name, field):
        log("bind", name, list(self.declared_fields), self.declared_fields["gone"])
        field.data_key = name.upper()

    cls = schema(ma, **({"on_bind_field": on_bind_field} if hooked else {}))
    attempts(log, cls, **options)
    for _ in range(3):
        log.attempt(cls().load, {"ID": "1", "INNER": {"id": "2", "gone": 1}})


@pytest.mark.usefixtures("hooked_at_once")
def test_a_hook_of_binding_that_fills_the_place(ma, log):
    def on_bind_field(self, name, field):
        self.declared_fields["gone"] = field

    attempts(log, schema(ma, on_bind_field=on_bind_field))


def test_nothing_leaves_the_name_out(ma, log):
    """Upstream cannot bind None. It says so for each instance, until the name is left out."""
    cls = type("Open", (declaring(ma, "gone"),), {"id": ma.fields.Integer()})
    attempts(log, cls)
    attempts(log, cls, exclude=("gone",))
    attempts(log, cls, only=("id",))
    attempts(log, cls, load_only=("gone",))
    cls.opts.exclude = ("gone",)
    attempts(log, cls)


CHANGES = written(
    {}, "cls, declared, exclude, ma",
    exchange='declared["gone"] = ma.fields.Integer()',
    fill='declared["gone"] = ma.fields.Integer(); cls.opts.exclude = ()',
    remove='del declared["gone"]',
    allow="exclude.clear()",
    empty='declared["id"] = None',
    leave_out='declared["id"] = None; exclude.append("id")',
    declare_anew='cls._declared_fields = {"id": ma.fields.String(), "gone": None}',
)  # fmt: skip


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_classes_that_change(ma, log, change, own):
    def on_bind_field(self, name, field):
        pass

    cls = schema(ma, **({"on_bind_field": on_bind_field} if own else {}))
    for _ in range(3):
        use(log, cls())
    waiting, used = cls(), cls()
    use(log, used)
    CHANGES[change](cls, cls._declared_fields, cls.opts.exclude, ma)
    for made in (waiting, used):
        use(log, made)
        state(log, made)
    attempts(log, cls)
    attempts(log, cls, only=("name", "inner"))


def test_nested_schemas(ma, log):
    cls, nested = schema(ma), ma.fields.Nested

    class Outer(ma.Schema):
        by_class = nested(cls)
        by_instance = nested(cls())
        by_function = nested(lambda: cls(only=("id", "name")))
        several = ma.fields.List(nested(cls(exclude=("inner",)), only=("id", "all.id")))
        less = nested(cls, exclude=("id", "inner.name"))
        none = nested(cls, only=("gone",))

    names = ("by_class", "by_instance", "by_function", "less", "none")
    row = {**dict.fromkeys(names, ROW), "several": [ROW]}
    record = {**dict.fromkeys(names[:-1], RECORD), "several": [{"id": "1"}]}
    for _ in range(12):
        made = Outer()
        log("dumped", made.dump(row))
        log.attempt(made.load, record)
        log.attempt(made.load, {"by_class": REFUSED, "by_instance": REFUSED, "less": REFUSED})
        log.attempt(Outer(only=("by_instance.id", "several.id")).dump, row)
        log.attempt(Outer(only=("by_instance.gone",)).dump, row)
        log.attempt(Outer(exclude=("by_class.gone", "by_instance.gone")).dump, row)
    for name in (*names, "several"):
        field = made.fields[name]
        state(log, getattr(field, "inner", field).schema)


def test_subclasses(ma, log):
    cls = schema(ma)

    class Inheriting(cls):
        more = ma.fields.Integer()

    class LeavingOutLess(cls):
        Meta = meta(exclude=("name",))

    class Plain(ma.Schema):
        """Upstream removes no inherited field for a None; it looks for fields alone."""

        id = ma.fields.Integer()
        name = ma.fields.String()

    class Without(Plain):
        name = None

    class Further(Without):
        Meta = meta(exclude=("name",))

    for made in (Inheriting, LeavingOutLess, Without, Further, type("Last", (Inheriting,), {})):
        log("declared", [(name, type(field)) for name, field in made._declared_fields.items()])
        attempts(log, made)


def test_validators(ma, log):
    def check(self, value, **kwargs):
        log("checked", value)

    cls = schema(ma, check_gone=ma.validates("gone")(check), check_id=ma.validates("id")(check))
    attempts(log, cls)
    attempts(log, cls, only=("name",))
    attempts(log, type("Wrong", (cls,), {"wrong": ma.validates("nowhere")(check)}))


# ---- marshmallow-sqlalchemy ----------------------------------------------------------------


def rename(self, name, field):
    field.data_key = name.title()


def test_auto_schemas(ma, log):
    foreign, Author, Book, session = shop(ma, log)
    auto, nested = foreign.SQLAlchemyAutoSchema, foreign.fields.Nested

    def made(name, bases=(auto,), members=(), **meta):
        return type(name, bases, {"Meta": type("Meta", (), meta), **dict(members)})

    Short = made("Short", model=Book, exclude=("title",))
    classes = (
        Short,
        made(
            "Keys",
            model=Book,
            exclude=("title", "author"),
            include_fk=True,
            include_relationships=True,
        ),
        made("Some", model=Book, fields=("title", "isbn")),
        made("Table", table=Book.__table__, exclude=("title",)),
        made("Made", model=Book, exclude=("title",), load_instance=True, sqla_session=session),
        # The field is declared, and None takes its place.
        made("Hidden", members={"title": ma.fields.String()}, model=Book, exclude=("title",)),
        type("Renamed", (Short,), {"on_bind_field": rename}),
        type("Also", (Short,), {"extra": ma.fields.Function(lambda obj: 1)}),
    )
    Writer = made(
        "Writer",
        members={"books": ma.fields.List(nested(Short))},
        model=Author,
        exclude=("name",),
        include_relationships=True,
    )
    books = session.query(Book).order_by(Book.isbn).all()
    record = {"isbn": "i1", "edition": 1}
    for cls in classes:
        log("declared", [(name, field is None) for name, field in cls._declared_fields.items()])
        for _ in range(5):
            log.attempt(cls().dump, books[0])
            log.attempt(cls(many=True).dump, books)
            log.attempt(cls(only=("isbn",)).dump, books[1])
            log.attempt(lambda cls=cls: cls(only=("title",)).dump(books[1]))
            log.attempt(lambda cls=cls: cls(exclude=("edition",)).dump(books[1]))
            log.attempt(cls(transient=True).load, dict(record))
            log.attempt(cls().load, {"isbn": 3, "title": "t"})
            log.attempt(cls().validate, {"edition": "?"})
    for _ in range(5):
        for author in session.query(Author).order_by(Author.id):
            log.attempt(Writer().dump, author)
            log.attempt(Writer(only=("books.isbn",)).dump, author)
        log.attempt(Writer().load, {"books": [record]})
        log.attempt(Writer().load, {"name": "n", "books": [{"title": "t"}]})
