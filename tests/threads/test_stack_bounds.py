"""The main thread's stack ends where its limit says, whatever else lies on it."""

import sys

import pytest

import althaia
from tests.redirect import processes

resource = pytest.importorskip("resource")

pytestmark = [
    pytest.mark.skipif(
        not althaia.info().compiled, reason="interpreted functions do not look at the stack"
    ),
    pytest.mark.skipif(sys.platform != "linux", reason="the limit is set as on Linux"),
]

PROGRAM = """
import sys
import threading

import althaia
from althaia import marshmallow

class Node(marshmallow.Schema):
    value = marshmallow.fields.Raw()

def deepest():
    deep = []
    for _ in range(60_000):
        deep = [deep]
    try:
        Node().dumps({"value": deep})
    except RecursionError as error:
        print(error)

def shallow():
    print(Node().dumps({"value": [[1]] * 3}))

sys.setrecursionlimit(100_000)
for _ in range(50):
    Node().dumps({"value": 1})
deepest()
shallow()
thread = threading.Thread(target=shallow)
thread.start()
thread.join()
"""


@pytest.mark.parametrize("padding", [0, 100_000], ids=["small", "large environment"])
def test_a_small_stack_is_not_overrun(padding, tmp_path):
    limit = 1 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]
    done = processes.run(
        "-c", PROGRAM, cwd=tmp_path, env={"ALTHAIA_PADDING": "x" * padding},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, limit),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said, *written = done.stdout.splitlines()
    assert "maximum recursion depth exceeded" in said
    assert written == ['{"value": [[1], [1], [1]]}'] * 2
