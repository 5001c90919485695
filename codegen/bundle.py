"""A text of Python -> the same with the functions that it calls, out of modules of Penstock's, and their imports."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from symtable import SymbolTable, symtable


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, class or constant at the top of a module: its text, and the imports of the module by their names."""

    text: str
    imports: dict[str, Import]


@dataclass(frozen=True, slots=True, order=True)
class Import:
    """`import module`, or `from module import name`; `own` is what the module calls it."""

    module: str
    name: str | None
    own: str

    def __str__(self) -> str:
        name = self.name or self.module
        return name if name == self.own else f"{name} as {self.own}"


def bundle_definitions(text: str, modules: Iterable[str]) -> tuple[str, list[str]]:
    """The imports, and the definitions in the order of the modules, that the text needs. The modules are not imported.

    A name that the text uses and does not define is defined in one of the modules, or is a builtin. What the text
    defines takes the place of a definition in a module.
    """
    known: dict[str, Definition] = {}
    for module in modules:
        for name, definition in definitions(module).items():
            assert name not in known, f"{name} is defined twice: in {module}, too"
            known[name] = definition
    for name in defined_names(text):
        known.pop(name, None)
    used: set[str] = set()
    imports: set[Import] = set()
    ahead = [*free_names(text)]
    while ahead:
        name = ahead.pop()
        if name in known and name not in used:
            used.add(name)
            names = free_names(known[name].text)
            imports |= {known[name].imports[each] for each in names if each in known[name].imports}
            ahead += names
    return _import_lines(imports), list(dict.fromkeys(each.text for name, each in known.items() if name in used))


@cache
def definitions(module: str) -> dict[str, Definition]:
    """What is defined at the top of a module."""
    spec = find_spec(module)
    assert spec is not None, f"there is no module {module}"
    assert spec.origin is not None, f"{module} is no file"
    source = Path(spec.origin).read_text(encoding="utf-8")
    lines, tree = source.splitlines(), ast.parse(source)
    imports = {each.own: each for node in tree.body for each in _imports(node)}
    found: dict[str, Definition] = {}
    for node in tree.body:
        names = [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        text = "\n".join(lines[first - 1 : node.end_lineno]) + "\n"
        found |= dict.fromkeys(names, Definition(text, imports))
    return found


@cache
def free_names(text: str) -> frozenset[str]:
    """The names of the module that a text of Python uses, in functions and classes, too."""
    return frozenset(_free_names(symtable(text, "<text>", "exec")))


def defined_names(text: str) -> frozenset[str]:
    """The names that a text of Python gives a value at its top."""
    return frozenset(each.get_name() for each in symtable(text, "<text>", "exec").get_symbols() if each.is_assigned())


def _free_names(table: SymbolTable) -> Iterator[str]:
    is_module = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (is_module or symbol.is_global()):
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _free_names(inner)


def _imports(node: ast.stmt) -> Iterator[Import]:
    """What a statement imports from elsewhere than Penstock."""
    if isinstance(node, ast.Import):
        yield from (Import(each.name, None, each.asname or each.name) for each in node.names)
    elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] not in ("penstock", "__future__"):
        yield from (Import(str(node.module), each.name, each.asname or each.name) for each in node.names)


def _import_lines(imports: Iterable[Import]) -> str:
    """The imports as a tool would sort them: the standard library first."""
    plain: dict[bool, list[str]] = {True: [], False: []}
    of_modules: dict[tuple[str, str], list[str]] = {}
    for each in sorted(imports, key=lambda each: (each.module, each.name or "", each.own)):
        if each.name is None:
            plain[_is_standard(each.module)].append(f"import {each}")
        else:  # a name with another name has a line of its own
            of_modules.setdefault((each.module, "" if each.name == each.own else each.own), []).append(str(each))
    groups = []
    for standard in (True, False):
        named = [
            f"from {module} import {', '.join(names)}"
            for (module, _), names in of_modules.items()
            if _is_standard(module) == standard
        ]
        groups.append("\n".join([*plain[standard], *named]))
    return "\n\n".join(filter(None, groups)) + "\n"


def _is_standard(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names
