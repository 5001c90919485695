"""What is observed of the fields of records -> declared names that no record has, and names that no column takes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.codegen.program import Input
from penstock.codegen.record_parsing import BITS, HAVE, NAMES, RECORDS, WATCHED, FieldWatch
from penstock.diagnostics import Diagnostic, nearest
from penstock.diagnostics.codes.running import R094, R095
from penstock.runtime.progress.status import InputAccount, UnseenFields

_MOST_NAMES = 200
_TOLD = 10
"""How many names a message has."""
_LIKENESS = 0.75


def observe_fields(rows: DataFrame, source: Input, watch: FieldWatch | None) -> DataFrame:
    """The rows without the column of the watch, which is observed for each micro-batch under the view's name."""
    if watch is None:
        return rows
    metrics = [F.expr(sql).alias(name) for name, sql in watch.metrics]
    return rows.observe(_name_of(source), *metrics).drop(WATCHED)


class SeenFields:
    """The fields that the inputs of a query have had in this process.

    `warnings`: about inputs whose first records had no declared field.
    """

    def __init__(self, inputs: Iterable[Input]) -> None:
        self._by_view: dict[str, _InputFields] = {}
        by_input: dict[str, _InputFields] = {}
        for each in inputs:
            if each.parsing is not None and each.parsing.watch is not None:
                fields = by_input.setdefault(each.name, _InputFields(each.parsing.watch))
                self._by_view[_name_of(each)] = fields
        self._by_input = by_input
        self.warnings: list[Diagnostic] = []

    def add(self, observed: Mapping[str, Mapping[str, Any]]) -> None:
        """What a micro-batch has observed, by view."""
        for name, metrics in observed.items():
            if name in self._by_view:
                self._by_view[name].add(metrics)
        for name, fields in self._by_input.items():
            unseen = None if fields.is_told else fields.find_unseen()
            if unseen is not None and unseen.is_all:
                fields.is_told = True
                self.warnings.append(_explain_all(name, unseen))

    def find_unseen(self, name: str) -> UnseenFields | None:
        """What no record of the input of this name has had; None if each declared field has been there."""
        fields = self._by_input.get(name)
        return None if fields is None else fields.find_unseen()


class _InputFields:
    """The fields of one input. A query may read it several times: then it counts the records of each reading."""

    def __init__(self, watch: FieldWatch) -> None:
        self._paths = watch.paths
        self._words = [0] * (len(watch.paths) // BITS + 1)
        self._records = 0
        self._names: dict[tuple[str, ...], None] = {}
        self.is_told = False

    def add(self, metrics: Mapping[str, Any]) -> None:
        self._records += metrics.get(RECORDS) or 0
        for place, _ in enumerate(self._words):
            self._words[place] |= metrics.get(f"{HAVE}{place}") or 0
        for path in _list_names(metrics.get(NAMES)):
            if len(self._names) < _MOST_NAMES:
                self._names.setdefault(path)

    def find_unseen(self) -> UnseenFields | None:
        seen = {path for place, path in enumerate(self._paths) if self._words[place // BITS] >> place % BITS & 1}
        # What is within a field that is not there is not there, either.
        unseen = [path for path in self._paths if path not in seen and (path[:-1] in seen or len(path) == 1)]
        if not unseen or not self._records:
            return None
        folded = {_fold(path) for path in self._paths}
        others = [path for path in self._names if _fold(path) not in folded and _fold(path[:-1]) in {(), *folded}]
        return UnseenFields(
            self._records,
            tuple((".".join(path), _find_like(path, others)) for path in unseen),
            tuple(map(".".join, others)),
            all(path not in seen for path in self._paths),
        )


def explain_unseen(inputs: Iterable[InputAccount]) -> Iterator[Diagnostic]:
    """The warnings of inputs: declared names that no record has."""
    for each in inputs:
        unseen = each.unseen
        if unseen is None:
            continue
        if unseen.is_all:
            yield _explain_all(each.name, unseen)
            continue
        for column, like in unseen.columns:
            found = R094.at(None, column=column, name=each.name, count=f"{unseen.records:,}")
            yield found.with_hint(f"did you mean {like}?" if like else _others_text(unseen) or None)


def unseen_text(name: str, unseen: UnseenFields) -> str:
    """Sentences about an input of this name."""
    told = [f"{column} (did you mean {like}?)" if like else column for column, like in unseen.columns[:_TOLD]]
    rest = len(unseen.columns) - len(told)
    names = ", ".join(told) + (f" and {rest} more" if rest > 0 else "")
    text = f"{names} {'is' if len(unseen.columns) == 1 else 'are'} in 0 of {unseen.records:,} records of {name}."
    others = _others_text(unseen)
    return f"{text} The {others[4:]}." if others else text


def _explain_all(name: str, unseen: UnseenFields) -> Diagnostic:
    likes = [f"{like} for {column}" for column, like in unseen.columns if like is not None][:_TOLD]
    hint = f"did you mean {', '.join(likes)}?" if likes else _others_text(unseen) or None
    return R095.at(None, name=name, count=f"{unseen.records:,}").with_hint(hint)


def _others_text(unseen: UnseenFields) -> str:
    if not unseen.others:
        return ""
    shown = ", ".join(unseen.others[:_TOLD]) + (", …" if len(unseen.others) > _TOLD else "")
    return f"the records have fields that no column takes: {shown}"


def _find_like(path: tuple[str, ...], others: Iterable[tuple[str, ...]]) -> str | None:
    """The field beside this one, or anywhere else, that may be meant."""
    beside = [each for each in others if _fold(each[:-1]) == _fold(path[:-1])]
    plain = {_plain(each[-1]): each for each in reversed(beside)}
    if _plain(path[-1]) in plain:
        return ".".join(plain[_plain(path[-1])])
    found = nearest(path[-1], [each[-1] for each in beside], _LIKENESS)
    return None if found is None else ".".join((*path[:-1], found))


def _plain(name: str) -> str:
    return "".join(each for each in name.casefold() if each.isalnum())


def _list_names(skeleton: str | None) -> Iterator[tuple[str, ...]]:
    """The names of a record whose values have been left out, and the names within them."""
    if skeleton is None:
        return
    try:
        record = json.loads(skeleton)
    except (ValueError, RecursionError):  # it is only asked for what may be meant
        return
    pending: list[tuple[tuple[str, ...], Any]] = [((), record)]
    while pending:
        above, value = pending.pop(0)
        if isinstance(value, dict):
            for name, inner in value.items():
                yield (*above, name)
                pending.append(((*above, name), inner))


def _fold(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each.lower() for each in path)


def _name_of(source: Input) -> str:
    return f"{source.view} fields"
