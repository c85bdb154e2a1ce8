"""The import system, its tools and the file system see a package like any other."""

import shutil
from pathlib import Path

import pytest

import althaia
from tests.engine import NEEDS_ENGINE


def test_it_is_found_and_imported_like_any_package(redirected):
    redirected(
        """
        # Find spec imports nothing.
        import importlib.util, os, sys
        import althaia
        spec = importlib.util.find_spec("marshmallow")
        assert spec.name == "marshmallow" and spec.has_location, spec
        copy = os.path.join(althaia.__path__[0], "marshmallow")
        if os.path.isdir(copy):  # A pure build has none.
            assert spec.submodule_search_locations == [copy]
        assert spec.loader.get_filename("marshmallow") == spec.origin
        assert not [n for n in sys.modules if n.startswith(("marsh" "mallow", "althaia.marsh"))]
        # The import of a submodule alone.
        import sys
        from marshmallow.validate import Length
        import marshmallow
        assert sys.modules["marshmallow.validate"].Length is Length is marshmallow.validate.Length
        # Find spec of a submodule.
        import importlib.util
        spec = importlib.util.find_spec("marshmallow.fields")
        assert spec.name == "marshmallow.fields" and spec.parent == "marshmallow", spec
        context = importlib.util.find_spec("marshmallow.experimental.context")
        assert context.name == "marshmallow.experimental.context"
        assert marshmallow.fields.__spec__.name == "marshmallow.fields"
        # Resources and metadata.
        import importlib.metadata, importlib.resources, pkgutil
        files = importlib.resources.files("marshmallow")
        assert files.joinpath("py.typed").is_file()
        assert files.joinpath("schema.py").read_text("utf-8").startswith('"'), "source is there"
        assert importlib.resources.is_resource("marshmallow", "py.typed")
        assert importlib.metadata.version("marshmallow").startswith("4.4.")
        assert pkgutil.get_data("marshmallow", "py.typed") is not None
        import marshmallow.experimental
        assert importlib.resources.files(marshmallow.experimental).joinpath("context.py").is_file()
        # Every form of import.
        import importlib
        import marshmallow.fields as f
        from marshmallow import *
        from marshmallow import fields as g, Schema as S
        import marshmallow.experimental.context
        import marshmallow as m
        h = importlib.import_module("marshmallow.fields")
        i = importlib.import_module(".fields", "marshmallow")
        j = __import__("marshmallow.fields")
        k = __import__("marshmallow.fields", fromlist=["x"])
        assert f is g is h is i is k is m.fields is fields and j is m and S is Schema
        assert not hasattr(m, "nope")
        # Neighbours are left alone.
        import pathlib, sys
        sys.path.insert(0, "")
        for name in ("marshmallow_sqlalchemy", "marshmallowx", "marshmallow-x"):
            pathlib.Path(f"{name}.py").write_text("from marshmallow import Schema")
            module = importlib.import_module(name)
            assert module.__spec__.name == name and module.__name__ == name
            assert module.Schema is marshmallow.Schema
        """
    )


def test_what_upstream_has_and_lacks(redirected, program):
    code = """
        # What upstream lacks is missing.
        import importlib, importlib.util
        import marshmallow
        for name in ("marshmallow.nope", "marshmallow.fields.nope", "marshmallow.nope.deeper",
                     "marshmallow.seam", "marshmallow.plans"):
            try:
                print(importlib.util.find_spec(name))
            except ImportError as error:
                print(type(error), error, error.name)
            try:
                importlib.import_module(name)
            except ImportError as error:
                print(type(error), error, error.name, error.path)
        try:
            from marshmallow import nope
        except ImportError as error:
            print(type(error), error.name, str(error).partition(" (")[0])
        # Pkgutil lists what upstream has.
        import pkgutil, marshmallow
        print(sorted((m.name, m.ispkg) for m in pkgutil.walk_packages(
            marshmallow.__path__, marshmallow.__name__ + ".")))
        print(pkgutil.resolve_name("marshmallow.fields:Nested"))
    """
    assert redirected(code) == program(code)


def test_imported_again_there_is_one_copy(redirected):
    redirected(
        """
        # Reload keeps one copy.
        import importlib, sys, warnings
        warnings.simplefilter("error")
        import marshmallow
        from marshmallow import fields, utils
        for module in (utils, fields, marshmallow):
            name, spec = module.__name__, module.__spec__
            assert importlib.reload(module) is module
            assert module.__name__ == module.__spec__.name == name
            assert module.__loader__ is module.__spec__.loader
            assert type(module.__loader__) is type(spec.loader)
            assert sys.modules[name] is sys.modules["althaia." + name] is module
            assert module.__file__.endswith(".py")
        assert utils.get_value.__module__ == "marshmallow.utils"
        assert fields.String.__module__ == "marshmallow.fields"
        assert marshmallow.Schema.from_dict({"x": fields.Int()})().load({"x": "1"}) == {"x": 1}
        # Removed from sys modules and imported again.
        import sys
        first = marshmallow.fields
        del sys.modules["marshmallow.fields"]
        import marshmallow.fields
        assert marshmallow.fields is first
        for name in [name for name in sys.modules if name.startswith("marshmallow")]:
            del sys.modules[name]
        import marshmallow as again
        from marshmallow.schema import Schema
        assert again is marshmallow and Schema is marshmallow.Schema
        assert Schema.__module__ == "marshmallow.schema"
        # Both names removed and imported again.
        for name in [name for name in sys.modules if "marshmallow" in name]:
            del sys.modules[name]
        import marshmallow as again
        assert sys.modules["marshmallow.fields"] is sys.modules["althaia.marshmallow.fields"]
        assert again.Schema.__module__ == "marshmallow.schema"
        assert again.Schema.from_dict({"x": again.fields.Int()})().dump({"x": "1"}) == {"x": 1}
        """
    )


def test_blocked_made_by_hand_and_lazily_imported(patched):
    patched(
        """
        # A blocked import stays blocked.
        import sys
        sys.modules["marshmallow"] = None
        try:
            import marshmallow
        except ModuleNotFoundError as error:
            assert error.name == "marshmallow"
        else:
            raise AssertionError
        del sys.modules["marshmallow"]
        # A lazy module.
        import importlib.util
        spec = importlib.util.find_spec("marshmallow")
        spec.loader = importlib.util.LazyLoader(spec.loader)
        lazy = importlib.util.module_from_spec(spec)
        sys.modules["marshmallow"] = lazy
        spec.loader.exec_module(lazy)
        assert lazy.Schema.from_dict({"x": lazy.fields.Int()})().dump({"x": "1"}) == {"x": 1}
        """
    )
    patched(
        """
        # A module made by hand from the spec is the same copy.
        import importlib.util
        spec = importlib.util.find_spec("marshmallow")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        import marshmallow
        assert module is marshmallow
        assert marshmallow.__spec__.loader is marshmallow.__loader__
        """
    )


def test_our_copy_not_built_is_an_error_not_the_real_one(tmp_path, program):
    installed = Path(althaia.__file__).parent
    shutil.copytree(installed / "switch", tmp_path / "althaia" / "switch")
    for source in installed.glob("*.py"):
        shutil.copy(source, tmp_path / "althaia")
    program(
        """
        import sys
        sys.path.insert(0, "")
        import althaia
        althaia.patch()
        try:
            import marshmallow
        except ModuleNotFoundError as error:
            assert "was not built" in str(error), error
        else:
            raise AssertionError(marshmallow)
        """
    )


@NEEDS_ENGINE  # Otherwise the installed files are served, and are asked for by their name.
def test_accepted_an_import_hook_is_called_for_the_package_alone(redirected):
    """A finder of the program's own is asked for the submodules under our name."""
    redirected(
        """
        import sys
        asked = []
        class Finder:
            def find_spec(self, name, path=None, target=None):
                asked.append(name)
        sys.meta_path.insert(0, Finder())
        import marshmallow
        assert "marshmallow" in asked
        assert "marshmallow.schema" not in asked
        assert "althaia.marshmallow.schema" in asked
        """
    )


_ASKS_ALL_OTHERS = """
import sys

class Watchdog:  # Wraps the spec that the first other finder returns, as ddtrace's does.
    _finding = set()
    def find_spec(self, name, path=None, target=None):
        if name in self._finding:
            return None
        self._finding.add(name)
        try:
            for finder in sys.meta_path:
                if finder is not self and (spec := finder.find_spec(name, path, target)):
                    spec.loader = Chained(spec.loader)
                    return spec
        finally:
            self._finding.remove(name)

class Chained:
    def __init__(self, loader):
        self.loader = loader
    def __getattr__(self, name):
        return getattr(self.loader, name)
    def create_module(self, spec):
        return self.loader.create_module(spec)
    def exec_module(self, module):
        self.loader.exec_module(module)
"""


@pytest.mark.parametrize("compiled", ["0", "1"])
@pytest.mark.parametrize("first", ["watchdog", "althaia"])
def test_a_finder_that_asks_all_others(program, compiled, first):
    """Monitoring agents wrap the specs of all finders."""
    switch_on = ["sys.meta_path.insert(0, Watchdog())", "import althaia; althaia.patch()"]
    if first == "althaia":
        switch_on.reverse()
    program(
        _ASKS_ALL_OTHERS
        + "\n".join(["import warnings; warnings.simplefilter('error')", *switch_on])
        + """
import marshmallow
from marshmallow import fields
assert althaia.is_patched()
assert althaia.info().served.how != "untouched", althaia.info().served
assert marshmallow.Schema.from_dict({"x": fields.Int()})().dump({"x": "1"}) == {"x": 1}
assert sys.modules["althaia.marshmallow.fields"] is fields
""",
        env={"ALTHAIA_COMPILED": compiled},
    )
