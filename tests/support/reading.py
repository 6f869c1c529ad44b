"""Reads the package's source: what each module imports, and what it mentions of the world outside it.

Names are resolved by the imports of the file, without scopes: a local variable that is named as an imported module
is taken for the module. That is enough to hold a rule; it is no proof against somebody who means to break it.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.support.room import ROOT

PACKAGE = "git_coop"
_OPENERS = frozenset({"open", "builtins.open", "io.open", "os.fdopen", "codecs.open"})
_WRITING = frozenset("wax+")


class Use(NamedTuple):
    """One mention of a name; a method of an object that is not known is ``.method``; ``mode`` is of a file opened."""

    name: str
    line: int
    mode: str | None = None


class Import(NamedTuple):
    """One import; ``late`` inside a function, ``typed`` only for a type checker."""

    name: str
    line: int
    late: bool
    typed: bool


def modules() -> dict[str, Path]:
    """Every module of the package by its name without the package's; the package itself is the empty name."""
    base = ROOT / PACKAGE
    found = {}
    for path in sorted(base.rglob("*.py")):
        parts = path.relative_to(base).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports(source: str) -> list[Import]:
    """Every import, each imported name by its whole dotted name."""
    return list(_imports(ast.parse(source), late=False, typed=False))


def _imports(node: ast.AST, *, late: bool, typed: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(each.name, child.lineno, late, typed) for each in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from (Import(f"{child.module}.{each.name}", child.lineno, late, typed) for each in child.names)
        elif isinstance(child, ast.If) and _is_type_checking(child.test):
            for inner in child.body:
                yield from _imports(ast.Module([inner], []), late=late, typed=True)
            for inner in child.orelse:
                yield from _imports(ast.Module([inner], []), late=late, typed=typed)
        else:
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _imports(child, late=late or inside, typed=typed)


def _is_type_checking(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def own(name: str, known: set[str]) -> str | None:
    """The module of the package that an imported name comes from; ``None`` for a name from elsewhere."""
    if name.split(".")[0] != PACKAGE:
        return None
    rest = name.removeprefix(PACKAGE).removeprefix(".")
    while rest and rest not in known:
        rest = rest.rpartition(".")[0]
    return rest


@cache
def uses(source: str) -> list[Use]:
    """Every mention of a builtin, of an imported name or of what is in it, and every method called elsewhere."""
    tree = ast.parse(source)
    named = _named(tree)
    found = [Use(each.name, each.line) for each in imports(source) if not each.typed]
    modes = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name) and not isinstance(node.ctx, ast.Store):
            name = _dotted(node, named)
            if name:
                found.append(Use(name, node.lineno, _mode(name, modes.get(id(node)))))
    return found


def _named(tree: ast.AST) -> dict[str, str]:
    """What each imported name stands for in this file."""
    named = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                named[each.asname or each.name.split(".")[0]] = each.name if each.asname else each.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom):
            named.update({each.asname or each.name: f"{node.module}.{each.name}" for each in node.names})
    return named


def _dotted(node: ast.expr, named: dict[str, str]) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    if isinstance(node, ast.Name) and (node.id in named or not parts):
        return ".".join([named.get(node.id, node.id), *parts])
    return f".{parts[-1]}" if parts else ""


def _mode(name: str, call: ast.Call | None) -> str | None:
    """The mode with which a call opens a file, ``?`` where it cannot be read; ``None`` for no such call."""
    if call is None or (name not in _OPENERS and name != ".open"):
        return None
    given = [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
    given += call.args[1:2] if name in _OPENERS else call.args[:1]
    if not given:
        return "r"
    value = given[0].value if isinstance(given[0], ast.Constant) else None
    if isinstance(value, str):
        return value
    return "?" if name in _OPENERS else None


def writes(mode: str | None) -> bool:
    """Whether a file opened so can be changed, or might be."""
    return mode is not None and (mode == "?" or not _WRITING.isdisjoint(mode))
