"""What a checkpoint depends on -> a fingerprint. A checkpoint accepts only queries with its own fingerprint."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict

from penstock.codegen.program import AnyView, Input, QueryOutput, RemoteView

# String literals are skipped. A quoted name behind a point is a field of a struct, and no column.
_TOKEN = re.compile(
    r"""'(?:[^'\\]|\\.)*'|\.?(?P<quote>[`"])(?P<name>(?:(?!(?P=quote)).|(?P=quote){2})*)(?P=quote)|\s+""", re.DOTALL
)


def fingerprint(
    query: str,
    inputs: Sequence[Input],
    reading: object,
    computed: Sequence[object],
    output: QueryOutput,
    state: object,
    numbered: Collection[str],
) -> str:
    """SHA-256 of the inputs and how they are read, the checkpoint contract, the output, and the state.

    The name of the query, with which the names of its views begin, is left out. Only the numbers of `numbered`
    columns count. Blanks are left out, because long names break lines.
    """

    def leave_names_out(text: str) -> str:
        numbers = _rewrite_sql(text, lambda name: "#" + name.rpartition("#")[2] if name in numbered else None, blank="")
        return numbers.replace(f"`{query}_", "`_")

    facts = {
        "inputs": [_input(each) for each in inputs],
        "reading": _rewrite_facts(reading, leave_names_out),
        "computed": _rewrite_facts(computed, leave_names_out),
        "output": _output(output) if output.holds_rows else None,
        "state": state,
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def leave_numbers_out(sql: str) -> str:
    """The text with its columns as a script calls them."""
    return _rewrite_sql(sql, lambda name: f"`{re.sub(r'#[0-9]+$', '', name).replace('`', '``')}`")


def describe_computation(view: AnyView) -> list[object]:
    """What the view computes, without its name, the names of its sources, and its metrics."""
    if isinstance(view, RemoteView):
        columns = [each for _, each in view.picked]
        return [view.connector, list(view.identity), view.key, columns, view.outer, view.schema]
    return [value for name, value in asdict(view).items() if name not in ("name", "source", "metrics")]


def _input(source: Input) -> list[object]:
    facts: list[object]
    facts = [source.connector, source.name if source.is_intermediate else None, source.columns, list(source.identity)]
    return [*facts, source.metadata] if source.metadata else facts


def _output(output: QueryOutput) -> list[object]:
    return [output.connector, output.columns, list(output.identity)]


def _rewrite_facts(facts: object, rewrite: Callable[[str], str]) -> object:
    if isinstance(facts, str):
        return rewrite(facts)
    return [_rewrite_facts(each, rewrite) for each in facts] if isinstance(facts, list | tuple) else facts


def _rewrite_sql(sql: str, value: Callable[[str], str | None], blank: str | None = None) -> str:
    """The text with the value of each column, and `blank` for all blanks; None keeps what is there."""

    def replace_token(token: re.Match[str]) -> str:
        quote, name = token["quote"], token["name"]
        if token[0].isspace():
            return token[0] if blank is None else blank
        found = None if quote is None or token[0].startswith(".") else value(name.replace(quote * 2, quote))
        return token[0] if found is None else found

    return _TOKEN.sub(replace_token, sql)
