"""Computes a digest of each of upstream's functions, class bodies and module bodies.

The build and the shipped package both use this module, so it imports nothing of either.
"""

import ast
from collections.abc import Iterator, Sequence
from hashlib import sha256

Digests = dict[str, str]


def of_tree(name: str, tree: ast.Module) -> Digests:
    """Return the digests of a file by qualified name, as in ``fields.Integer._validated``.

    A digest covers the code, without docstrings, comments, layout and annotations. The entry of a
    class covers its header and the statements that are not methods; that of a module likewise.

    :param name: the file's, relative to the package
    """
    return {
        key: sha256("\n".join(_shape(node) for node in nodes).encode()).hexdigest()[:16]
        for key, nodes in _units(module_name(name), tree, [])
    }


def module_name(file: str) -> str:
    """Return the name of a file's module in the names of the digests.

    >>> module_name("experimental/context.py")
    'experimental.context'
    """
    return file.removesuffix(".py").replace("/", ".")


_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def _units(
    name: str, node: ast.Module | ast.ClassDef, header: Sequence[ast.AST]
) -> Iterator[tuple[str, Sequence[ast.AST]]]:
    """Yield the statements of a module or class that define nothing, then the definitions in it."""
    statements = [each for each in _code(node.body) if not isinstance(each, _DEFINITIONS)]
    yield name, [*header, *statements]
    for each in node.body:
        if isinstance(each, ast.ClassDef):
            bases = [*each.decorator_list, *each.bases, *each.keywords]
            yield from _units(f"{name}.{each.name}", each, bases)
        elif isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{name}.{each.name}", [*each.decorator_list, each.args, *_code(each.body)]


def _code(body: list[ast.stmt]) -> list[ast.AST]:
    """Return a body without its docstring and without annotations that assign no value."""
    match body:
        case [ast.Expr(ast.Constant(str())), *body]:
            pass
    return [node for node in body if not _is_bare(node)]


def _is_bare(node: object) -> bool:
    return isinstance(node, ast.AnnAssign) and node.value is None


_SILENT = {"annotation", "returns", "type_comment", "type_params", "kind", "simple"}


def _shape(node: object) -> str:
    """Return the code of a syntax tree as text, equal on every Python version.

    The results of ``ast.dump`` and ``ast.unparse`` differ between Python versions.
    """
    if isinstance(node, list):
        return "[" + " ".join([_shape(each) for each in node if not _is_bare(each)]) + "]"
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.JoinedStr):
        return "JoinedStr" + _shape(_pieces(node))
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        node = ast.Assign([node.target], node.value)
    parts = []
    for name in node._fields:
        if name in _SILENT:
            continue
        value = getattr(node, name, None)
        if name == "body" and isinstance(node, ast.FunctionDef):
            value = _code(node.body)
        # From Python 3.15 on import nodes have the attribute `is_lazy`.
        if value in (None, []) or (name == "is_lazy" and not value):
            continue
        parts.append(f"{name}={_shape(value)}")
    return f"{type(node).__name__}({' '.join(parts)})"


def _pieces(text: ast.JoinedStr) -> list[object]:
    """Return the parts of an f-string, with adjacent constants joined."""
    pieces: list[object] = []
    for part in text.values:
        if not isinstance(part, ast.Constant):
            pieces.append(part)
        elif pieces and isinstance(pieces[-1], str):
            pieces[-1] += str(part.value)
        elif part.value:
            pieces.append(str(part.value))
    return pieces
