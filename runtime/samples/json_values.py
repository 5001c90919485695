"""A record of JSON -> its values, each with its own text: numbers keep their spelling, objects all of their pairs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from json.decoder import JSONArray, JSONObject  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Any


class JsonNumber(str):
    """The text of a number."""

    __slots__ = ()


class Constant(str):
    """NaN, Infinity or -Infinity."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class JsonObject:
    """An object: its pairs in their order, and its text in the record."""

    pairs: list[tuple[str, Any]]
    text: str


@dataclass(frozen=True, slots=True)
class JsonArray:
    """An array: its items, and its text in the record."""

    items: list[Any]
    text: str


class _Decoder(json.JSONDecoder):
    """Python's decoder, which is told to keep texts."""

    def __init__(self) -> None:
        super().__init__(parse_int=JsonNumber, parse_float=JsonNumber, parse_constant=Constant, object_pairs_hook=list)
        self.parse_object = self._read_object
        self.parse_array = self._read_array
        self.scan_once = py_make_scanner(self)

    def _read_object(self, text_and_end: tuple[str, int], *arguments: Any) -> tuple[JsonObject, int]:
        text, start = text_and_end
        pairs, end = JSONObject(text_and_end, *arguments)
        return JsonObject(pairs, text[start - 1 : end]), end

    def _read_array(self, text_and_end: tuple[str, int], *arguments: Any) -> tuple[JsonArray, int]:
        text, start = text_and_end
        items, end = JSONArray(text_and_end, *arguments)
        return JsonArray(items, text[start - 1 : end]), end


_DECODER = _Decoder()


def parse_json(text: str) -> Any:
    """The value. Raises ValueError if the text is not one value, RecursionError if it is nested too deeply."""
    return _DECODER.decode(text)
