"""What compiling by itself could change, and does not; and, at the end, the accepted differences
of ``docs/differences.md``: each fails when its difference is gone.
"""

import collections.abc
import contextlib
import importlib
import inspect
import operator
import re
import sys
import traceback
import types
import typing
import warnings
from pathlib import Path
from unittest import mock

import pytest

from tests.conformance.harness import is_compiled, libraries, plans_off
from tests.conformance.lacking import only
from tests.conformance.material import PlainText, Proxy

UPSTREAM, OURS = libraries()
MODULES = (
    "", ".class_registry", ".constants", ".decorators", ".error_store", ".exceptions",
    ".experimental.context", ".fields", ".orderedset", ".schema", ".types", ".utils", ".validate",
)  # fmt: skip
IN_SOME = {".constants": "constants", ".experimental.context": "experimental.context"}
needs_compiled = pytest.mark.skipif(
    not is_compiled(), reason="states a property of extension modules; this build is pure"
)


def text(value):
    """``repr`` without what names the library or the address."""
    plain = repr(value).replace("althaia.marshmallow", "marshmallow")
    return re.sub(r" at 0x[0-9a-f]+", "", plain).replace("<cyfunction", "<function")


def is_function(value):
    return isinstance(value, types.FunctionType) or "cython_function" in type(value).__name__


def functions(value, name, package):
    """Every function of a module or class of ``package``, however it is wrapped."""
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    if isinstance(value, property):
        for part in ("fget", "fset", "fdel"):
            yield from functions(getattr(value, part), f"{name}.{part}", package)
    elif is_function(value):
        if str(value.__module__).startswith(package):
            yield name, value
    elif isinstance(value, type) and value.__module__.startswith(package):
        for key, item in vars(value).items():
            yield from functions(item, f"{name}.{key}", package)


# Compiled modules keep no annotations of their variables; these hold them, from 3.14 on lazily.
ANNOTATIONS = {"annotations", "__annotations__", "__annotate__", "__conditional_annotations__"}


def all_functions(library, module):
    found = importlib.import_module(library.__name__ + module)
    return {
        path: function
        for key, value in vars(found).items()
        if key not in ANNOTATIONS
        for path, function in functions(value, key, library.__name__)
    }


def all_classes(library, module):
    found = importlib.import_module(library.__name__ + module)
    return {
        key: value
        for key, value in vars(found).items()
        if isinstance(value, type) and value.__module__.startswith(library.__name__)
    }


def answer(function, *args):
    try:
        return text(function(*args))
    except Exception as error:
        return f"{type(error).__name__}: {text(error)}"


def parameters(function):
    code = function.__code__
    return tuple(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


def documentation(of):
    """A docstring without its indentation, which the interpreter takes out from 3.13 on."""
    return None if of.__doc__ is None else inspect.cleandoc(of.__doc__)


@pytest.mark.parametrize("module", only(MODULES, IN_SOME))
def test_functions_describe_themselves_alike(module):
    expected, actual = all_functions(UPSTREAM, module), all_functions(OURS, module)
    assert list(actual) == list(expected)
    for path, function in expected.items():
        ours = actual[path]
        for name in ("name", "qualname", "module", "defaults", "kwdefaults", "dict"):
            special = f"__{name}__"
            assert text(getattr(ours, special)) == text(getattr(function, special)), (path, name)
        assert documentation(ours) == documentation(function), path
        assert ours.__annotations__ == function.__annotations__, path
        for ask in (inspect.signature, inspect.getfullargspec, parameters):
            assert answer(ask, ours) == answer(ask, function), (path, ask.__name__)
        assert answer(typing.get_type_hints, ours) == answer(typing.get_type_hints, function), path
        for question in (inspect.isroutine, inspect.isgeneratorfunction, callable, bool):
            assert question(ours) == question(function), (path, question.__name__)


@pytest.mark.parametrize("module", only(MODULES, IN_SOME))
def test_classes_describe_themselves_alike(module):
    expected, actual = all_classes(UPSTREAM, module), all_classes(OURS, module)
    assert list(actual) == list(expected)
    for name, cls in expected.items():
        ours = actual[name]
        assert set(vars(cls)) ^ set(vars(ours)) <= WRITTEN_BY_THE_INTERPRETER, name
        for special in ("name", "qualname", "module", "annotations", "mro", "bases"):
            asked = operator.attrgetter(f"__{special}__")
            assert answer(asked, ours) == answer(asked, cls), (name, special)
        assert documentation(ours) == documentation(cls), name
        for ask in (typing.get_type_hints, inspect.signature, inspect.isabstract):
            assert answer(ask, ours) == answer(ask, cls), (name, ask.__name__)
        for special in ("abstractmethods", "parameters", "orig_bases", "total", "required_keys"):
            mine, theirs = (getattr(c, f"__{special}__", None) for c in (ours, cls))
            assert answer(sorted_if_set, mine) == answer(sorted_if_set, theirs), (name, special)
        public = [key for key in vars(cls) if not key.startswith(("__", "_abc"))]
        assert [key for key in vars(ours) if key in public] == public, name
        for key in public:
            seen, expected_kind = getattr(ours, key), kind(getattr(cls, key))
            assert kind(seen) == expected_kind, (name, key)


def sorted_if_set(value):
    return sorted(value) if isinstance(value, frozenset | set) else value


def kind(value):
    return "function" if is_function(value) else type(value).__name__


@pytest.mark.parametrize("module", only(MODULES, IN_SOME))
def test_modules_hold_the_same_names(module):
    with contextlib.suppress(ImportError):  # No name of it is there before it is imported.
        for library in (UPSTREAM, OURS):
            importlib.import_module(f"{library.__name__}.experimental")
    expected = vars(importlib.import_module(UPSTREAM.__name__ + module))
    actual = vars(importlib.import_module(OURS.__name__ + module))
    assert set(expected) - set(actual) - ANNOTATIONS - {"__cached__"} == set()
    added = set(actual) - set(expected)
    assert {name for name in added if not name.startswith("_")} == set()
    assert actual["__doc__"] == expected["__doc__"]


WRONG_CALLS = {
    "nothing given": lambda ma: ma.Schema.dump(),
    "one missing": lambda ma: ma.Schema().dump(),
    "too many": lambda ma: ma.Schema().dump(1, 2),
    "unknown keyword": lambda ma: ma.Schema().dump(1, nope=1),
    "given twice": lambda ma: ma.Schema().dump(1, obj=2),
    "unknown option": lambda ma: ma.Schema(onlyy=("a",)),
    "positional option": lambda ma: ma.Schema(("a",)),
    "unknown field option": lambda ma: ma.fields.Integer(requird=True),
    "positional field option": lambda ma: ma.fields.String(True),
    "no inner field": lambda ma: ma.fields.List(),
    "two inner fields": lambda ma: ma.fields.List(ma.fields.Int(), ma.fields.Int()),
    "no nested schema": lambda ma: ma.fields.Nested(),
    "three missing": lambda ma: ma.fields.Field.serialize(),
    "several unknown": lambda ma: ma.Schema().load({}, a=1, b=2),
    "keyword that is no string": lambda ma: ma.Schema().load(**{1: 2}),
    "no enum": lambda ma: ma.fields.Enum(),
    "a range of counts": lambda ma: ma.fields.DateTime(1, 2, 3),
    "no message": lambda ma: ma.ValidationError(),
    "load": lambda ma: ma.Schema().load({}, True),
    "validate": lambda ma: ma.Schema().validate({}, unknown="raise"),
    "dumps": lambda ma: ma.Schema().dumps({}, nope=1),
    "dumps, options": lambda ma: ma.Schema().dumps({"f": 1}, indent=2, sort_keys=True),
    "loads, by name": lambda ma: ma.Schema().loads(s="{}"),
    "by name": lambda ma: ma.Schema().dump(obj={}) or ma.Schema().load(data={}),
    "no json": lambda ma: ma.Schema().loads("{"),
    "star arguments": lambda ma: ma.validates(field="x"),
    "hook": lambda ma: ma.pre_load(1, 2, 3),
    "function of a module": lambda ma: ma.utils.get_value(),
    "validator": lambda ma: ma.validate.OneOf(),
    "validator called": lambda ma: ma.validate.Length(min=1)(),
    "static method": lambda ma: ma.fields.Field._normalize_processors(),
    "class method": lambda ma: ma.Schema.from_dict(),
    "abstract": lambda ma: ma.fields._TemporalField(),
    "bound method of a field": lambda ma: ma.fields.String().deserialize(),
    "too many for an initializer": lambda ma: ma.fields.Method("a", "b", "c"),
    "not callable": lambda ma: ma.fields.Function(serialize="x"),
    "keywords of a subclass": lambda ma: ma.Schema().dump(
        **{PlainText("obj"): [{}], PlainText("many"): True}
    ),
    "unknown keyword of a subclass": lambda ma: ma.Schema().dump({}, **{PlainText("nope"): True}),
    "field behind a proxy": lambda ma: ma.Schema.from_dict({"f": Proxy(ma.fields.Raw())})().fields,
    "field class behind a proxy": lambda ma: ma.fields.List(Proxy(ma.fields.Integer)),
    "schema class behind a proxy": lambda ma: ma.fields.Nested(Proxy(ma.Schema)).schema,
}


@pytest.mark.parametrize("call", WRONG_CALLS)
def test_a_wrong_call_is_answered_in_the_same_words(ma, log, call):
    for _ in range(2):
        log.attempt(WRONG_CALLS[call], ma)


def test_a_wrong_call_leaves_no_frame_of_ours(ma, log):
    error = log.attempt(ma.fields.Integer, requird=True)
    frames = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    log("frames", "repeat" in frames)
    return error.__context__, error.__cause__


def test_string_subclasses_are_strings_everywhere(ma, log):
    schema = ma.Schema.from_dict(
        {
            PlainText("a"): ma.fields.Integer(data_key=PlainText("A"), attribute=PlainText("x.y")),
            "b": ma.fields.String(error_messages={"invalid": PlainText("no {input}")}),
            "c": ma.fields.DateTime(format=PlainText("iso")),
        }
    )
    log.attempt(schema(only=[PlainText("a")]).dump, {"x": {"y": 3}})
    log.attempt(schema().load, {PlainText("A"): "3", "b": 4, PlainText("d"): 5})
    log.attempt(schema(unknown=PlainText("exclude")).load, {"zz": 1})
    log.attempt(ma.ValidationError, PlainText("x"), PlainText("name"))
    log("key", [type(key).__name__ for key in schema().load({"A": "1"})["x"]])


def test_exceptions_chain_as_interpreted(ma, log):
    class Field(ma.fields.Integer):
        def _deserialize(self, value, attr, data, **kwargs):
            try:
                return super()._deserialize(value, attr, data, **kwargs)
            finally:
                log("handling", type(sys.exc_info()[1]).__name__)

    class Failing(ma.fields.Integer):
        def make_error(self, key, **kwargs):
            log("handling", type(sys.exc_info()[1]).__name__)
            return super().make_error(key, **kwargs)

    class Schema(ma.Schema):
        a = Field()
        b = Failing()

        def handle_error(self, error, data, **kwargs):
            log("handling", type(sys.exc_info()[1]).__name__)
            raise KeyError("mine")

    def chain(error):
        while error is not None:
            yield type(error).__name__, str(error.args), error.__suppress_context__
            error = error.__cause__ or error.__context__

    for data in ({"a": "x"}, {"b": "x"}, {"c": 1}):
        try:
            Schema().load(data)
        except Exception as error:
            log("chain", list(chain(error)))
    log("after", sys.exc_info())


def test_tracebacks_name_upstreams_functions(ma, log):
    """Without plans the frames are upstream's, each by its name and line."""

    class Broken(ma.Schema):
        f = ma.fields.List(ma.fields.Function(lambda obj: 1 / 0, deserialize=lambda value: 1 / 0))

        @ma.post_load
        def fail(self, data, **options):
            return 1 / 0

    def attempt(function, *args):
        with pytest.raises(ZeroDivisionError) as caught:
            function(*args)
        frames = traceback.extract_tb(caught.tb)
        assert all(frame.line and Path(frame.filename).is_absolute() for frame in frames)
        # Before 3.12 the interpreter gives comprehensions a frame of their own.
        return [frame.name for frame in frames if frame.name != "<listcomp>"]

    calls = ((Broken().dump, {"f": [1]}), (Broken().load, {"f": [1]}), (Broken().load, {}))
    with plans_off():
        return [attempt(*call) for call in calls]


# ---- Accepted differences -------------------------------------------------------------------

# Among them copyreg's memory of a class whose instance was copied or pickled, and, from 3.14 on,
# what asking for annotations leaves.
WRITTEN_BY_THE_INTERPRETER = {
    "__firstlineno__", "__static_attributes__", "__slotnames__", "__annotate_func__",
    "__annotations_cache__",
}  # fmt: skip


def shadowed_builtin(ma):
    """Whether a function sees a name of its module that shadows a builtin later."""
    with mock.patch.object(ma.utils, "hasattr", create=True) as shadow:
        ma.utils.get_value(object(), "missing_name")
    return shadow.called


def arguments_of_a_mock(ma, **options):
    with mock.patch.object(ma.Schema, "dump", **options) as dump:
        ma.Schema().dump(1)
    return len(dump.call_args.args)


def calling_frame(ma):
    f = ma.fields.Function(lambda obj: sys._getframe(1).f_code.co_name)
    return ma.Schema.from_dict({"f": f})()._serialize({}, many=False)["f"]


def replaced_code(ma):
    ma.utils.get_value.__code__ = ma.utils.get_value.__code__


def replaced_defaults(ma):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ma.utils.get_value.__defaults__ = ma.utils.get_value.__defaults__
    return [each.category for each in caught]


# What upstream answers, and what ours does; where they raise, the type.
ACCEPTED = {
    "inspect.isfunction": (lambda ma: inspect.isfunction(ma.Schema.dump), True, False),
    "inspect.ismethod": (lambda ma: inspect.ismethod(ma.Schema().dump), True, True),
    "source": (lambda ma: bool(inspect.getsource(ma.Schema.dump)), True, TypeError),
    "inherited docstring": (
        lambda ma: inspect.getdoc(ma.ValidationError.__init__) is None, False, True,
    ),
    "generator": (
        lambda ma: [
            isinstance(ma.validate.OneOf([1]).options(), kind)
            for kind in (collections.abc.Generator, types.GeneratorType)
        ],
        [True, True], [True, False],
    ),
    "hints of a module": (
        lambda ma: "EXCLUDE" in typing.get_type_hints(ma.constants), True, False,
    ),
    "indented docstring": (
        lambda ma: "\n        :param" in ma.Schema.dump.__doc__, sys.version_info < (3, 13), True,
    ),
    "static attributes": (
        lambda ma: "__static_attributes__" in vars(ma.Schema), sys.version_info >= (3, 13), False,
    ),
    "arguments that a mock checks": (
        lambda ma: mock.create_autospec(ma.utils.get_value)() and None, TypeError, None,
    ),
    "self, of a mock": (lambda ma: arguments_of_a_mock(ma, autospec=True), 2, 1),
    "self, of a plain mock": (arguments_of_a_mock, 1, 1),
    "frame": (calling_frame, "_serialize", "calling_frame"),
    "code": (replaced_code, None, AttributeError),
    "defaults": (replaced_defaults, [], [RuntimeWarning]),
    "builtins": (shadowed_builtin, True, False),
}  # fmt: skip


@needs_compiled
@pytest.mark.parametrize("what", ACCEPTED)
def test_accepted(what):
    ask, *expected = ACCEPTED[what]
    for library, answer in zip((UPSTREAM, OURS), expected, strict=True):
        if isinstance(answer, type):
            with pytest.raises(answer):
                ask(library)
        else:
            assert ask(library) == answer
