"""An unknown word -> the known word that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, candidates: Iterable[str], likeness: float = 0.6) -> str | None:
    """The candidate most like `word`, ignoring case; None if none is similar.

    `likeness`: how much of the two has to be the same, from 0 to 1.
    """
    by_folded = {candidate.casefold(): candidate for candidate in candidates}
    matches = get_close_matches(word.casefold(), by_folded, n=1, cutoff=likeness)
    return by_folded[matches[0]] if matches else None
