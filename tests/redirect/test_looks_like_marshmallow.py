"""While redirected, nothing says that it is not marshmallow; afterwards everything does."""

import json

# Prints what a module says of itself and of what it defines, under the name in NAME.
SURVEY = """
import importlib, inspect, json, pkgutil, sys, types

package = importlib.import_module(NAME)
found = {}

def look(where, value, owner):
    name = getattr(value, "__module__", None)
    if not isinstance(name, str) or not name.startswith(("marshmallow", "althaia")):
        return
    if not isinstance(value, type) and type(value).__module__ in (name, "typing"):
        return  # docs/differences.md has type variables.
    found[where] = name
    if isinstance(value, type) and name == owner:
        for key, member in vars(value).items():
            if not isinstance(member, classmethod):
                look(f"{where}.{key}", member, owner)

names = [NAME] + [m.name for m in pkgutil.walk_packages(package.__path__, NAME + ".")]
for name in names:
    module = importlib.import_module(name)
    short = name.removeprefix("althaia.")
    found[short] = [module.__name__, module.__package__, module.__spec__.name,
                    module.__spec__.parent, module.__loader__ is module.__spec__.loader,
                    module.__file__.rpartition("/")[2],
                    getattr(module.__spec__, "_initializing", None)]
    for key, value in vars(module).items():
        if not key.startswith("__") and not isinstance(value, types.ModuleType):
            look(f"{short}:{key}", value, name)
print(json.dumps(found, sort_keys=True))
"""


def survey(name):
    return SURVEY.replace("NAME", repr(name))


def test_every_name_is_upstreams(redirected, program):
    ours = json.loads(redirected(survey("marshmallow")))
    real = json.loads(program(survey("marshmallow")))
    assert len(real) > 300
    different = {
        where: (name, ours.get(where)) for where, name in real.items() if ours.get(where) != name
    }
    assert different == {}
    assert [where for where, name in ours.items() if "althaia" in str(name)] == []


def test_used_directly_it_has_its_own_names(program):
    found = json.loads(program(survey("althaia.marshmallow")))
    assert len(found) > 300
    assert [where for where, name in found.items() if "althaia" not in str(name)] == []


def test_all_says_marshmallow(redirected):
    redirected(
        """
        # There is one copy under both names.
        import sys, gc
        import marshmallow, marshmallow.experimental.context
        import althaia.marshmallow.experimental.context as direct
        assert direct is marshmallow.experimental.context
        ours = [name for name in sys.modules if name.startswith("althaia.marshmallow")]
        assert len(ours) > 10
        for name in ours:
            assert sys.modules[name] is sys.modules[name.removeprefix("althaia.")], name
        schemas = [o for o in gc.get_objects() if isinstance(o, type) and o.__name__ == "Schema"]
        assert schemas == [marshmallow.Schema], schemas
        # Schemas of a program are registered by their path.
        from marshmallow import Schema, class_registry
        class Own(Schema): pass
        assert class_registry.get_class("__main__.Own") is Own
        assert class_registry.get_class("Schema") is Schema
        # docs/differences.md
        assert class_registry.get_class("althaia.marshmallow.schema.Schema") is Schema
        # Tools that look at modules.
        import inspect, pydoc, typing, warnings
        warnings.simplefilter("error")
        import marshmallow
        from marshmallow import fields
        assert "class Schema(" in inspect.getsource(marshmallow.schema)
        source = inspect.getsource(marshmallow.Schema)
        assert source.startswith("class Schema("), source[:40]
        assert inspect.getmodule(marshmallow.Schema) is marshmallow.schema
        assert "many" in inspect.signature(marshmallow.Schema.dump).parameters
        assert inspect.getdoc(marshmallow.Schema.dump).startswith("Serialize")
        assert typing.get_type_hints(marshmallow.Schema.dump)["many"] == (bool | None)
        assert "class Schema" in pydoc.render_doc(marshmallow.Schema)
        assert "marshmallow.fields" in pydoc.render_doc(fields, renderer=pydoc.plaintext)
        assert pydoc.locate("marshmallow.fields.String") is fields.String
        # Tracebacks show the lines of upstreams source.
        import traceback
        try:
            fields.Int(validate=lambda value: 1 / 0).deserialize(3)
        except ZeroDivisionError as error:
            frames = traceback.extract_tb(error.__traceback__)[1:-1]
        assert len(frames) >= 2, frames
        for frame in frames:
            assert frame.filename.endswith((".py")) and frame.line, frame
        assert "validat" in frames[-1].line
        # Mock patch reaches upstreams globals.
        from unittest import mock
        class S(marshmallow.Schema):
            x = fields.Int()
        with mock.patch("marshmallow.schema.Schema.get_attribute", return_value=7):
            assert S().dump({"x": 1}) == {"x": 7}
        assert S().dump({"x": 1}) == {"x": 1}
        with mock.patch("marshmallow.fields.String._serialize", return_value="mocked"):
            assert marshmallow.Schema.from_dict({"x": fields.String()})().dump({"x": 1}) == {
                "x": "mocked"
            }
        """
    )


def test_names_follow_patch_and_unpatch(program):
    program(
        """
        # Our copy imported before patch says marshmallow after.
        import althaia, sys
        from althaia.marshmallow import Schema
        import althaia.marshmallow.experimental.context
        assert Schema.__module__ == "althaia.marshmallow.schema"
        saved = sys.meta_path[:]
        althaia.patch()
        assert Schema.__module__ == Schema.dump.__module__ == "marshmallow.schema"
        # A finder that was removed by hand is put back.
        sys.meta_path[:] = saved
        assert not althaia.is_patched()
        althaia.patch()
        assert althaia.is_patched() and len(sys.meta_path) == len(saved) + 1
        import marshmallow
        assert marshmallow is sys.modules["althaia.marshmallow"]
        assert marshmallow.Schema is Schema
        assert marshmallow.experimental.context.Context.__module__.startswith("marshmallow.")
        # What users put into upstreams modules stays theirs.
        from marshmallow import fields
        from unittest import mock
        class Mine(fields.String): ...
        def helper(): ...
        fields.Mine, fields.helper = Mine, helper
        fields.String.owner = fields.String.itself = fields.String
        fields.String.loose = mock.MagicMock()
        althaia.unpatch()
        assert (Mine.__module__, helper.__module__) == ("__main__", "__main__")
        assert fields.String.__module__ == "althaia.marshmallow.fields"
        assert "__module__" not in vars(marshmallow.missing)
        althaia.patch()
        assert fields.String.__module__ == "marshmallow.fields"
        assert fields.Mine is Mine and Mine.__module__ == "__main__"
        """
    )


def test_our_copy_on_its_way_in_when_patch_is_called(program):
    program(
        """
        import sys
        import althaia

        class Meanwhile:
            def find_spec(self, name, path=None, target=None):
                if name == "althaia.marshmallow.orderedset":
                    assert "althaia.marshmallow.schema" in sys.modules
                    althaia.patch()

        assert althaia.__path__  # Now its own finder is there, before which this one stands.
        sys.meta_path.insert(0, Meanwhile())
        import althaia.marshmallow
        import marshmallow
        for name, module in list(sys.modules.items()):
            if name.startswith("althaia.marshmallow"):
                name = name.removeprefix("althaia.")
                assert sys.modules[name] is module and module.__name__ == name, name
        assert marshmallow.Schema.__module__ == "marshmallow.schema"
        assert marshmallow.fields.String.__module__ == "marshmallow.fields"
        """
    )


def test_repr_and_attributes_are_upstreams(redirected, program):
    code = """
        # Repr is upstreams.
        import marshmallow
        from marshmallow import fields, validate
        class S(marshmallow.Schema):
            x = fields.List(fields.Int(validate=validate.Range(min=1)))
        print(S(), S, marshmallow.Schema, fields.String, marshmallow.missing)
        print(repr(S().fields["x"]).replace(hex(id(S)), ""))
        print(marshmallow.ValidationError("no"), repr(marshmallow.ValidationError("no")))
        print(type(marshmallow.missing), validate.Range(min=1))
        # Attributes upstream lacks are missing.
        for name in ("__version__", "__version_info__", "nope", "pprint"):
            try:
                print(getattr(marshmallow, name))
            except AttributeError as error:
                print(error)
        print(sorted(name for name in dir(marshmallow) if "seam" not in name))
        exec("from marshmallow import *")
        print(sorted(name for name in globals() if name in marshmallow.__all__))
    """
    assert redirected(code) == program(code)
