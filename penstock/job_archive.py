"""The archive of a job: the modules that `penstock.job` imports, below another package than Penstock's.

It has all of `kit` and `runtime`, because the runtime makes the names of some modules when it runs. It has what these
import, too: findings, and the data of programs. A package whose own names nobody imports is empty. So the planner
stays out.
"""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from functools import cache
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

from penstock.codegen.job_facts import PACKAGE
from penstock.codegen.known_connectors import FACTS

START = "penstock.job"
WHOLE = ("kit", "runtime")
_FACTS = "penstock.codegen.known_connectors"
"""The module whose value is written out."""
_PARSING = "penstock.codegen.lazy_parsing"
"""The module that makes what a job brings."""
_NO_PARSING = '''"""A job brings what is known of the records of its inputs."""


def parse_records(source: object) -> None:
    """None where the place of the input holds rows."""
'''
_LIST = f"{PACKAGE}/job_files.txt"
"""The entry that lists the files which were written beside the archive, one a line."""
_MOMENT = (2020, 1, 1, 0, 0, 0)
"""The time of all entries, so that two archives of the same modules are equal."""
_IMPORT = re.compile(r"^(\s*(?:from|import)) penstock\b", re.MULTILINE)


def make_archive(files: Iterable[str] = ()) -> bytes:
    """The content of `kit.zip`. `files`: the paths of the other files of the job, which it lists."""
    content = io.BytesIO()
    texts = list_modules() | {_LIST: "".join(f"{each}\n" for each in sorted(files))}
    with ZipFile(content, "w", ZIP_DEFLATED) as archive:
        for path, text in sorted(texts.items()):
            entry = ZipInfo(path, _MOMENT)
            entry.compress_type = ZIP_DEFLATED
            archive.writestr(entry, text)
    return content.getvalue()


def list_files(archive: Path) -> list[str] | None:
    """The files that the archive of a job lists, as paths in the job's folder. None if it is no archive of a job."""
    try:
        with ZipFile(archive) as job:
            names = {*job.namelist()}
            if _path_of(START, is_package=False) not in names:
                return None
            listed = job.read(_LIST).decode().splitlines() if _LIST in names else []
    except (BadZipFile, UnicodeDecodeError, FileNotFoundError):
        return None
    return [each for each in listed if _is_inside(PurePosixPath(each))]


def _is_inside(path: PurePosixPath) -> bool:
    """Whether a path in an archive, which others may have written, stays in the folder."""
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts


@cache
def list_modules() -> dict[str, str]:
    """The texts of the modules in the archive, by their paths."""
    root = _find_root()
    ahead = [START, *(_name_module(path, root) for room in WHOLE for path in (root / room).rglob("*.py"))]
    texts: dict[str, str] = {}
    packages: set[str] = set()
    while ahead:
        module = ahead.pop()
        if module not in texts:
            texts[module] = _write_module(module)
            ahead += _list_imports(texts[module])
            packages.update(_list_packages(module))
    empty = {_path_of(package, is_package=True): "" for package in packages if package not in texts}
    return empty | {
        _path_of(module, is_package=_is_package(module)): _IMPORT.sub(rf"\1 {PACKAGE}", text)
        for module, text in texts.items()
    }


def _find_root() -> Path:
    return Path(__file__).parent


def _name_module(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(["penstock", *(parts[:-1] if parts[-1] == "__init__" else parts)])


def _is_package(module: str) -> bool:
    spec = find_spec(module)
    return spec is not None and spec.submodule_search_locations is not None


def _write_module(module: str) -> str:
    """The text of a module, as the archive has it but for the name of the package."""
    if module == _FACTS:
        return _write_facts()
    return _NO_PARSING if module == _PARSING else _read_module(module)


def _read_module(module: str) -> str:
    spec = find_spec(module)
    assert spec is not None, f"there is no module {module}"
    assert spec.origin is not None, f"{module} is no file"
    return Path(spec.origin).read_text(encoding="utf-8")


def _path_of(module: str, *, is_package: bool) -> str:
    path = module.replace(".", "/").replace("penstock", PACKAGE, 1)
    return f"{path}/__init__.py" if is_package else f"{path}.py"


def _list_packages(module: str) -> Iterator[str]:
    """The packages above a module."""
    parts = module.split(".")
    yield from (".".join(parts[:length]) for length in range(1, len(parts)))


def _list_imports(text: str) -> Iterator[str]:
    """The modules of Penstock that a text imports, in functions, too."""
    for node in _list_nodes(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if _is_own(each.name))
        elif isinstance(node, ast.ImportFrom) and node.module is not None and _is_own(node.module):
            for each in node.names:
                inner = f"{node.module}.{each.name}"
                yield inner if _is_package(node.module) and find_spec(inner) is not None else node.module


def _list_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that may run. Blocks for type checkers never do."""
    for each in ast.iter_child_nodes(node):
        if not (isinstance(each, ast.If) and isinstance(each.test, ast.Name) and each.test.id == "TYPE_CHECKING"):
            yield each
            yield from _list_nodes(each)


def _is_own(module: str) -> bool:
    return module.partition(".")[0] == "penstock"


def _write_facts() -> str:
    """The module of the facts of connectors, without the planner that they come from."""
    lines = []
    for name, facts in FACTS.items():
        given = ", ".join(f"{each.name}={getattr(facts, each.name)!r}" for each in fields(facts))
        lines.append(f"    {name!r}: ConnectorFacts({given}),\n")
    head = '"""The facts of all connectors by their names."""\n\n'
    head += "from penstock.codegen.connector_facts import ConnectorFacts\n\n"
    return f"{head}FACTS = {{\n{''.join(lines)}}}\n"
