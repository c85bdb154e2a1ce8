"""Judge an installation, and an application if one is named: what is wrong, and what to do.

One line a subject: ok, note (slower than it could be, but right), or wrong. Run it in the
environment of the deployment, with the variables that the service has. 'info' has the facts.

    python -m althaia doctor shop.app:app

Exit codes: 0 nothing is wrong, 1 something is, 2 the application could not be imported.
"""

import argparse
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib import import_module
from os import environ
from sys import dont_write_bytecode, flags, stderr
from typing import NamedTuple

import althaia
from althaia import seam
from althaia.cli import Answer, target
from althaia.cli.explain_command import lines_of
from althaia.engine.explain import some_of
from althaia.switch import config, late, redirect, release
from althaia.switch.status import Info, suggested

OK, NOTE, WRONG = "ok", "note", "wrong"


class Verdict(NamedTuple):
    """What is judged, how, and the reason."""

    state: str
    subject: str
    text: str


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("application", nargs="?", metavar="MODULE[:NAME]", help="what to import: shop.app:app")


def execute(options: argparse.Namespace) -> Answer:
    verdicts = list(judged(options.application))
    text = "\n".join(f"{state:<7}{subject:<11}{text}" for state, subject, text in verdicts)
    is_wrong = any(each.state == WRONG for each in verdicts)
    return is_wrong, [each._asdict() for each in verdicts], text


def judged(name: str | None) -> Iterator[Verdict]:
    """Yield a verdict on each subject.

    :param name: the application, or None
    :raises CommandError: the application cannot be imported
    """
    try:
        config.settings()
    except config.ConfigError as error:  # Nothing else can be judged without them.
        yield Verdict(WRONG, "variable", str(error))
        return
    if name is not None:
        target.asked(name, lambda: (target.resolve if ":" in name else target.imported)(name))
    yield _redirect()
    if redirect.is_patched():
        # The engine is loaded with the first schema class.
        with redirect_stdout(stderr):
            import_module(release.REAL)
            seam.load_engine()
    info = althaia.info()
    yield _release(info)
    if info.served.how == release.INTERPRETED and info.patched:
        yield _bytecode()
    yield _build(info)
    if info.any_compiled:
        yield Verdict(OK if info.plans == "on" else WRONG, "engine", info.plans)
    for variable in info.unknown_variables:
        state = WRONG if config.meant(variable) else NOTE
        yield Verdict(state, "variable", f"nothing reads {suggested(variable)}")
    if name is not None and info.patched and info.plans == "on":
        yield _schemas()


def _redirect() -> Verdict:
    """Whether marshmallow is redirected, and if not, why."""
    if redirect.is_patched():
        return Verdict(OK, "redirect", f"on, by {redirect.how_patched()}")
    if config.settings().disable:
        return Verdict(WRONG, "redirect", "off, because ALTHAIA_DISABLE is set")
    asked = late.is_asked()
    try:
        redirect.switch_on("ALTHAIA_PATCH" if asked else "althaia.patch()")
    except redirect.REFUSALS as error:
        # The order of imports matters only to who asked for the redirect.
        if asked or not isinstance(error, redirect.LatePatchError):
            return Verdict(WRONG, "redirect", f"off: {error}")
    here = "call althaia.patch() in the first lines of the program"
    why = f"nothing asked for it: set ALTHAIA_PATCH to 1, or {here} and name the application here"
    if flags.ignore_environment and environ.get("ALTHAIA_PATCH"):
        why = f"python -I and -E do not obey ALTHAIA_PATCH: {here}"
    if asked:
        why = (
            "althaia's start-up file did not run, because althaia is not in a site-packages folder "
            f"of this interpreter: {here}"
        )
    return Verdict(WRONG, "redirect", f"off: {why}")


def _release(info: Info) -> Verdict:
    served = info.served
    text = f"marshmallow {served.version}, {info.how_served}"
    if info.real_location is None:
        return Verdict(WRONG, "release", "no marshmallow is installed")
    text += f", from {info.real_location}"
    lost = [*served.lost, *(f"the hook {hook} has no place" for hook in served.left_out)]
    if served.unread:
        lost.append(f"{len(served.unread)} functions of it are unknown and not planned")
    state = WRONG if served.how == release.UNTOUCHED else NOTE if lost else OK
    return Verdict(state, "release", "; ".join([text, *lost]))


def _bytecode() -> Verdict:
    """Whether the patched files of the release need not be patched again at the next start."""
    from althaia.releases import bytecode

    path = str(seam.modules["schema"]["__file__"]) if seam.modules else ""
    if found := bytecode.written(path):
        return Verdict(OK, "bytecode", f"cached in {found}")
    why = "PYTHONDONTWRITEBYTECODE is set" if dont_write_bytecode else "no folder can be written"
    return Verdict(
        NOTE, "bytecode", f"not cached, because {why}: each start takes about 0.2 s more"
    )


def _build(info: Info) -> Verdict:
    if info.stale:
        return Verdict(WRONG, "build", f"stale, build it again: {', '.join(info.stale)}")
    if info.compiled:
        return Verdict(OK, "build", f"all {len(info.modules)} modules are compiled")
    if info.any_compiled:
        return Verdict(WRONG, "build", f"not all modules are compiled for {info.python}")
    if release.is_cpython():
        return Verdict(NOTE, "build", f"it works, but makes no plans: {release.why_no_engine()}")
    return Verdict(OK, "build", f"a pure build, the one that there is for {info.python}")


def _schemas() -> Verdict:
    """Which schemas of what was imported have steps outside a plan."""
    lines = lines_of(None)
    left = [line for line in lines if not line.is_planned]
    classes = "schema class" if len(lines) == 1 else "schema classes"
    text = f"{len(lines)} {classes}, {len(left)} with steps outside a plan"
    # No name leads to a class that a function has made.
    if names := sorted({line.schema for line in left if "<locals>" not in line.schema}):
        text += f": {some_of(names)} (python -m althaia explain MODULE says why)"
    return Verdict(NOTE if left else OK, "schemas", text)
