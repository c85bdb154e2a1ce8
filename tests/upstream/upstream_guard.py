"""A pytest plugin for upstream's own suite: fail when anything but our copy was tested."""

import os
import sys
from types import FunctionType

import pytest

RELEASE = "ALTHAIA_TEST_RELEASE"
"""Names another release than that of the compiled copy, which is served from its own files."""
AT_ONCE = "ALTHAIA_TESTS_BUILD_AT_ONCE"
"""Set to 1, every plan is built at its schema's first use: the suite uses most only once."""


def _modules_that_are_not_ours():
    ours = {
        name.partition(".")[2]: module
        for name, module in sys.modules.items()
        if name.startswith("althaia.marshmallow")
    }
    return [
        name
        for name, module in sys.modules.items()
        if (name == "marshmallow" or name.startswith("marshmallow."))
        and ours.get(name) is not module
    ]


def _interpreted():
    import althaia

    return [name for name, state in althaia.info().modules.items() if state == "interpreted"]


def _another_release(wanted):
    import althaia

    served = althaia.info().served
    if (served.version, served.how) == (wanted, "interpreted"):
        return []
    return [f"marshmallow {served.version}, {served.how}, is served in the place of {wanted}"]


class Guard:
    """Looks at the modules when the run starts and when it ends."""

    def __init__(self):
        self.complaints = []

    def look(self):
        schema = sys.modules.get("marshmallow.schema")
        if schema is None:
            self.complaints.append("marshmallow was not imported at all")
        self.complaints += [f"{name} is not our copy" for name in _modules_that_are_not_ours()]
        if os.environ.get(RELEASE):
            self.complaints += _another_release(os.environ[RELEASE])
        elif os.environ.get("ALTHAIA_PURE_BUILD") != "1":
            self.complaints += [f"{name} is not compiled" for name in _interpreted()]
            if schema is not None and isinstance(schema.get_value, FunctionType):
                self.complaints.append("marshmallow's functions are interpreted")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session):
        self.look()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        self.look()
        if self.complaints:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        for complaint in dict.fromkeys(self.complaints):
            terminalreporter.write_line(f"guard: {complaint}", red=True)
        if not self.complaints:
            terminalreporter.write_line("guard: our copy was tested and nothing else")


def pytest_configure(config):
    if os.environ.get(AT_ONCE) == "1":
        from althaia.engine import instances

        instances.build_at_once(True)
    config.pluginmanager.register(Guard())
