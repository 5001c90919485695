"""JSON files that are read in part -> the kinds of values in all of them, which DuckDB finds quickly."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import duckdb

from penstock.describe.observed import ARRAY, FRACTION, OBJECT, TEXT, TRUTH, WHOLE, Observed
from penstock.runtime.samples.sample_files import SampleFile

MOST_BYTES = 4 << 30
_KINDS = {"BOOLEAN": TRUTH, "BIGINT": WHOLE, "UBIGINT": WHOLE, "HUGEINT": WHOLE, "DOUBLE": FRACTION, "VARCHAR": TEXT}
"""The kinds by the names that DuckDB has for them. It has JSON for several kinds in one place."""


def add_kinds_of_all(root: Observed, files: Sequence[SampleFile]) -> bool:
    """Adds fields and kinds of values that are in no record that was read. Returns whether all files were looked at."""
    names = [each.path for each in files]
    is_read = not any(each.lower().endswith(".bz2") for each in names)
    if not is_read or any(set(each) & set("*?[]{}") for each in names) or sum(each.size for each in files) > MOST_BYTES:
        return False
    asked = "SELECT json_group_structure(json) FROM read_json_objects($files, format = 'nd', ignore_errors = true)"
    try:
        with duckdb.connect(":memory:") as connection:
            connection.execute("SET autoinstall_known_extensions = false")
            row = connection.execute(asked, {"files": names}).fetchone()
    except duckdb.Error:
        return False
    if row is None or row[0] is None:
        return False
    _add(root, json.loads(row[0]))
    return True


def _add(seen: Observed, structure: Any) -> None:
    match structure:
        case dict():
            _add_kind(seen, OBJECT)
            for name, each in structure.items():
                _add(seen.fields.setdefault(name, Observed(name)), each)
        case [inside]:
            _add_kind(seen, ARRAY)
            seen.items = seen.items or Observed(seen.name)
            _add(seen.items, inside)
        case "JSON":
            _add_kind(seen, TEXT)
            _add_kind(seen, OBJECT)
        case str() if structure in _KINDS:
            kind = _KINDS[structure]
            # DuckDB takes numbers among texts for texts, and whole numbers among others for fractions.
            if kind == FRACTION and FRACTION not in seen.counts:
                seen.has_exponent = True
            _add_kind(seen, kind)


def _add_kind(seen: Observed, kind: str) -> None:
    """One value of this kind, in no file that is known, where none was seen."""
    if kind not in seen.counts:
        seen.counts[kind] = 1
        seen.values = None
