"""Run a program as Python itself would, with marshmallow redirected.

The program runs in this process, in the real ``__main__`` module. Nothing of ours is in its
``sys.argv``, ``sys.path``, namespace or tracebacks.
"""

from __future__ import annotations

import builtins
import os
import sys
from importlib.machinery import BuiltinImporter, SourceFileLoader
from io import open_code

from althaia.switch import redirect

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, TracebackType
    from typing import Any


def execute(words: list[str], begin: Callable[[], object] = lambda: None) -> int:
    """Run ``script.py args``, ``-m module args``, ``-c code args`` or ``- args``.

    :param begin: called before the program is, when marshmallow is redirected.

    Returns the exit code of a program that ends by itself; ``SystemExit`` and every other
    exception of the program pass through.
    """
    if not words:
        return _refuse("nothing to run: name a script, -m MODULE or -c CODE")
    first, rest = words[0], words[1:]
    option = first[:2]
    if option in ("-m", "-c"):
        glued = first[2:]
        if not glued and not rest:
            return _refuse(f"argument expected for the {option} option")
        value, rest = (glued, rest) if glued else (rest[0], rest[1:])
        start = _module if option == "-m" else _command
        return _start(start, value, [option, *rest], begin)
    if first == "-":
        return _start(_standard_input, first, words, begin)
    if first.startswith("-"):
        return _refuse(f"unknown option {first}: options of Python itself go before '-m althaia'")
    return _start(_script, first, words, begin)


def _start(
    program: Callable[[str], None], value: str, argv: list[str], begin: Callable[[], object]
) -> int:
    try:
        redirected = redirect.switch_on("python -m althaia")
    except redirect.REFUSALS as error:
        print(f"python -m althaia: {error}", file=sys.stderr)
        return 1
    if redirected:
        # Workers that the program spawns run the same library.
        os.environ.setdefault("ALTHAIA_PATCH", "1")
    begin()
    sys.argv[:] = argv
    if not sys.flags.safe_path:
        del sys.path[0]  # '-m althaia' has put it there.
    try:
        program(value)
    except BaseException as error:
        _hide_own_frames(error)
        raise
    return 0


def _module(name: str) -> None:
    # 'python -m' itself calls this, so that messages and frames in a traceback are the same.
    from runpy import _run_module_as_main  # type: ignore[attr-defined]

    if not sys.flags.safe_path:
        sys.path.insert(0, os.getcwd())
    _clear_main(BuiltinImporter)
    _run_module_as_main(name)


def _command(code: str) -> None:
    if sys.version_info >= (3, 14):
        from textwrap import dedent

        code = dedent(code)
    _run_text(code, "<string>")


def _standard_input(_: str) -> None:
    _run_text(sys.stdin.buffer.read(), "<stdin>")


def _script(name: str) -> None:
    path = os.path.join(os.getcwd(), name)
    if _is_import_root(name):
        from runpy import _run_module_as_main  # type: ignore[attr-defined]

        sys.path.insert(0, path)
        _clear_main(BuiltinImporter)
        _run_module_as_main("__main__", False)
        return
    try:
        with open_code(path) as file:
            source = file.read()
    except OSError as error:
        program = sys.orig_argv[0]
        text = f"{program}: can't open file {path!r}: [Errno {error.errno}] {error.strerror}"
        print(text, file=sys.stderr)
        raise SystemExit(2) from None
    namespace = _clear_main(SourceFileLoader("__main__", path), path)
    code = compile(source, path, "exec", dont_inherit=True)
    if not sys.flags.safe_path:
        sys.path.insert(0, os.path.dirname(os.path.realpath(name)))
    exec(code, namespace)


def _run_text(source: str | bytes, filename: str) -> None:
    if not sys.flags.safe_path:
        sys.path.insert(0, "")
    code = compile(source, filename, "exec", dont_inherit=True)
    if sys.version_info >= (3, 13) and isinstance(source, str):
        # Since 3.13 a traceback shows the lines of '-c'.
        _register_lines(code, source, filename)
    exec(code, _clear_main(BuiltinImporter))


def _register_lines(code: CodeType, source: str, filename: str) -> None:
    import linecache

    if hasattr(linecache, "_interactive_cache"):
        # The lines belong to the code: tracebacks show them, warnings do not.
        linecache._register_code(code, source, filename)  # type: ignore[attr-defined]
    else:
        lines = [f"{line}\n" for line in source.splitlines()]
        linecache.cache[filename] = (len(source), None, lines, filename)


def _clear_main(loader: object, path: str | None = None) -> dict[str, Any]:
    """Return the namespace of ``__main__`` as a program finds it when it starts."""
    namespace = vars(sys.modules["__main__"])
    # Keep the names that this CPython sets in every program: 3.15 sets no `__cached__`.
    annotated = "__annotations__" in namespace
    cached = "__cached__" in namespace
    namespace.clear()
    namespace.update(
        __name__="__main__",
        __doc__=None,
        __package__=None,
        __loader__=loader,
        __spec__=None,
        __builtins__=builtins,
    )
    if annotated:
        namespace["__annotations__"] = {}
    if path is not None:
        namespace["__file__"] = path
        if cached:
            namespace["__cached__"] = None
    return namespace


def _is_import_root(path: str) -> bool:
    """Return whether ``path`` is a folder or an archive, which runs as its ``__main__`` module."""
    for hook in sys.path_hooks:
        try:
            hook(path)
        except ImportError:
            continue
        return True
    return False


def _hide_own_frames(error: BaseException) -> None:
    """Show the traceback of an exception nobody caught as Python would, without this file.

    The exception itself goes on to the interpreter, which knows what follows from it: the
    exit code, the signal of a KeyboardInterrupt, the prompt of ``-i``.
    """
    visible = error.__traceback__
    while visible is not None and visible.tb_frame.f_globals.get("__name__") == __name__:
        visible = visible.tb_next
    hook = sys.excepthook

    def excepthook(
        kind: type[BaseException], value: BaseException, traceback: TracebackType | None
    ) -> None:
        sys.excepthook = hook
        if value is error:
            traceback = sys.last_traceback = value.__traceback__ = visible
        hook(kind, value, traceback)

    sys.excepthook = excepthook


def _refuse(text: str) -> int:
    print(f"python -m althaia: {text}", file=sys.stderr)
    return 2
