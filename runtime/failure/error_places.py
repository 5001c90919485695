"""An error of Spark -> the expressions of the script that it may have come from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from penstock.codegen.program import Place, Printed
from penstock.runtime.failure.layers import Layer


def places_of(layer: Layer, printed: Sequence[Printed], is_candidate: Callable[[Place], bool]) -> list[Place]:
    """The place that Spark names.

    Where it names none: the candidates that have the name of the function, or all candidates if none has it.
    """
    if layer.fragment:
        return _find_named_place(layer, printed)
    said = layer.parameters.get("functionName", "").strip("`").upper()
    candidates = [place for text in printed for place in text.places if is_candidate(place)]
    own = [place for place in candidates if place.name == said]
    return _distinct(own or [place for place in candidates if place.spark_name == said] or candidates)


def _find_named_place(layer: Layer, printed: Sequence[Printed]) -> list[Place]:
    """The expression itself; else the largest one in it, as of an implicit CAST; else the least one around."""
    start, end = (_solid(layer.sql[:border]) for border in (layer.start, layer.start + len(layer.fragment)))
    known = [place for text in printed if text.sql == layer.sql for place in text.places]
    inside = [place for place in known if start <= place.start and place.end <= end]
    around = [place for place in known if place.start <= start and end <= place.end]
    best = max(inside, key=_length, default=None) or min(around, key=_length, default=None)
    if best is None:
        return []
    return _distinct(place for place in known if (place.start, place.end) == (best.start, best.end))


def _length(place: Place) -> int:
    return place.end - place.start


def _solid(text: str) -> int:
    """How many characters are no blanks."""
    return len(re.sub(r"\s", "", text))


def _distinct(places: Iterable[Place]) -> list[Place]:
    """One for each place in the script, in the order of the script."""
    distinct = {(id(place.span.source), place.span.start, place.span.end): place for place in places}
    return sorted(distinct.values(), key=lambda place: (place.span.start, place.span.end))
