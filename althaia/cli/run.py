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
from runpy import _run_module_as_main  # type: ignore[attr-defined]

from althaia.switch import redirect

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType


def execute(words: list[str], begin: Callable[[], object] = lambda: None) -> int:
    """Run ``script.py args``, ``-m module args``, ``-c code args`` or ``- args``.

    :param begin: called before the program is, when marshmallow is redirected.

    Returns the exit code of a program that ends by itself; ``SystemExit`` and every other
    exception of the program pass through.
    """
    if not words:
        return refuse("nothing to run: name a script, -m MODULE or -c CODE")
    option, glued = words[0][:2], words[0][2:]
    program, argv = PROGRAMS.get(option, _script), words
    if option in PROGRAMS:
        argv = [option, *words[1:]]
        if glued:
            argv.insert(1, glued)
        elif not words[1:]:
            return refuse(f"argument expected for the {option} option")
    elif option.startswith("-") and option != "-":
        where = "options of Python itself go before '-m althaia', a command's behind its name"
        return refuse(f"unknown option {words[0]}: {where}")
    try:
        redirected = redirect.switch_on("python -m althaia")
    except redirect.REFUSALS as error:
        print(f"python -m althaia: {error}", file=sys.stderr)
        return 1
    if redirected:
        # Workers that the program spawns run the same library.
        os.environ.setdefault("ALTHAIA_PATCH", "1")
    begin()
    value = argv[0] if program is _script else argv.pop(1)
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
    _set_main(os.getcwd())
    # 'python -m' itself calls this, so that messages and frames in a traceback are the same.
    _run_module_as_main(name)


def _command(code: str) -> None:
    exec(compile(code, "<string>", "exec", dont_inherit=True), _set_main(""))


def _script(name: str) -> None:
    from pkgutil import get_importer

    path = os.path.join(os.getcwd(), name)
    if name == "-":
        source, path, namespace = sys.stdin.buffer.read(), "<stdin>", _set_main("")
    elif get_importer(name) is not None:  # A folder or an archive.
        _set_main(path, always=True)
        _run_module_as_main("__main__", False)
        return
    else:
        try:
            with open_code(path) as file:
                source = file.read()
        except OSError as error:
            raise SystemExit(refuse(f"can't open the script: {error}{_meant(name)}")) from None
        namespace = _set_main(os.path.dirname(os.path.realpath(name)))
        namespace |= {"__file__": path, "__loader__": SourceFileLoader("__main__", path)}
        if sys.version_info < (3, 15):
            namespace["__cached__"] = None
    exec(compile(source, path, "exec", dont_inherit=True), namespace)


def _meant(name: str) -> str:
    """Return the command that may have been meant by the name of a script."""
    from difflib import get_close_matches

    from althaia.cli import COMMANDS

    return "".join(f"; did you mean {each!r}?" for each in get_close_matches(name, COMMANDS, 1))


PROGRAMS = {"-m": _module, "-c": _command}


def _set_main(folder: str, always: bool = False) -> dict[str, object]:
    """Return the namespace of ``__main__`` as a program finds it when it starts.

    :param folder: from which the program imports first, unless Python is told not to
    """
    if always or not sys.flags.safe_path:
        sys.path.insert(0, folder)
    namespace = vars(sys.modules["__main__"])
    annotations: dict[str, object] = (
        {"__annotations__": {}} if "__annotations__" in namespace else {}
    )
    namespace.clear()
    namespace.update(
        annotations,
        __name__="__main__",
        __doc__=None,
        __package__=None,
        __loader__=BuiltinImporter,
        __spec__=None,
        __builtins__=builtins,
    )
    return namespace


def _hide_own_frames(error: BaseException) -> None:
    """Show the traceback of an exception nobody caught as Python would, without this file.

    The exception itself goes on to the interpreter, which knows what follows from it: the
    exit code, the signal of a KeyboardInterrupt, the prompt of ``-i``.
    """
    visible = error.__traceback__
    while visible is not None and visible.tb_frame.f_globals is globals():
        visible = visible.tb_next
    hook = sys.excepthook

    def shown(kind: type[BaseException], value: BaseException, tb: TracebackType | None) -> None:
        sys.excepthook = hook
        if value is error:
            tb = sys.last_traceback = value.__traceback__ = visible
        hook(kind, value, tb)

    sys.excepthook = shown


def refuse(text: str) -> int:
    print(f"python -m althaia: {text}", file=sys.stderr)
    return 2
