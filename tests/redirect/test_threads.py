"""Many threads, one finder, one copy."""

# CPython reports a deadlock where one thread imports a package whose ``__init__`` imports its
# submodules and another one of these by name; under our names they are there before.

import pytest

BEGIN = """
import sys, threading
import althaia
sys.setswitchinterval(1e-6)
assert althaia.__path__  # Its own finder is there.
before, errors = list(sys.meta_path), []

def run(work, count):
    def each(index):
        try:
            work(index)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=each, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors, errors
"""


@pytest.mark.parametrize("round_", range(5))
def test_concurrent_patch_makes_one_finder_and_one_copy(program, round_):
    program(f"""{BEGIN}
import importlib
names = ["marshmallow", "marshmallow.fields", "marshmallow.experimental.context",
         "marshmallow.validate", "althaia.marshmallow", "marshmallow.schema"]
barrier, found = threading.Barrier(24), []

def work(index):
    barrier.wait()
    assert althaia.patch()
    barrier.wait()
    name = names[index % len(names)]
    module = importlib.import_module(name)
    found.append((name.removeprefix("althaia."), module, module.__name__))
    from marshmallow import Schema, fields
    assert Schema.from_dict({{"x": fields.Int()}})().load({{"x": "1"}}) == {{"x": 1}}

run(work, 24)
plans = althaia.info().plans
assert plans == "on" or "this is a pure build" in plans, plans
assert len(found) == 24
assert len(sys.meta_path) == len(before) + 1
for name, module, said in found:
    assert said == name and module is sys.modules[name] is sys.modules["althaia." + name]
""")


def test_patch_and_unpatch_in_a_race_leave_a_sound_state(program):
    program(f"""{BEGIN}
def work(index):
    for _ in range(200):
        althaia.patch()
        althaia.unpatch()

run(work, 8)
assert sys.meta_path == before and not althaia.is_patched()
""")


def test_a_child_forked_while_another_thread_holds_the_lock_can_import(program):
    program(
        """
        import os, threading
        if not hasattr(os, "fork"):
            raise SystemExit
        import althaia
        from althaia.switch import redirect
        althaia.patch()
        held, done = threading.Event(), threading.Event()

        def hold():
            with redirect._redirect._lock:
                held.set()
                done.wait(30)

        threading.Thread(target=hold).start()
        held.wait()
        child = os.fork()
        if child == 0:
            import signal
            signal.alarm(20)
            import marshmallow
            os._exit(0 if althaia.patch() else 1)
        status = os.waitpid(child, 0)[1]
        done.set()
        assert status == 0, status
        """
    )
