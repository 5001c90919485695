"""Diagnostics: what is wrong, where, and how to fix it. They are plain data, made where the problem is found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from penstock.diagnostics.secrets import hide_credentials, hide_secrets
from penstock.diagnostics.source import Span
from penstock.diagnostics.terminal import show_lines

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Label:
    """A place in the text, and a few words about its role in the problem."""

    span: Span
    text: str = ""


class Prose(str):
    """A hint in words, where hints of the same kind are SQL to paste."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Paste:
    """SQL of a hint, and the place in the text that it replaces. An empty place means that the SQL is inserted there.

    The pasted text no longer has this problem. It may have another one.
    """

    sql: str
    span: Span


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. The first label is the place that editors jump to.

    `labels` is empty only for findings that no text caused (a missing JDK, a full disk).
    `hint` is prose, or where `paste` is set SQL with at most a few words around it. `fix`, where set, is a whole
    statement that is accepted when pasted.
    """

    code: str
    message: str
    labels: tuple[Label, ...] = ()
    detail: str | None = None
    hint: str | None = None
    fix: str | None = None
    severity: Severity = "error"
    paste: Paste | None = None

    def __post_init__(self) -> None:
        """Hides values that may be secret, and shows characters that steer a terminal, whatever prints the finding.

        Hints stay as they are, because they may be pasted.
        """
        object.__setattr__(self, "message", show_lines(hide_credentials(self.message)))
        if self.detail:
            object.__setattr__(self, "detail", show_lines(hide_credentials(self.detail)))
        if self.hint:
            object.__setattr__(self, "hint", hide_credentials(self.hint, quoted=True))
        if self.fix:
            object.__setattr__(self, "fix", hide_secrets(self.fix))

    def also(self, span: Span, text: str = "") -> Diagnostic:
        """The same finding with one more place."""
        return replace(self, labels=(*self.labels, Label(span, text)))

    def because(self, detail: str) -> Diagnostic:
        """The same finding with a sentence of explanation."""
        return replace(self, detail=detail)

    def with_hint(self, hint: str | None, *, fix: str | None = None) -> Diagnostic:
        """The same finding with a hint in prose, and a fix if there is one."""
        return replace(self, hint=hint, fix=fix, paste=None)

    def with_sql(
        self,
        sql: str | None,
        at: Span | None = None,
        *,
        before: str = "",
        after: str = "",
        otherwise: str | None = None,
    ) -> Diagnostic:
        """The same finding with a hint that is SQL.

        Args:
            sql: what to paste. Without it the hint is `otherwise`.
            at: what it replaces; by default what the first label marks.
            before: words in front of it, which are not pasted.
            after: words behind it, which are not pasted.
            otherwise: prose.
        """
        if sql is None or isinstance(sql, Prose):
            return self.with_hint(sql or otherwise)
        span = at or (self.labels[0].span if self.labels else None)
        return replace(self, hint=f"{before}{sql}{after}".strip(), paste=None if span is None else Paste(sql, span))

    def with_guess(self, guess: str | None, at: Span | None = None, *, otherwise: str | None = None) -> Diagnostic:
        """The same finding with the word that was probably meant, in the place `at` or of the first label."""
        return self.with_sql(guess, at, before="did you mean ", after="?", otherwise=otherwise)


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of finding: its identifier and its message, a format string."""

    id: str
    message: str
    severity: Severity = "error"

    def at(self, span: Span | None, text: str = "", /, **parameters: object) -> Diagnostic:
        """A finding of this kind at `span` (None: no text caused it)."""
        labels = () if span is None else (Label(span, text),)
        return Diagnostic(self.id, self.message.format(**parameters), labels, severity=self.severity)


class FindingsError(Exception):
    """An exception with findings. `diagnostics` holds at least one error. Its text shows places, carets and hints."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__("; ".join(f"{d.code}: {d.message}" for d in self.diagnostics))

    def __str__(self) -> str:
        """The findings as the command line shows them, the code of each first."""
        from penstock.diagnostics.render import render_all

        return render_all(self.diagnostics)


class CompileError(FindingsError):
    """The text cannot be compiled. `diagnostics` holds at least one error."""


class PackageNeededError(FindingsError, ModuleNotFoundError):
    """A call needs a package of Python that is not installed. The hint says how to install it."""
