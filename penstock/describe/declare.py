"""What was found at a place -> a script that `penstock check` accepts, tried on the first records."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.compilation import compile as compile_text
from penstock.describe.find_event_time import FoundTime, list_event_times
from penstock.describe.found_place import FoundPlace
from penstock.describe.infer import Described
from penstock.describe.script_text import write_script
from penstock.describe.type_text import type_text
from penstock.diagnostics import CompileError
from penstock.parser import name_text
from penstock.planner.catalog import Declared
from penstock.planner.types import STRING

TRIED = 1000
"""So many records are read once more, as they are declared."""
_MISFIT = re.compile(r"malformed record: (.*) is no [A-Z]", re.DOTALL)
_TRIES = 5


@dataclass(slots=True)
class DescribedPlace:
    """A script, and what it gives of the first records. `rows`: names of columns, and texts of the first rows."""

    found: FoundPlace
    time: FoundTime | None
    script: str
    names: list[str] = field(default_factory=list)
    rows: list[list[Any]] = field(default_factory=list)
    tried: int = 0
    rejected: list[tuple[str, str]] = field(default_factory=list)
    """The reason and the text of each record that is rejected."""


def declare(found: FoundPlace, rows: int) -> DescribedPlace:
    """The script, with the first `rows` rows.

    Raises:
        CompileError: nothing that was found can be declared.
        RunError: the records cannot be read as they are declared.
    """
    found.columns = [each for each in found.columns if _can_be_declared(found, each)]
    time = next((each for each in list_event_times(found) if _is_accepted(found, each)), None)
    for _ in range(_TRIES):
        declaration = _try(found, time, rows)
        if not _mend(found, declaration):
            break
        if time is not None and found.find(time.name) is not None and time.sql is None:
            time = next((each for each in list_event_times(found) if _is_accepted(found, each)), None)
    shown = [declaration.names, *(list(map(str, row)) for row in declaration.rows)] if declaration.rows else []
    _tell_rejected(found, declaration)
    declaration.script = write_script(found, declaration.time, shown)
    compile_text(declaration.script)
    return declaration


def _can_be_declared(found: FoundPlace, column: Described) -> bool:
    """Whether a script can name the column. Otherwise it is a note."""
    text = f"CREATE STREAM probe ({name_text(column.name)} {type_text(column.type)})"
    options = "WITH (connector = 'files', path = 'probe', format = 'parquet')"
    if not column.name:
        found.notes.append("a field without a name is left out")
        return False
    try:
        compile_text(f"{text} {options}")
    except CompileError as refusal:
        first = refusal.diagnostics[0]
        if column.type != STRING:
            column.type, column.form = STRING, None
            column.notes.append(f"read as its text: {first.message}")
            return _can_be_declared(found, column)
        found.notes.append(f"{column.name} is left out: {first.code}: {first.message}")
        return False
    return True


def _is_accepted(found: FoundPlace, time: FoundTime | None) -> bool:
    try:
        compile_text(write_script(found, time))
    except CompileError:
        return False
    return True


def _try(found: FoundPlace, time: FoundTime | None, rows: int) -> DescribedPlace:
    """Reads the first records as they are declared."""
    from penstock.codegen import lower_sampling
    from penstock.runtime import RunError
    from penstock.runtime.samples.look import look
    from penstock.values import to_json

    declaration = DescribedPlace(found, time, write_script(found, time))
    entry = compile_text(declaration.script).catalog.find(found.name)
    assert isinstance(entry, Declared), f"{found.name} is declared"
    sampling = lower_sampling(entry)
    try:
        sample = look(sampling, TRIED)
    except RunError:
        # Files of another header end a run. The first rows come from the files before.
        if not found.other_headers:
            raise
        sample = look(sampling, min(rows, found.other_headers) or 1)
    first = sample.rows[:rows]
    declaration.names = sample.rows.columns
    declaration.rows = [[_show(to_json(row[name])) for name in declaration.names] for row in first]
    declaration.tried = sample.read
    declaration.rejected = [(each.reason, each.record) for each in sample.rejected]
    return declaration


def _show(value: Any) -> str:
    if isinstance(value, dict | list | bool):
        return json.dumps(value, ensure_ascii=False)
    return "NULL" if value is None else str(value)


def _mend(found: FoundPlace, declaration: DescribedPlace) -> bool:
    """Reads columns as texts whose values do not fit. Returns whether anything has changed."""
    has_changed = False
    for reason, _ in declaration.rejected:
        misfit = _MISFIT.match(reason)
        column = None if misfit is None else found.find(misfit[1])
        if column is not None and column.type != STRING:
            column.type, column.form, has_changed = STRING, None, True
            column.notes.append("read as its text")
        elif reason.endswith("none of its type") and found.options.get("folder_columns") is None:
            found.options["folder_columns"] = False
            found.columns = [each for each in found.columns if each.notes != ["from the names of folders"]]
            has_changed = True
    return has_changed


def _tell_rejected(found: FoundPlace, declaration: DescribedPlace) -> None:
    if not declaration.rejected:
        return
    count = len(declaration.rejected)
    reasons = list(dict.fromkeys(reason for reason, _ in declaration.rejected))
    told = (
        f"{count:,} of the first {declaration.tried:,} records {'is' if count == 1 else 'are'} rejected: {reasons[0]}"
    )
    found.notes.insert(0, told + (f", and {len(reasons) - 1} more reasons" if len(reasons) > 1 else ""))


def list_columns(found: FoundPlace) -> Sequence[dict[str, Any]]:
    """The columns for programs."""
    return [
        {"name": each.name, "type": type_text(each.type), "notes": each.notes, "example": each.example}
        for each in found.columns
    ]
