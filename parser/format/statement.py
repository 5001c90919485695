"""The tokens of a statement -> pieces with breaks, by the rules of the grammar that the parser finds in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.grammar import END, Dialect, Token
from penstock.parser.format import rules
from penstock.parser.format.comments import Remarks
from penstock.parser.format.layout import LINE, SOFT, Break, Group, Indented, Piece, Pieces

_OPENING, _CLOSING = "(", ")"


@dataclass(frozen=True, slots=True)
class RulePart:
    """A part of a rule: a token, or a rule inside it, from its `first` to its `last` token. A token has no rule."""

    first: int
    last: int
    rule: str | None
    pieces: Pieces


def lay_out_statement(text: str, tokens: Sequence[Token], remarks: Sequence[Remarks], language: Dialect) -> Pieces:
    """The pieces of the statement, without the comments before its first token and behind its last one.

    The statement parses; its rules are met from the inside out, so that no depth of nesting can exhaust the stack.
    """
    layout = _Layout(tokens, remarks)
    end = tokens[-1].end
    terminals: list[str] = []
    found: list[tuple[str, int, int]] = []
    language.parser.parse(
        [*tokens, Token(END, "", end, end)], lambda rule, parts, start, end: found.append((rule, start, end)), terminals
    )
    layout.write_tokens(text, terminals)
    for rule, start, end in found:
        layout.close_rule(rule, start, end)
    return layout.finish()


class _Layout:
    """The parts of rules that are not closed yet."""

    def __init__(self, tokens: Sequence[Token], remarks: Sequence[Remarks]) -> None:
        self._tokens = tokens
        self._remarks = remarks
        self._texts: list[str] = []
        self._starts = {token.start: index for index, token in enumerate(tokens)}
        self._ends = {token.end: index for index, token in enumerate(tokens)}
        self._parts: list[RulePart] = []

    def write_tokens(self, text: str, terminals: Sequence[str]) -> None:
        """Keywords in capitals, everything else as written."""
        for token, terminal in zip(self._tokens, terminals, strict=False):
            self._texts.append(token.word if terminal == token.word else text[token.start : token.end])

    def close_rule(self, rule: str, start: int, end: int) -> None:
        """The rule at these characters has all its parts."""
        first, last = self._starts[start], self._ends[end]
        inner: list[RulePart] = []
        while self._parts and self._parts[-1].first >= first:
            inner.append(self._parts.pop())
        inner.reverse()
        self._parts.append(RulePart(first, last, rule, self._lay_out(rule, self._with_tokens(first, last, inner))))

    def finish(self) -> Pieces:
        return self._lay_out("", self._with_tokens(0, len(self._tokens) - 1, self._parts))

    def _with_tokens(self, first: int, last: int, inner: Sequence[RulePart]) -> list[RulePart]:
        """The rules inside, and the tokens between them."""
        parts: list[RulePart] = []
        for part in [*inner, None]:
            for index in range(first, last + 1 if part is None else part.first):
                parts.append(RulePart(index, index, None, (self._texts[index],)))
            if part is not None:
                parts.append(part)
                first = part.last + 1
        return parts

    def _lay_out(self, rule: str, parts: Sequence[RulePart]) -> Pieces:
        pieces: Pieces
        if rule in rules.LISTS:
            head = next(i for i, part in enumerate(parts) if part.rule is not None)
            between = self._between(rule, parts, head, LINE) if head else (LINE,)
            below = Group((Indented((*between, *self._join(rule, parts, head, len(parts)))),))
            return (*self._join(rule, parts, 0, head), below)
        if rule in rules.HANGING and len(parts) > 1:
            end = len(parts) - (rule == "case")
            hanging = Indented((*self._between(rule, parts, 1), *self._join(rule, parts, 1, end)))
            pieces = (*parts[0].pieces, hanging)
            if end < len(parts):
                pieces = (*pieces, *self._between(rule, parts, end), *parts[end].pieces)
        else:
            pieces = self._join(rule, parts, 0, len(parts))
        is_list = rule not in rules.SPREAD and any(self._is_token(part, ",") for part in parts)
        return (Group(pieces),) if rule in rules.GROUPED or is_list else pieces

    def _join(self, rule: str, parts: Sequence[RulePart], first: int, end: int) -> Pieces:
        """The parts from `first` on, one after another. What stands in brackets is a group."""
        open_pieces: list[list[Piece]] = [[]]
        for index in range(first, end):
            between = self._between(rule, parts, index) if index > first else ()
            if self._is_token(parts[index], _CLOSING):
                inner = open_pieces.pop()
                inner += [each for each in between if each is not SOFT]
                behind = (SOFT,) if SOFT in between else ()
                open_pieces[-1].append(Group((_OPENING, Indented(tuple(inner)), *behind, _CLOSING)))
                continue
            open_pieces[-1] += between
            if self._is_token(parts[index], _OPENING):
                open_pieces.append([])
            else:
                open_pieces[-1] += parts[index].pieces
        return tuple(open_pieces[0])

    def _is_token(self, part: RulePart, text: str) -> bool:
        return part.rule is None and self._texts[part.first] == text

    def _between(self, rule: str, parts: Sequence[RulePart], index: int, separator: Break | None = None) -> Pieces:
        """What stands before a part of a rule: a break or a space, and the comments around it."""
        space: Pieces = tuple(each for each in (separator or self._separate(rule, parts, index),) if each)
        return (*self._remarks[parts[index - 1].last].tail, *space, *self._remarks[parts[index].first].head)

    def _separate(self, rule: str, parts: Sequence[RulePart], index: int) -> str | Break:
        left, right = parts[index - 1], parts[index]
        if self._is_token(left, _OPENING) or self._is_token(right, _CLOSING):
            return "" if self._is_token(left, _OPENING) and self._is_token(right, _CLOSING) else SOFT
        if right.rule == "items":
            return ""
        if self._is_token(left, ","):
            return LINE
        if rule in rules.STACKED or right.rule in rules.OWN_LINE:
            return LINE
        if right.rule is None and self._texts[right.first] in rules.LINE_BEFORE.get(rule, ()):
            return LINE
        return "" if self._touches(rule, parts, index) else " "

    def _touches(self, rule: str, parts: Sequence[RulePart], index: int) -> bool:
        """Whether no space stands before a part of a rule."""
        left, right = parts[index - 1], parts[index]
        before, after = self._texts[left.last], self._texts[right.first]
        if rule in rules.TIGHT or after in rules.NO_SPACE_BEFORE or before in rules.NO_SPACE_AFTER:
            return True
        if rule == rules.ACCESS:
            return right.rule != "at_time_zone"
        if rule == rules.LAMBDA:
            return self._is_field(parts)
        if rule == rules.ANGLED:
            return before == "<" or after in ("<", ">")
        if left.rule is not None or not self._is_token(right, _OPENING):
            return False
        return before in rules.CALLED or (index == 1 and before not in rules.SPACED)

    def _is_field(self, parts: Sequence[RulePart]) -> bool:
        """Whether `name -> …` is meant as a field of a struct, as in ksqlDB: what follows does not use the name."""
        name, arrow, body = parts
        used = {text.casefold() for text in self._texts[body.first : body.last + 1]}
        return self._is_token(arrow, "->") and name.rule is None and self._texts[name.first].casefold() not in used
