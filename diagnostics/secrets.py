"""Hides values that may be secret in any text that is shown: passwords of options, and credentials in URLs.

What is hidden is replaced by asterisks, one for each character, so that places in a text stay as they are. The text may
be one that cannot be parsed. In an option list only strings of known harmless options are shown, also where their names
are slightly misspelt or as other systems spell them. Elsewhere a name such as `password` hides the string behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher, get_close_matches
from functools import lru_cache
from typing import NamedTuple

SHOWN_OPTIONS = {
    "connector",
    *("state_partitions", "state_store", "intermediate_partitions", "auto_repartition", "on_row_error"),
    *("trigger", "realtime_batch", "trigger_interval", "partial_aggregates"),
}
"""The options and settings whose strings are shown. A slightly misspelt name is shown, too. Others are hidden."""

_OF_OTHERS = {
    *("scan.startup.mode", "scan.startup.timestamp-millis", "properties.group.id", "value.format", "key.format"),
    *("key.fields", "value.fields-include", "sink.partitioner", "rows-per-second", "kafka_topic", "timestamp"),
    *("timestamp_format", "replicas", "wrap_single_value", "window_type", "window_size", "csv.field-delimiter"),
    *("csv.ignore-parse-errors", "json.ignore-parse-errors", "json.fail-on-missing-field", "table-name", "mode"),
    *("startingoffsets", "endingoffsets", "subscribe", "multiline", "inferschema", "delimiter", "sep", "encoding"),
    *("parallelism", "pipeline.name", "execution.runtime-mode", "auto.offset.reset", "table.exec.source.idle-timeout"),
}
"""Options of other systems that hold no secret."""

_WORDS = ("password", "passwd", "passphrase", "token", "secret", "credential", "apikey")
_PARTS = ("pwd", "api_key", "access_key", "secret_key", "private_key", "account_key", "shared_key")
_ALIKE = 0.75  # how much of a word must match a secret: `pasword`, `tokne`
_LONGEST = 24  # the most characters of a word that is alike

_SPELT_ALIKE = 0.88  # how much of a name must match a harmless option: `formt`, `bootstrap.server`
_SHORTEST_NAME, _LONGEST_NAME = 5, 40  # a longer or shorter name is like none
_MAY_HOLD_SECRETS = {"headers"}  # one of them may be Authorization

_URL = re.compile(
    # Passwords in URLs often have slashes that should have been escaped; `host:80/a@b` has no password.
    r"(?P<shown>(?<![\w+.-])[\w+.-]++://)(?P<hidden>[^\s'\"@/:]*:(?!\d+/)[^\s'\"]{0,500}|[^\s'\"@/]+)(?=@)"
)
_SIGN = re.compile(r"(?<![\w.-])(?P<name>[\w.-]++)[`\"']?\s*(?:=>|==|=|:)\s*")
_REFERENCE = re.compile(r"(?i:env ?\( ?'[a-z_]\w*' ?\)|file ?\( ?'(?:[^']++|'')*+' ?\))", re.ASCII)
"""Where a secret is. What stands in ENV(…) and is no name may be the secret itself."""
_STATEMENTS = ("CREATE", "SELECT", "INSERT", "WITH", "EXPLAIN", "SHOW")
_VALUE = re.compile(r"'(?:[^']++|'')*+'?|\"[^\"]*\"?|[^\s,;&)'\"]+")
_NO_STRING = re.compile(
    r"(- ?)?\d+(\.\d+)?(e[+-]?\d+)?|true|false|interval '[\d :.+-]+' [a-z]+( to [a-z]+)?"
    r"|\d+ (millisecond|second|sec|minute|min|hour|day|week)s?",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))|(?P<string>'(?:[^']++|'')*+(?:'|\Z))"
    r"|(?P<quoted>`[^`]*(?:`|\Z)|\"[^\"]*(?:\"|\Z))|(?P<word>[\w.]+)|(?P<sign>.)",
    re.DOTALL,
)


def show_options(names: Iterable[str]) -> None:
    """Shows the strings of these options, too. The connectors, which know them, are in a room above this one."""
    SHOWN_OPTIONS.update(names)
    hide_secrets.cache_clear()
    _is_harmless.cache_clear()


def redact_value(name: str, value: object) -> str:
    """The value of an option as it may be shown."""
    text = str(value)
    return hide_credentials(text) if _is_shown(name, text) else _mask(text)


def hide_credentials(text: str, *, quoted: bool = False) -> str:
    """A message without the credentials of its URLs and without what is assigned to names such as `password`.

    `quoted`: only strings are hidden among assigned values, so that `a.token = b.token` stays.
    """
    text = _URL.sub(lambda found: found["shown"] + _mask(found["hidden"]), text)
    pieces, copied, position = list[str](), 0, 0
    while sign := _SIGN.search(text, position):
        position = sign.end()
        value = None if _REFERENCE.match(text, position) else _VALUE.match(text, position)
        if value is not None and is_secret(sign["name"]) and not (quoted and value[0][0] not in "'\""):
            pieces += [text[copied : value.start()], _mask(value[0])]
            copied = position = value.end()
    return "".join([*pieces, text[copied:]])


@lru_cache(maxsize=8)
def hide_secrets(sql: str) -> str:
    """The text of a script without secrets. It has the same length and the same lines."""
    tokens = [_Token(str(match.lastgroup), match[0]) for match in _TOKEN.finditer(sql)]
    shown = [hide_credentials(token.text) if token.kind == "comment" else token.text for token in tokens]
    solid = [place for place, token in enumerate(tokens) if token.kind not in ("space", "comment")]
    for place, text in _redact_tokens([tokens[place] for place in solid]):
        shown[solid[place]] = text
    return "".join(shown)


@lru_cache(maxsize=1024)
def is_secret(name: str) -> bool:
    """Whether what has that name is a secret, also if the name is slightly misspelt."""
    folded = name.lower()
    if any(word in folded for word in _WORDS) or any(part in re.sub("[.-]", "_", folded) for part in _PARTS):
        return True
    words = [word for word in re.split(r"[^a-z0-9]+", folded) if 0 < len(word) <= _LONGEST]
    return any(SequenceMatcher(None, word, secret).ratio() >= _ALIKE for word in words for secret in _WORDS)


@lru_cache(maxsize=1024)
def _is_harmless(option: str) -> bool:
    """Whether strings of an option of that name are no secrets. The name may be slightly misspelt."""
    folded = option.lower()
    head, _, rest = folded.partition(".")
    if head == "fields" and "." in rest:  # an option of a column, such as fields.price.min
        folded = f"{head}.{rest.rpartition('.')[2]}"
    if folded in SHOWN_OPTIONS or folded in _OF_OTHERS:
        return True
    if folded in _MAY_HOLD_SECRETS or is_secret(option):
        return False
    spelt = re.sub("[.-]", "_", folded.removeprefix("properties."))
    return _SHORTEST_NAME <= len(spelt) <= _LONGEST_NAME and bool(
        get_close_matches(spelt, SHOWN_OPTIONS, n=1, cutoff=_SPELT_ALIKE)
    )


def _is_shown(option: str, value: str) -> bool:
    if _is_harmless(option) or _REFERENCE.fullmatch(value):
        return True
    return _NO_STRING.fullmatch(value) is not None and not is_secret(option)


def _mask(text: str) -> str:
    return re.sub(r"[^\r\n]", "*", text)


class _Token(NamedTuple):
    kind: str
    text: str


def _redact_tokens(tokens: list[_Token]) -> Iterator[tuple[int, str]]:
    """The place of each token, and its text as it may be shown. No token is a blank or a comment."""
    begin = 0
    for end in [*(place for place, token in enumerate(tokens) if token.text == ";"), len(tokens)]:
        words = [token.text.upper() for token in tokens[begin:end]]
        if words[:1] == ["SET"]:
            close = _find_next(tokens, words, begin)
            yield from _redact_item(tokens, begin + 1, close)
            if close < end:
                yield from _redact_statement(tokens, words[close - begin :], close)
        else:
            yield from _redact_statement(tokens, words, begin)
        begin = end + 1


def _find_next(tokens: list[_Token], words: list[str], begin: int) -> int:
    """The token with which a statement begins behind `SET name = value` without a semicolon, or the end."""
    sign = words.index("=") if "=" in words else len(words)
    name = "".join(token.text.strip("'\"`") for token in tokens[begin + 1 : begin + sign])
    is_begun = words[sign + 2 : sign + 3] and words[sign + 2] in _STATEMENTS and _is_harmless(name)
    return begin + (sign + 2 if is_begun else len(words))


def _redact_statement(tokens: list[_Token], words: list[str], begin: int) -> Iterator[tuple[int, str]]:
    place, depth, item = 0, 0, 0
    for place, word in enumerate(words):
        if not depth and word == "(" and words[max(place - 1, 0)] == "WITH":
            depth, item = 1, place + 1
        elif depth:
            depth += {"(": 1, ")": -1}.get(word, 0)
            if not depth or (depth == 1 and word == ","):
                yield from _redact_item(tokens, begin + item, begin + place)
                item = place + 1
        elif tokens[begin + place].kind == "string":
            yield begin + place, _redact_string(tokens, begin, begin + place)
    if depth:
        yield from _redact_item(tokens, begin + item, begin + len(words))


def _redact_item(tokens: list[_Token], begin: int, end: int) -> Iterator[tuple[int, str]]:
    """In `name = value`, the name is shown, and the value if it is no secret. Without a sign nothing is."""
    sign = next((place for place in range(begin, end) if tokens[place].text == "="), begin - 1)
    name = "".join(token.text.strip("'\"`") for token in tokens[begin : max(sign, begin)])
    values = [token.text for token in tokens[sign + 1 : end]]
    shown = 1 if _is_harmless(name) else 0  # a second string is there because a quote is not
    text = " ".join(values)
    if (
        _REFERENCE.fullmatch(text)
        or (_NO_STRING.fullmatch(text) and not is_secret(name))
        or (shown and _is_plain(tokens[sign + 1 : end]))
    ):
        shown = len(values)
    elif shown and _is_item(tokens, sign + 2, end):  # only a comma is not there
        yield sign + 1, hide_credentials(tokens[sign + 1].text)
        yield from _redact_item(tokens, sign + 2, end)
        return
    for place, text in enumerate(values):
        yield sign + 1 + place, hide_credentials(text) if place < shown else _mask(text)


def _is_plain(tokens: list[_Token]) -> bool:
    """Whether it is a value in quotes that only look like quotes of the language, and no address."""
    inner = [token for token in tokens[1:-1] if token.kind in ("word", "sign") and token.text not in "@:"]
    return len(tokens) > 2 and len(inner) == len(tokens) - 2 and not (tokens[0].text + tokens[-1].text).isascii()


def _is_item(tokens: list[_Token], begin: int, end: int) -> bool:
    """Whether a name, a sign and a string stand there, so that the string in front of them was closed."""
    first = [token.kind for token in tokens[begin : min(begin + 3, end)]]
    return first in (["word", "sign", "string"], ["quoted", "sign", "string"]) and tokens[begin + 1].text == "="


def _redact_string(tokens: list[_Token], begin: int, place: int) -> str:
    """A string outside of an option list, hidden behind a name such as `password`, with or without a sign."""
    text = tokens[place].text
    before = [token.text.strip("'\"`") for token in tokens[max(begin, place - 3) : place]]
    while before and not re.search(r"\w", before[-1]):
        before.pop()
    return _mask(text) if before and is_secret(before[-1]) else hide_credentials(text)
