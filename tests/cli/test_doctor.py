"""``python -m althaia doctor``: what it finds wrong, and its exit codes."""

import json
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

import althaia
from althaia import seam
from althaia.cli import doctor_command
from althaia.switch import release, status
from tests import releases
from tests.engine import HAS_ENGINE, NEEDS_ENGINE

APP = "import althaia\nalthaia.patch()\nfrom schemas import Order\napp = object()\n"
SCHEMAS = """
from marshmallow import Schema, fields
class Own(fields.Field):
    def _serialize(self, value, attr, obj, **kwargs):
        return 1
class Order(Schema):
    id = fields.Int()
class Odd(Schema):
    own = Own()
def made(kind):
    class Local(Schema):
        own = kind()
    return Local
MADE = [made(Own), made(Own), made(type("Other", (Own,), {}))]
"""


@pytest.fixture
def doctor(run, tmp_path):
    (tmp_path / "app.py").write_text(APP, "utf-8")
    (tmp_path / "schemas.py").write_text(SCHEMAS, "utf-8")
    (tmp_path / "early.py").write_text("import os, schemas\nos.environ['ALTHAIA_PATCH'] = '1'\n")
    return lambda *words, **kwargs: run("-m", "althaia", "doctor", *words, **kwargs)


def verdicts(done):
    found = json.loads(done.stdout)
    assert done.returncode == any(each["state"] == "wrong" for each in found), done.stderr
    return {each["subject"]: (each["state"], each["text"]) for each in found}


def test_all_is_well(doctor):
    done = doctor("app:app")
    info = althaia.info()
    pure = not info.compiled
    assert done.returncode == bool(info.stale), done.stdout + done.stderr
    first, *_ = done.stdout.splitlines()
    assert first == "ok     redirect   on, by althaia.patch()"
    found = verdicts(doctor("app", "--json", env={"ALTHAIA_PATCH": "1", "ALTHAIA_IMAGE": "5"}))
    assert found["variable"] == ("note", "nothing reads ALTHAIA_IMAGE")
    assert found["redirect"] == ("ok", "on, by ALTHAIA_PATCH")
    assert found["release"][1].startswith("marshmallow 4.4.0, ")
    if pure:
        assert found["build"][0] == ("note" if sys.implementation.name == "cpython" else "ok")
        assert "engine" not in found
    else:
        assert found["engine"] == ("ok", "on")
        assert found["build"][0] == ("wrong" if info.stale else "ok")
        state, text = found["schemas"]
        assert state == "note"
        assert "outside a plan: schemas.Odd (python -m" in text


UNASKED = "nothing asked for it: set ALTHAIA_PATCH to 1, or call althaia.patch()"
WRONG = [
    ("redirect", "", {}, UNASKED),
    ("redirect", "app", {"ALTHAIA_DISABLE": "1"}, "ALTHAIA_DISABLE is set"),
    ("redirect", "schemas", {}, UNASKED),
    ("redirect", "early", {}, "These modules hold references"),
    ("variable", "app:app", {"ALTHAIA_PATCH": "yess"}, "ALTHAIA_PATCH is 'yess'"),
    ("variable", "app:app", {"ALTHAIA_COMPARE": "2"}, "ALTHAIA_COMPARE is '2'"),
    (
        "variable",
        "",
        {"ALTHAIA_PLAN": "1"},
        "reads ALTHAIA_PLAN (did you mean ALTHAIA_PLANS?)",
    ),
    ("engine", "", {"ALTHAIA_PATCH": "1", "ALTHAIA_PLANS": "0"}, "ALTHAIA_PLANS=0"),
]


@pytest.mark.parametrize(("subject", "words", "env", "said"), WRONG)
def test_what_is_wrong(doctor, subject, words, env, said):
    if subject == "engine" and not HAS_ENGINE:
        pytest.skip("a pure build has no engine")
    state, text = verdicts(doctor(*words.split(), "--json", env=env))[subject]
    assert state == "wrong"
    assert said in text


def test_a_start_up_file_that_does_not_run(run, tmp_path):
    paths = [path for path in sys.path if path and not path.startswith(str(tmp_path))]
    code = f"import sys; sys.path[1:1] = {paths!r}; from althaia import cli; cli.main(['doctor'])"
    done = run("-S", "-c", code, env={"ALTHAIA_PATCH": "1"})
    assert "althaia's start-up file did not run" in done.stdout


@pytest.mark.parametrize(
    ("interpreter", "variable", "state", "said"),
    [
        ("pypy", "", "ok", "the one that there is for "),
        ("pypy", "1", "ok", "the one that there is for "),
        ("cpython", "", "note", "build it from source with a C compiler"),
        ("cpython", "1", "note", "with a C compiler without ALTHAIA_PURE_BUILD"),
    ],
)
def test_a_pure_build_is_a_fact_and_the_advice_fits(
    monkeypatch, interpreter, variable, state, said
):
    monkeypatch.setattr(sys, "implementation", SimpleNamespace(name=interpreter))
    monkeypatch.setenv("ALTHAIA_PURE_BUILD", variable)
    modules = {"althaia.engine.door": status.INTERPRETED}
    verdict = doctor_command._build(replace(althaia.info(), modules=modules))
    assert verdict.state == state
    assert said in verdict.text
    said = release.why_no_engine()
    assert ("ALTHAIA_PURE_BUILD" in said) is (interpreter == "cpython" and variable == "1")
    # `info` may ask while the connector of the engine runs.
    monkeypatch.setattr(seam, "failure", RuntimeError("the engine is being loaded"))
    monkeypatch.setattr(release, "compiled_file", lambda name: None)
    assert release.why_no_plans() == said


COMPILED, STALE, INTERPRETED = status.COMPILED, status.STALE, status.INTERPRETED


@pytest.mark.parametrize(
    ("states", "state", "said"),
    [
        ([COMPILED, COMPILED], "ok", "all 2 modules are compiled"),
        ([COMPILED, STALE], "wrong", "stale, build it again: m1"),
        ([COMPILED, INTERPRETED], "wrong", "not all modules are compiled for "),
    ],
)
def test_a_build_that_is_not_whole_is_wrong(states, state, said):
    modules = {f"m{number}": each for number, each in enumerate(states)}
    verdict = doctor_command._build(replace(althaia.info(), modules=modules))
    assert (verdict.state, verdict.subject) == (state, "build")
    assert verdict.text.startswith(said)


@NEEDS_ENGINE
def test_another_release_and_its_bytecode(doctor, tmp_path):
    site, cache = releases.install(tmp_path / "site", "4.3.1"), str(tmp_path / "cache")
    env = {"ALTHAIA_PATCH": "1", "PYTHONPATH": str(site), "PYTHONPYCACHEPREFIX": cache}
    found = verdicts(doctor("--json", env={**env, "PYTHONDONTWRITEBYTECODE": "1"}))
    said = f"marshmallow 4.3.1, installed files, compiled plans, from {site}"
    assert found["release"][1].startswith(said)
    assert found["bytecode"][0] == "note"
    assert "PYTHONDONTWRITEBYTECODE is set" in found["bytecode"][1]
    cached = {**env, "PYTHONDONTWRITEBYTECODE": ""}
    assert verdicts(doctor("--json", env=cached))["bytecode"][0] == "ok"
