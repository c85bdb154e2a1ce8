"""Where two runs of a scenario differ first, and what was given to the library there."""

import contextlib
import functools
from dataclasses import dataclass
from unittest import mock

from tests.conformance.describe import CLOSE, OPEN

ENTRY_POINTS = ("dump", "dumps", "load", "loads", "validate")
_HELD_BY_FIELDS = ("inner", "key_field", "value_field", "tuple_fields")
_MOST_WORDS = 12


class Differ(AssertionError):
    """The libraries differ. ``about`` is what :mod:`tests.failures` groups failed tests by."""

    def __init__(self, text, about):
        super().__init__(text)
        self.about = about


@dataclass
class Call:
    """What one call from outside gave to the library."""

    logged: int
    direction: str
    text: str
    kinds: list[str]


def first_difference(expected, actual):
    """The name of the part that differs first, its number in the part, and its descriptions."""
    for name in ("log", "result", "error", "warnings", "watched"):
        pair = [getattr(outcome, name) for outcome in (expected, actual)]
        if pair[0] != pair[1]:
            ours, theirs = (each if isinstance(each, list) else [each] for each in pair)
            longest = max(len(ours), len(theirs))
            ours, theirs = (each + [()] * (longest - len(each)) for each in (ours, theirs))
            number = next(n for n in range(longest) if ours[n] != theirs[n])
            return name, number, ours[number], theirs[number]
    raise ValueError("the outcomes are equal")


def first_word(expected, actual):
    """The number of the first word that differs; the length of one where the other goes on."""
    pairs = enumerate(zip(expected, actual, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(expected), len(actual)))


def path_to(description, end):
    """What the word with the number ``end`` stands in, outermost first; keys in brackets."""
    path = []
    for number, word in enumerate(description[:end]):
        if word == CLOSE:
            path.pop()
        elif path:
            path[-1][1].append(number)
        if word.endswith(OPEN):
            path.append([word.removesuffix(OPEN).partition("#")[0], []])
    return " > ".join(_step(name, children, description) for name, children in path)


def _step(name, children, description):
    if (name == "vars" or name.endswith(("dict", "Dict"))) and children:
        key = description[children[(len(children) - 1) // 2 * 2]]
        # Keys and values take turns: behind a value comes a key that is not in the path yet.
        return f"{name}[{key}]"
    return name


def _words(description, start):
    shown = description[start : start + _MOST_WORDS]
    more = " ..." if len(description) > start + _MOST_WORDS else ""
    return " ".join(shown) + more if shown else "(nothing)"


def explain(expected, actual, calls):
    """The error of a test whose two outcomes differ: the input and the first difference."""
    name, number, theirs, ours = first_difference(expected, actual)
    word = first_word(theirs, ours)
    call = _guilty(calls, number if name == "log" else None)
    several = isinstance(getattr(expected, name), list)
    lines = [
        f"the libraries differ in {name}{f'[{number}]' if several else ''}",
        f"  input:    {call.text if call else '(no call of dump or load)'}",
        f"  fields:   {', '.join(call.kinds) if call else ''}",
        f"  at:       {path_to(theirs, word) or '(the top)'}",
        f"  expected: {_words(theirs, word)}",
        f"  got:      {_words(ours, word)}",
    ]
    if name == "log":
        title = _title(expected.log, number)
        lines.insert(1, f"  case:     {title}")
        differing = sum(a != b for a, b in zip(expected.log, actual.log, strict=False))
        lines.append(f"  {differing} of {len(expected.log)} entries of the log differ")
    about = {"direction": call.direction, "kinds": call.kinds} if call else {}
    return Differ("\n".join(lines), about)


def _guilty(calls, entry):
    """The last call that began before an entry of the log was made, or before the end."""
    before = [call for call in calls if entry is None or call.logged <= entry]
    return before[-1] if before else None


def _title(log, number):
    """What the scenario logged last without a value: the name of its case."""
    return next((entry[0] for entry in reversed(log[: number + 1]) if len(entry) == 1), "")


@contextlib.contextmanager
def recorded_calls(library, log):
    """Record the calls of the library's entry points that do not come from inside another."""
    calls = []
    inside = False

    def recording(name, method):
        @functools.wraps(method)
        def recorded(self, *args, **options):
            nonlocal inside
            if inside:
                return method(self, *args, **options)
            direction = "dump" if name.startswith("dump") else "load"
            given = [_shown(each) for each in args]
            given += [f"{key}={_shown(value)}" for key, value in options.items()]
            calls.append(Call(log(), direction, f"{name}({', '.join(given)})", _kinds(self)))
            inside = True
            try:
                return method(self, *args, **options)
            finally:
                inside = False

        return recorded

    with contextlib.ExitStack() as stack:
        for name in ENTRY_POINTS:
            method = library.Schema.__dict__[name]
            stack.enter_context(mock.patch.object(library.Schema, name, recording(name, method)))
        yield calls


def _shown(value):
    try:
        return repr(value)
    except Exception as error:
        return f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"


def _kinds(schema):
    """The names of the classes of a schema's fields, with those that they hold."""
    kinds = set()
    try:
        waiting = list(dict.values(schema.fields))
        while waiting:
            field = waiting.pop()
            kinds.add(type(field).__name__)
            waiting.extend(each for name in _HELD_BY_FIELDS for each in _held(field, name))
    except Exception:
        # What a scenario did to its schema is what it is about; it is shown without kinds then.
        return []
    return sorted(kinds)


def _held(field, name):
    """The fields that an attribute of a field holds."""
    held = vars(field).get(name)
    several = held if isinstance(held, list | tuple) else [held]
    return [each for each in several if hasattr(type(each), "_deserialize")]
