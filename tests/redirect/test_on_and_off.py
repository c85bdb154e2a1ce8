"""patch() and unpatch(): idempotent, lazy, and what one does the other undoes."""

import pytest

from tests.engine import NEEDS_ENGINE


def test_importing_does_nothing_and_patch_is_lazy_and_idempotent(program):
    program(
        """
        import sys
        modules, before = set(sys.modules), list(sys.meta_path)
        import althaia
        new = set(sys.modules) - modules
        assert new <= {"althaia", "althaia.seam", "__future__", "_collections", "itertools"}, new
        assert sys.meta_path == before and althaia.__path__ and "__path__" in dir(althaia)
        assert not althaia.is_patched()
        for _ in range(3):
            assert althaia.patch() is True and althaia.is_patched()
        assert sys.meta_path[2:] == before
        loaded = [name for name in sys.modules if name.partition(".")[0] == "marshmallow"]
        assert loaded == [] and "althaia.marshmallow" not in sys.modules
        for heavy in ("typing", "dataclasses", "importlib.metadata", "re", "json", "inspect"):
            assert heavy not in sys.modules, heavy
        assert set(althaia.__all__) <= set(dir(althaia))
        for name in althaia.__all__:
            assert getattr(althaia, name) is not None
        try:
            althaia.nope
        except AttributeError as error:
            assert "nope" in str(error)
        """
    )


def test_unpatch_restores_everything(program):
    program(
        """
        import sys
        from althaia import marshmallow
        import althaia.marshmallow.experimental.context
        from althaia.marshmallow import class_registry

        def state():
            described = {"registry": sorted(class_registry._registry)}
            for name, module in sorted(sys.modules.items()):
                if name.startswith(("marshmallow", "althaia.marshmallow")):
                    spec = module.__spec__
                    described[name] = (
                        module.__name__, module.__package__, module.__file__, id(spec), spec.name,
                        module.__loader__ is spec.loader,
                    )
                    for key, value in vars(module).items():
                        described[name, key] = getattr(value, "__module__", None)
                        if isinstance(value, type):
                            for member, function in vars(value).items():
                                described[name, key, member] = getattr(function, "__module__", None)
            said = {where: name for where, name in described.items() if name is not None}
            return said, list(sys.meta_path)

        before = state()
        for _ in range(2):
            althaia.patch()
            import marshmallow as again
            assert again is marshmallow and again.Schema.__module__ == "marshmallow.schema"
            assert state() != before
            assert althaia.unpatch() is True
            assert state() == before
        assert althaia.unpatch() is False
        """
    )


def test_unpatch_leads_back_to_the_real_one(redirected):
    redirected(
        """
        import importlib.util, sys
        import althaia, marshmallow
        from marshmallow import utils
        importlib.reload(utils)
        ours = marshmallow
        class Kept(ours.Schema):
            x = ours.fields.Int()
        althaia.unpatch()
        assert not althaia.is_patched()
        assert ours.Schema.__module__ == "althaia.marshmallow.schema"
        assert Kept().load({"x": "1"}) == {"x": 1}
        assert utils.get_value.__module__ == "althaia.marshmallow.utils"
        assert utils.__spec__.name == "althaia.marshmallow.utils"
        importlib.reload(utils)
        loader = importlib.util.find_spec("marshmallow").loader
        assert "importlib" in type(loader).__module__, loader
        import marshmallow, marshmallow.fields
        assert marshmallow is not ours and marshmallow.fields is not ours.fields
        """
    )


AUTO_SCHEMA = """
import importlib.metadata
import althaia
althaia.patch()
import sqlalchemy as sa
from sqlalchemy.orm import declarative_base
from marshmallow_sqlalchemy import SQLAlchemyAutoSchema, load_instance_mixin

theirs, version, asked = load_instance_mixin._cast_data, importlib.metadata.version, []
importlib.metadata.version = lambda name: asked.append(name) or version(name)

class Person(declarative_base()):
    __tablename__ = "person"
    id = sa.Column(sa.Integer, primary_key=True)
    name = sa.Column(sa.String(50))

class PersonSchema(SQLAlchemyAutoSchema):
    class Meta:
        model = Person
        load_instance = True
        transient = True

class Own(PersonSchema):
    def load(self, *args, **kwargs):
        return super().load(*args, **kwargs)

def load(make, times):
    asked.clear()
    assert [make().load({"name": "x"}).name for _ in range(times)] == ["x"] * times
    return len(asked)
"""


@NEEDS_ENGINE
@pytest.mark.parametrize("name", ["PersonSchema", "Own"])
def test_the_version_that_auto_schemas_ask_for_in_each_load(program, name):
    pytest.importorskip("marshmallow_sqlalchemy")
    program(
        f"""{AUTO_SCHEMA}
schema = {name}()
assert "version is looked up once" in althaia.explain(schema).as_text()
assert load(lambda: schema, 5) == 5 and load_instance_mixin._cast_data is theirs
load(lambda: schema, 40)
assert load_instance_mixin._cast_data is not theirs
assert load(lambda: schema, 5) == load({name}, 5) == 0
importlib.metadata.version = version
assert schema.validate({{"name": 3}}) == {{"name": ["Not a valid string."]}}
assert althaia.unpatch() and load_instance_mixin._cast_data is theirs
"""
    )
    without = "schema = PersonSchema()\nassert load(lambda: schema, 60) == 60\n"
    program(AUTO_SCHEMA + without, env={"ALTHAIA_PLANS": "0"})
