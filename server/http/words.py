"""The words of Penstock's SQL, for editors: keywords of the grammar, types, and functions with what they give."""

from __future__ import annotations

from functools import cache
from typing import Any

from penstock.parser import list_keywords, list_types
from penstock.planner.functions import FUNCTIONS


@cache
def list_words() -> dict[str, Any]:
    """All of them, as JSON has them."""
    functions = [
        {"name": each.name, "signatures": list(each.signatures), "doc": each.doc, "is_bare": each.bare}
        for each in FUNCTIONS
    ]
    return {"keywords": list_keywords(), "types": list_types(), "functions": functions}
