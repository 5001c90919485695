"""The language of docstrings, comments and documents: sentences that a reader takes in at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.house.files import ROOT, list_files
from tests.house.prose import Sentence, read_markdown, read_python
from tests.house.test_imports import BELOW

MOST_WORDS = 28
ROOMS = tuple(BELOW)
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "docs", *(f"{room}/NOTES.md" for room in ROOMS))
_QUANTITIES = ("one", "two", "three", "four", "each", "both", "some", "any", "none", "most", "many", "all", "half")
_NO_QUANTITY = "".join(rf"(?<!\b{word} )" for word in _QUANTITIES)
_PREPOSITIONS = "of|in|inside|within|with|without|behind|before|after|below|above|beside|on|at|from|for|to|by|over"
PATTERNS = {
    "begins with Of": re.compile(r"^\W*of\b", re.IGNORECASE),
    "a part begins with of": re.compile(r"[;:—] of\b|\b(?:[Ww]hether|[Ii]f|when|where|while) of\b"),
    "of which": re.compile(rf"{_NO_QUANTITY}\bof (?:which|whom|whose)\b", re.IGNORECASE),
    "be it": re.compile(r"\bbe (?:it|they)\b", re.IGNORECASE),
    "those that": re.compile(rf"\bthose (?:that|which|who|whose|to which|by which|{_PREPOSITIONS})\b", re.IGNORECASE),
    "that of": re.compile(r"\bthat of\b", re.IGNORECASE),
    "belongs into": re.compile(r"\bbelong(?:s|ed)? into\b", re.IGNORECASE),
    "has not": re.compile(r"\b(?:has|have) not (?:the|a|an|any|its|their)\b", re.IGNORECASE),
    "Refused is": re.compile(r"^\W*refused is\b", re.IGNORECASE),
}


def find_faults(sentences: Iterable[Sentence]) -> Iterator[str]:
    """What is wrong with each sentence, with its line."""
    for sentence in sentences:
        faults = [name for name, pattern in PATTERNS.items() if pattern.search(sentence.text)]
        words = sentence.count_words()
        if words > MOST_WORDS:
            faults.append(f"{words} words")
        if faults:
            yield f"{sentence.line}: {', '.join(faults)}: {sentence.text}"


def list_faults(paths: Iterable[Path]) -> list[str]:
    """The faults of files, with the names of these."""
    faults = []
    for path in paths:
        read = read_markdown if path.suffix == ".md" else read_python
        found = find_faults(read(path.read_text(encoding="utf-8")))
        faults += [f"{path.relative_to(ROOT).as_posix()}:{each}" for each in found]
    return faults


@pytest.mark.parametrize("room", ROOMS)
def test_docstrings_and_comments_are_plain(room: str) -> None:
    faults = list_faults(list_files(ROOT / room, ".py"))
    assert faults == [], "\n" + "\n".join(faults)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documents_are_plain(document: str) -> None:
    path = ROOT / document
    faults = list_faults([path] if path.is_file() else list_files(path, ".md"))
    assert faults == [], "\n" + "\n".join(faults)


@pytest.mark.parametrize(
    ("sentence", "fault"),
    [
        ("Of each key, the newest row counts.", "begins with Of"),
        ("(Of each key, the newest row counts.)", "begins with Of"),
        ("The folder: of this machine the real one.", "a part begins with of"),
        ("Whether of two rows the newer one is kept.", "a part begins with of"),
        ("The rows of which none is kept.", "of which"),
        ("A stream, of which the time is known.", "of which"),
        ("Keeps the name, be it quoted or not.", "be it"),
        ("The rows, without those that are late.", "those that"),
        ("Its columns, and those of its key.", "those that"),
        ("The rows, and those behind them.", "those that"),
        ("The type is that of the value.", "that of"),
        ("A filter belongs into a view.", "belongs into"),
        ("If the new table has not their columns, it is refused.", "has not"),
        ("Refused is all but views.", "Refused is"),
        ("A table has a row for each key, " + "and it has one more, " * 4 + "and so on.", "31 words"),
    ],
)
def test_a_bad_sentence_is_found(sentence: str, fault: str) -> None:
    module = f'"""A module.\n\nIt is read first. {sentence}\n"""\n\nVALUE = 1\n"""{sentence}"""\n# {sentence}\n'
    expected = [f"{line}: {fault}: {sentence}" for line in (3, 7, 8)]
    assert [*find_faults(read_python(module))] == expected
    page = f"# A page\n\nIt is read first. {sentence}\n\n- {sentence}\n"
    assert [*find_faults(read_markdown(page))] == [f"{line}: {fault}: {sentence}" for line in (3, 5)]


@pytest.mark.parametrize(
    "text",
    [
        "The rows, most of which are late.",
        "Files of a folder, e.g. of a table. The rest, i.e. of others, stays.",
        "The statement " + "`SELECT a, b, c, d FROM t WHERE a > 1 AND b > 2` " * 20 + "is one word each time.",
        "What means something else because of its type.",
    ],
)
def test_a_good_sentence_passes(text: str) -> None:
    assert [*find_faults(read_python(f'"""{text}"""'))] == []
    assert [*find_faults(read_markdown(text))] == []


def test_code_and_tables_are_no_prose() -> None:
    bad = "Of which those that are that of be it"
    assert [*read_markdown(f"# {bad}\n```sql\n{bad}\n```\n| {bad} |\n<!-- main -->\n{bad}\n<!-- end -->\n")] == []
    code = f'"""Examples.\n\n    {bad}\n\n\b\n{bad}\n"""\nx = "{bad}"  # noqa: {bad}\n'
    assert [each.text for each in read_python(code)] == ["Examples."]


def test_a_sentence_has_the_line_of_its_first_word() -> None:
    code = '"""One.\n\nTwo is long\nand ends. Three\nfollows.\n\n- Four\n  goes on.\n"""\n# Five\n# ends. Six.\n'
    assert [*read_python(code)] == [
        (1, "One."),
        (3, "Two is long and ends."),
        (4, "Three follows."),
        (7, "Four goes on."),
        (10, "Five ends."),
        (11, "Six."),
    ]
