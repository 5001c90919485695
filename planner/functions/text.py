"""Functions of texts. Positions count characters from 1."""

from __future__ import annotations

import re
from decimal import Decimal

from sqlglot import exp

from penstock.planner.functions.facts import Failing, NullForm, RowFault, Size
from penstock.planner.functions.function import Function
from penstock.planner.types import Decimal as DecimalType
from penstock.planner.types import Type

_FORMAT = re.compile(
    r"(?:MI|S)?[$L]?(?P<whole>[09][09,G]*)?(?:[.D](?P<fraction>[09]+))?[$L]?(?:PR|MI|S)?", re.IGNORECASE
)


def _number_of_format(arguments: tuple[exp.Expression, ...], types: tuple[Type, ...]) -> Type | None:
    """A DECIMAL of the digits of the format, which is a literal."""
    literal = arguments[1]
    found = _FORMAT.fullmatch(literal.name) if isinstance(literal, exp.Literal) and literal.is_string else None
    if found is None:
        return None
    whole, fraction = (len(re.sub("[^09]", "", found[part] or "")) for part in ("whole", "fraction"))
    return DecimalType(whole + fraction, fraction) if 0 < whole + fraction <= 38 else None


_SS_DECIMAL = ("(STRING, STRING) -> DECIMAL(38, 0)",)
_S = ("(STRING) -> STRING",)
_TEST = ("(STRING, STRING) -> BOOLEAN",)
_LENGTH = ("(STRING) -> INT", "(BINARY) -> INT")
_PART = ("(STRING, INT) -> STRING", "(STRING, INT, INT) -> STRING")
_TRIM = ("(STRING) -> STRING", "(STRING, STRING) -> STRING")

TEXT = (
    Function("ASCII", ("(STRING) -> INT",), "the code of the first character", ("ASCII('A')", 65)),
    Function("BIT_LENGTH", _LENGTH, "how many bits it takes in UTF-8", ("BIT_LENGTH('ab')", 16)),
    Function("BTRIM", _TRIM, "without spaces (or the given characters) at both ends", ("BTRIM('xxaxx', 'x')", "a")),
    Function("CHAR", ("(BIGINT) -> STRING",), "the character of a code modulo 256", ("CHAR(65)", "A")),
    Function("CHARACTER_LENGTH", _LENGTH, "the same as LENGTH", ("CHARACTER_LENGTH('abc')", 3)),
    Function("CHAR_LENGTH", _LENGTH, "the same as LENGTH", ("CHAR_LENGTH('abc')", 3)),
    Function("CHR", ("(BIGINT) -> STRING",), "the same as CHAR", ("CHR(97)", "a")),
    Function(
        "CONCAT",
        ("(STRING...) -> STRING", "(BINARY...) -> BINARY", "(ARRAY<T>...) -> ARRAY<T>"),
        "one after the other; NULL if one is",
        ("CONCAT('a', 'b', 'c')", "abc"),
        raises=(RowFault.LONG_ARRAY,),
    ),
    Function(
        "CONCAT_WS",
        ("(STRING, STRING...) -> STRING", "(STRING, ARRAY<STRING>) -> STRING"),
        "joined by the first argument, NULLs left out",
        ("CONCAT_WS('-', 'a', NULL, 'b')", "a-b"),
    ),
    Function("CONTAINS", _TEST, "whether the second is part of the first", ("CONTAINS('penstock', 'stock')", True)),
    Function(
        "ELT",
        ("(INT, STRING...) -> STRING",),
        "the n-th of the texts",
        ("ELT(2, 'a', 'b')", "b"),
        failing=Failing(),
        raises=(RowFault.INDEX,),
    ),
    Function("ENDSWITH", _TEST, "whether the first ends with the second", ("ENDSWITH('penstock', 'ock')", True)),
    Function(
        "FIND_IN_SET",
        ("(STRING, STRING) -> INT",),
        "the place of a text in a list with commas, 0 if absent",
        ("FIND_IN_SET('b', 'a,b')", 2),
    ),
    Function("INITCAP", _S, "each word with a capital letter", ("INITCAP('one two')", "One Two")),
    Function(
        "INSTR",
        ("(STRING, STRING) -> INT",),
        "the position of the second in the first, 0 if absent",
        ("INSTR('abc', 'c')", 3),
    ),
    Function("LCASE", _S, "the same as LOWER", ("LCASE('AB')", "ab")),
    Function("LEFT", ("(STRING, INT) -> STRING",), "the first n characters", ("LEFT('abc', 2)", "ab")),
    Function("LEN", _LENGTH, "the same as LENGTH", ("LEN('abc')", 3)),
    Function("LENGTH", _LENGTH, "how many characters (bytes of a BINARY) it has", ("LENGTH('abc')", 3)),
    Function("IS_VALID_UTF8", ("(STRING) -> BOOLEAN",), "whether its bytes are UTF-8", ("IS_VALID_UTF8('a')", True)),
    Function(
        "JARO_WINKLER_SIMILARITY",
        ("(STRING, STRING) -> DOUBLE",),
        "how similar two texts are, 0 to 1",
        ("JARO_WINKLER_SIMILARITY('abc', 'xyz')", 0.0),
        since=(4, 3),
    ),
    Function("MAKE_VALID_UTF8", _S, "with a replacement for bytes that are no UTF-8", ("MAKE_VALID_UTF8('a')", "a")),
    Function("QUOTE", _S, "in single quotes, with a backslash before each inside", ("QUOTE('a')", "'a'")),
    Function(
        "SENTENCES",
        ("(STRING) -> ARRAY<ARRAY<STRING>>",),
        "the words of each sentence",
        ("SENTENCES('Hi there! Good day.')", [["Hi", "there"], ["Good", "day"]]),
    ),
    Function("TRY_VALIDATE_UTF8", _S, "NULL if its bytes are no UTF-8", ("TRY_VALIDATE_UTF8('a')", "a")),
    Function(
        "VALIDATE_UTF8",
        _S,
        "the text, if its bytes are UTF-8; else the query fails",
        ("VALIDATE_UTF8('a')", "a"),
        failing=Failing(null_form=NullForm("TRY_VALIDATE_UTF8", "R025")),
        raises=(RowFault.ENCODED_TEXT,),
    ),
    Function(
        "LEVENSHTEIN",
        ("(STRING, STRING) -> INT",),
        "how many edits lead from one to the other",
        ("LEVENSHTEIN('kitten', 'sitting')", 3),
    ),
    Function(
        "LOCATE",
        ("(STRING, STRING) -> INT", "(STRING, STRING, INT) -> INT"),
        "the position of the first in the second, 0 if absent",
        ("LOCATE('b', 'abcb', 3)", 4),
    ),
    Function("LOWER", _S, "in small letters", ("LOWER('AB')", "ab")),
    Function(
        "LPAD",
        ("(STRING, INT) -> STRING", "(STRING, INT, STRING) -> STRING"),
        "filled or cut at the left to n characters",
        ("LPAD('7', 3, '0')", "007"),
        failing=Failing(literals=(1,)),
        size=Size("characters", count=1),
        raises=(RowFault.LONG_TEXT,),
    ),
    Function("LTRIM", _TRIM, "without spaces at the left (or the characters given first)", ("LTRIM('  a')", "a")),
    Function(
        "LUHN_CHECK",
        ("(STRING) -> BOOLEAN",),
        "whether its last digit is right (cards)",
        ("LUHN_CHECK('8112189876')", True),
    ),
    Function(
        "MASK",
        tuple(f"(STRING{', LETTER' * count}) -> STRING" for count in range(5)),
        "letters as X and x, digits as n",
        ("MASK('Ab-12')", "Xx-nn"),
        failing=Failing(),
    ),
    Function("OCTET_LENGTH", _LENGTH, "how many bytes it takes in UTF-8", ("OCTET_LENGTH('ab')", 2)),
    Function(
        "OVERLAY",
        ("(STRING, STRING, INT) -> STRING", "(STRING, STRING, INT, INT) -> STRING"),
        "a part replaced, from a position on",
        ("OVERLAY('abcd', 'X', 2)", "aXcd"),
    ),
    Function(
        "POSITION",
        ("(STRING, STRING) -> INT", "(STRING, STRING, INT) -> INT"),
        "the same as LOCATE",
        ("POSITION('b', 'abc')", 2),
    ),
    Function(
        "PRINTF",
        ("(PRINT_FORMAT, ANY...) -> STRING",),
        "the values in a format as in C",
        ("PRINTF('%d-%s', 1, 'a')", "1-a"),
        failing=Failing(),
        raises=(RowFault.PRINT_FORMAT,),
    ),
    Function(
        "FORMAT_STRING",
        ("(PRINT_FORMAT, ANY...) -> STRING",),
        "the same as PRINTF",
        ("FORMAT_STRING('%03d', 7)", "007"),
        failing=Failing(),
        raises=(RowFault.PRINT_FORMAT,),
    ),
    Function(
        "FORMAT_NUMBER",
        ("(N, INT) -> STRING",),
        "with thousands separated, n digits behind the point",
        ("FORMAT_NUMBER(12332.1234, 2)", "12,332.12"),
        failing=Failing(),
        raises=(RowFault.LONG_TEXT,),
    ),
    Function(
        "REGEXP_COUNT",
        ("(STRING, REGEX) -> INT",),
        "how often the pattern occurs",
        ("REGEXP_COUNT('a1b22', '[0-9]+')", 2),
        failing=Failing(literals=(1,)),
        raises=(RowFault.PATTERN,),
        spark_name="REGEXP_EXTRACT_ALL",
    ),
    Function(
        "REGEXP_EXTRACT",
        ("(STRING, GROUPED_REGEX) -> STRING", "(STRING, REGEX, GROUP) -> STRING"),
        "the first (or n-th) group of the first match, '' if none",
        ("REGEXP_EXTRACT('100-200', '([0-9]+)-([0-9]+)', 2)", "200"),
        failing=Failing(literals=(1, 2)),
        raises=(RowFault.PATTERN, RowFault.ARGUMENT),
    ),
    Function(
        "REGEXP_EXTRACT_ALL",
        ("(STRING, GROUPED_REGEX) -> ARRAY<STRING>", "(STRING, REGEX, GROUP) -> ARRAY<STRING>"),
        "the group of every match",
        ("REGEXP_EXTRACT_ALL('a1b22', '([0-9]+)', 1)", ["1", "22"]),
        failing=Failing(literals=(1, 2)),
        raises=(RowFault.PATTERN, RowFault.ARGUMENT),
    ),
    Function(
        "REGEXP_INSTR",
        ("(STRING, REGEX) -> INT",),
        "the position of the first match, 0 if none",
        ("REGEXP_INSTR('ab12', '[0-9]')", 3),
        failing=Failing(literals=(1,)),
        raises=(RowFault.PATTERN,),
    ),
    Function(
        "REGEXP_LIKE",
        ("(STRING, REGEX) -> BOOLEAN",),
        "whether the pattern occurs",
        ("REGEXP_LIKE('abc', '^a.c$')", True),
        failing=Failing(literals=(1,)),
        raises=(RowFault.PATTERN,),
    ),
    Function(
        "REGEXP_REPLACE",
        ("(STRING, REGEX, REPLACEMENT) -> STRING",),
        "every match replaced; $1 is the first group",
        ("REGEXP_REPLACE('a1b2', '[0-9]', '#')", "a#b#"),
        failing=Failing(literals=(1, 2)),
        raises=(RowFault.PATTERN,),
    ),
    Function(
        "REGEXP_SUBSTR",
        ("(STRING, REGEX) -> STRING",),
        "the first match, NULL if none",
        ("REGEXP_SUBSTR('ab12', '[0-9]+')", "12"),
        failing=Failing(literals=(1,)),
        raises=(RowFault.PATTERN,),
        spark_name="REGEXP_EXTRACT",
    ),
    Function(
        "REPEAT",
        ("(STRING, INT) -> STRING",),
        "n times",
        ("REPEAT('ab', 2)", "abab"),
        failing=Failing(literals=(1,)),
        size=Size("characters", count=1, of=0),
        raises=(RowFault.LONG_TEXT,),
    ),
    Function(
        "REPLACE",
        ("(STRING, STRING) -> STRING", "(STRING, STRING, STRING) -> STRING"),
        "every occurrence replaced (or removed)",
        ("REPLACE('abab', 'b', 'c')", "acac"),
    ),
    Function("REVERSE", ("(STRING) -> STRING", "(ARRAY<T>) -> ARRAY<T>"), "backwards", ("REVERSE('abc')", "cba")),
    Function("RIGHT", ("(STRING, INT) -> STRING",), "the last n characters", ("RIGHT('abc', 2)", "bc")),
    Function(
        "RPAD",
        ("(STRING, INT) -> STRING", "(STRING, INT, STRING) -> STRING"),
        "filled or cut at the right to n characters",
        ("RPAD('a', 3, '.')", "a.."),
        failing=Failing(literals=(1,)),
        size=Size("characters", count=1),
        raises=(RowFault.LONG_TEXT,),
    ),
    Function("RTRIM", _TRIM, "without spaces at the right (or the characters given first)", ("RTRIM('a  ')", "a")),
    Function("SOUNDEX", _S, "a code of how it sounds in English", ("SOUNDEX('Miller')", "M460")),
    Function(
        "SPACE",
        ("(INT) -> STRING",),
        "n spaces",
        ("SPACE(2)", "  "),
        failing=Failing(literals=(0,)),
        size=Size("characters", count=0),
        raises=(RowFault.LONG_TEXT,),
    ),
    Function(
        "SPLIT",
        ("(STRING, REGEX) -> ARRAY<STRING>", "(STRING, REGEX, INT) -> ARRAY<STRING>"),
        "the parts between matches of a pattern",
        ("SPLIT('a,b', ',')", ["a", "b"]),
        failing=Failing(literals=(1,)),
        raises=(RowFault.PATTERN,),
    ),
    Function(
        "SPLIT_PART",
        ("(STRING, STRING, POSITION) -> STRING",),
        "the n-th part between separators",
        ("SPLIT_PART('a.b.c', '.', 2)", "b"),
        failing=Failing(literals=(2,)),
        raises=(RowFault.ZERO_INDEX,),
    ),
    Function("STARTSWITH", _TEST, "whether the first begins with the second", ("STARTSWITH('penstock', 'pen')", True)),
    Function("SUBSTR", _PART, "the same as SUBSTRING", ("SUBSTR('abcd', 2)", "bcd")),
    Function(
        "SUBSTRING",
        _PART,
        "from a position on, n characters; negative: from the end",
        ("SUBSTRING('abcd', 2, 2)", "bc"),
    ),
    Function(
        "SUBSTRING_INDEX",
        ("(STRING, STRING, INT) -> STRING",),
        "what stands before the n-th separator",
        ("SUBSTRING_INDEX('a.b.c', '.', 2)", "a.b"),
    ),
    Function(
        "TO_CHAR",
        ("(N, NUMBER_FORMAT) -> STRING",),
        "a number in a format",
        ("TO_CHAR(454, '999')", "454"),
        failing=Failing(),
        raises=(RowFault.NUMBER_FORMAT,),
    ),
    Function(
        "TO_VARCHAR",
        ("(N, NUMBER_FORMAT) -> STRING",),
        "the same as TO_CHAR",
        ("TO_VARCHAR(454, '999')", "454"),
        failing=Failing(),
        raises=(RowFault.NUMBER_FORMAT,),
    ),
    Function(
        "TO_NUMBER",
        _SS_DECIMAL,
        "a text as number, by a literal format such as '99,999.99'",
        ("TO_NUMBER('1,234.50', '9,999.99')", Decimal("1234.50")),
        result=_number_of_format,
        failing=Failing(null_form=NullForm("TRY_TO_NUMBER", "R025")),
        raises=(RowFault.NUMBER_TEXT, RowFault.NUMBER_FORMAT),
    ),
    Function(
        "TRANSLATE",
        ("(STRING, STRING, STRING) -> STRING",),
        "each character of the second replaced by the character of the third",
        ("TRANSLATE('abc', 'ac', 'xy')", "xby"),
    ),
    Function("TRIM", ("(STRING) -> STRING",), "without spaces at both ends", ("TRIM('  a ')", "a")),
    Function(
        "TRY_TO_NUMBER",
        _SS_DECIMAL,
        "as TO_NUMBER, but NULL for a text that does not fit",
        ("TRY_TO_NUMBER('12a', '999')", None),
        result=_number_of_format,
        raises=(RowFault.NUMBER_FORMAT,),
    ),
    Function("UCASE", _S, "the same as UPPER", ("UCASE('ab')", "AB")),
    Function("UPPER", _S, "in capital letters", ("UPPER('ab')", "AB")),
)
