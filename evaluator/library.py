"""Functions that Python's library states in a line or a few: texts, patterns, dates, numbers, arrays and maps.

They get arguments that are not NULL, unless their table says something else.
"""

from __future__ import annotations

import calendar
import decimal
import math
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, timedelta

from penstock.diagnostics.codes.running import R020, R023, R028
from penstock.evaluator.typed_values import EPOCH, EXACT, QueryFailure, Unsupported, Value

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TOKENS = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
_FOREIGN = re.compile(r"\(\?|\\[^\\.dDwWsSbBtnr^$*+?()\[\]{}|/-]|[*+?}][+]|&&|\[[^\]]*\[|\$\{")
"""What patterns of Java and of Python do not have in common."""


def pattern_of(text: str) -> re.Pattern[str]:
    """The pattern. Raises Unsupported for what Java and Python do not have in common."""
    if _FOREIGN.search(text):
        raise Unsupported(f"the pattern {text!r}")
    return re.compile(text, re.ASCII)


def _extract(text: str, pattern: str, group: int = 1) -> str:
    found = pattern_of(pattern).search(text)
    if group > pattern_of(pattern).groups or group < 0:
        raise Unsupported(f"group {group} of the pattern {pattern!r}")
    return "" if found is None else found[group] or ""


def _replace(text: str, pattern: str, new: str) -> str:
    if "\\" in new or "$" in new:
        raise Unsupported(f"the replacement {new!r}")
    return pattern_of(pattern).sub(lambda _: new, text)


def _first_match(text: str, pattern: str) -> str | None:
    found = pattern_of(pattern).search(text)
    return None if found is None else found[0]


def _split(text: str, pattern: str) -> list[str]:
    if not pattern or pattern_of(pattern).groups or pattern_of(pattern).match(""):
        raise Unsupported(f"SPLIT by {pattern!r}")
    return pattern_of(pattern).split(text)


def _split_part(text: str, delimiter: str, place: int) -> str:
    if place == 0:
        raise QueryFailure("SPLIT_PART(…, 0)", R023)
    parts = text.split(delimiter) if delimiter else [text]
    index = place - 1 if place > 0 else len(parts) + place
    return parts[index] if 0 <= index < len(parts) else ""


def _before(text: str, delimiter: str, count: int) -> str:
    """SUBSTRING_INDEX."""
    if not delimiter or count == 0:
        return ""
    parts = text.split(delimiter)
    return delimiter.join(parts[:count] if count > 0 else parts[max(len(parts) + count, 0) :])


def _translate(text: str, old: str, new: str) -> str:
    table: dict[int, str | None] = {}
    for place, char in enumerate(old):
        table.setdefault(ord(char), new[place] if place < len(new) else None)
    return text.translate(table)


def _locate(part: str, text: str, place: int = 1) -> int:
    if not part:
        return int(place > 0)
    return text.find(part, place - 1) + 1 if place > 0 else 0


def _distance(one: str, other: str) -> int:
    """LEVENSHTEIN."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        before, row[0] = row[0], i
        for j, b in enumerate(other, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


def _formatted(time: Value, pattern: str) -> str:
    """DATE_FORMAT with years, months, days, hours, minutes and seconds alone."""
    text = ""
    for letters, other in re.findall(r"([A-Za-z]+)|([^A-Za-z]+)", pattern):
        if (letters and letters not in _TOKENS) or "'" in other or "[" in other:
            raise Unsupported(f"the format {pattern!r}")
        text += format(time.year, "04") if letters == "yyyy" else time.strftime(_TOKENS[letters]) if letters else other
    return text


def _day(time: Value) -> date:
    return time.date() if isinstance(time, datetime) else time


def _made_date(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError:
        raise QueryFailure(f"{year}-{month}-{day} is no date", R028) from None


def _add_months(time: Value, count: int) -> date:
    day = _day(time)
    months = day.year * 12 + day.month - 1 + count
    year, month = divmod(months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _last_day(time: Value) -> date:
    day = _day(time)
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])


def _remainder(left: Value, right: Value) -> Value:
    """MOD: the sign is the sign of the first number."""
    if right == 0:
        raise QueryFailure(f"MOD({left}, 0)", R020)
    if isinstance(left, float) or isinstance(right, float):
        return math.fmod(left, right)
    with decimal.localcontext(EXACT):
        rest = abs(left) % abs(right)
        return -rest if left < 0 else rest


def _logarithm(function: Callable[[float], float]) -> Callable[[Value], float | None]:
    return lambda value: function(float(value)) if value > 0 else None


def _element(values: Value, place: Value) -> Value:
    """ELEMENT_AT: an element of an array by its place from 1 or back from -1, or a value of a map by its key."""
    if isinstance(values, dict):
        return values.get(place)
    if place == 0 or abs(place) > len(values):
        raise QueryFailure(f"there are {len(values)} values, and the index is {place}", R023)
    return values[place - 1 if place > 0 else place]


def _contains(values: list[Value], value: Value) -> bool | None:
    return True if value in values else None if None in values else False


def choose_known(choose: Callable[..., Value]) -> Callable[[Iterable[Value]], Value]:
    """What `max` or `min` chooses of the values that are known, NULL if there are none."""
    return lambda values: choose((each for each in values if each is not None), default=None)


def _sorted(values: list[Value], rising: bool = True) -> list[Value]:
    known, unknown = [each for each in values if each is not None], [each for each in values if each is None]
    known.sort(reverse=not rising)
    return [*unknown, *known] if rising else [*known, *unknown]


def _unique(values: list[Value]) -> list[Value]:
    result: list[Value] = []
    for each in values:
        if each not in result:
            result.append(each)
    return result


LIBRARY: dict[str, Callable[..., Value]] = {
    "LCASE": str.lower,
    "UCASE": str.upper,
    "LEN": len,
    "CHARACTER_LENGTH": len,
    "OCTET_LENGTH": lambda text: len(text.encode()),
    "BIT_LENGTH": lambda text: 8 * len(text.encode()),
    "ASCII": lambda text: ord(text[0]) if text else 0,
    "CHR": lambda code: "" if code < 0 else chr(code % 256),
    "CHAR": lambda code: "" if code < 0 else chr(code % 256),
    "INITCAP": lambda text: " ".join(word[:1].upper() + word[1:].lower() for word in text.split(" ")),
    "FIND_IN_SET": lambda part, text: (
        0 if "," in part or part not in text.split(",") else text.split(",").index(part) + 1
    ),
    "LOCATE": _locate,
    "POSITION": _locate,
    "RIGHT": lambda text, count: text[-count:] if count > 0 else "",
    "SPACE": lambda count: " " * count,
    "SUBSTRING_INDEX": _before,
    "SPLIT_PART": _split_part,
    "SPLIT": _split,
    "TRANSLATE": _translate,
    "LEVENSHTEIN": _distance,
    "REGEXP_LIKE": lambda text, pattern: pattern_of(pattern).search(text) is not None,
    "REGEXP_REPLACE": _replace,
    "REGEXP_EXTRACT": _extract,
    "REGEXP_COUNT": lambda text, pattern: len(list(pattern_of(pattern).finditer(text))),
    "REGEXP_SUBSTR": _first_match,
    "DATE_FORMAT": _formatted,
    "FROM_UNIXTIME": lambda seconds, pattern="yyyy-MM-dd HH:mm:ss": _formatted(
        EPOCH + timedelta(seconds=seconds), pattern
    ),
    "DATE_ADD": lambda day, count: _day(day) + timedelta(days=count),
    "DATEADD": lambda day, count: _day(day) + timedelta(days=count),
    "DATE_SUB": lambda day, count: _day(day) - timedelta(days=count),
    "DATE_DIFF": lambda end, start: (_day(end) - _day(start)).days,
    "DAYOFYEAR": lambda time: time.timetuple().tm_yday,
    "DAYNAME": lambda time: DAYS[time.weekday()],
    "MONTHNAME": lambda time: MONTHS[time.month - 1],
    "QUARTER": lambda time: (time.month + 2) // 3,
    "WEEKDAY": lambda time: time.weekday(),
    "WEEKOFYEAR": lambda time: time.isocalendar().week,
    "LAST_DAY": _last_day,
    "ADD_MONTHS": _add_months,
    "MAKE_DATE": _made_date,
    "UNIX_DATE": lambda day: (day - EPOCH.date()).days,
    "DATE_FROM_UNIX_DATE": lambda count: EPOCH.date() + timedelta(days=count),
    "TIMESTAMP_SECONDS": lambda count: EPOCH + timedelta(microseconds=int(decimal.Decimal(str(count)) * 1_000_000)),
    "MOD": _remainder,
    "POW": lambda x, y: float(x) ** float(y),
    "CBRT": lambda x: math.cbrt(x),
    "EXP": lambda x: math.exp(x),
    "LN": _logarithm(math.log),
    "LOG2": _logarithm(math.log2),
    "LOG10": _logarithm(math.log10),
    "SIN": lambda x: math.sin(x),
    "COS": lambda x: math.cos(x),
    "TAN": lambda x: math.tan(x),
    "ATAN": lambda x: math.atan(x),
    "ATAN2": lambda y, x: math.atan2(y, x),
    "RADIANS": lambda x: math.radians(x),
    "DEGREES": lambda x: math.degrees(x),
    "HYPOT": lambda x, y: math.hypot(x, y),
    "PI": lambda: math.pi,
    "E": lambda: math.e,
    "SIGNUM": lambda x: float((x > 0) - (x < 0)),
    "RINT": lambda x: float(round(x)),
    "POSITIVE": lambda x: x,
    "SIZE": len,
    "CARDINALITY": len,
    "ARRAY_SIZE": len,
    "ARRAY_CONTAINS": _contains,
    "ARRAY_MAX": choose_known(max),
    "ARRAY_MIN": choose_known(min),
    "ARRAY_POSITION": lambda values, value: values.index(value) + 1 if value in values else 0,
    "ARRAY_REMOVE": lambda values, value: [each for each in values if each != value],
    "ARRAY_COMPACT": lambda values: [each for each in values if each is not None],
    "ARRAY_UNION": lambda one, other: _unique([*one, *other]),
    "ARRAY_INTERSECT": lambda one, other: _unique([each for each in one if each in other]),
    "ARRAY_EXCEPT": lambda one, other: _unique([each for each in one if each not in other]),
    "SORT_ARRAY": _sorted,
    "FLATTEN": lambda values: None if None in values else [each for inner in values for each in inner],
    "ELEMENT_AT": _element,
    "GET": lambda values, place: values[place] if 0 <= place < len(values) else None,
    "MAP_KEYS": lambda values: list(values),
    "MAP_VALUES": lambda values: list(values.values()),
    "MAP_CONTAINS_KEY": lambda values, key: key in values,
}


def _second_or_third(values: Iterator[Value]) -> Value:
    known, yes, no = values
    return no if known is None else yes


def _equal(values: Iterator[Value]) -> bool:
    one, other = values
    return bool(one == other)


def _appended(values: Iterator[Value]) -> Value:
    array, value = values
    return None if array is None else [*array, value]


def _prepended(values: Iterator[Value]) -> Value:
    array, value = values
    return None if array is None else [value, *array]


def _repeated(values: Iterator[Value]) -> Value:
    value, count = values
    return None if count is None else [value] * count


LIBRARY_NULL_AWARE: dict[str, Callable[[Iterator[Value]], Value]] = {
    "NVL2": _second_or_third,
    "EQUAL_NULL": _equal,
    "ZEROIFNULL": lambda values: next(values) or 0,
    "NULLIFZERO": lambda values: next(values) or None,
    "ARRAY_APPEND": _appended,
    "ARRAY_PREPEND": _prepended,
    "ARRAY_REPEAT": _repeated,
}
"""Functions of an iterator over the arguments, which decide what NULL means."""
