"""Aggregates of pairs of numbers, and of the shape of a distribution, computed exactly up to the last step."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from penstock.evaluator.typed_values import Unsupported

Pair = tuple[float, float]
"""The first and the second argument. Neither is NULL."""


class Moments:
    """Sums over pairs: y is the first argument and x the second one."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        if not all(math.isfinite(each) for pair in pairs for each in pair):
            raise Unsupported("an aggregate of two arguments of which one is NaN or Infinity")
        ys, xs = [Fraction(y) for y, _ in pairs], [Fraction(x) for _, x in pairs]
        self.count = len(pairs)
        self.mean_y, self.mean_x = (sum(each, Fraction(0)) / self.count for each in (ys, xs))
        self.syy = sum(((y - self.mean_y) ** 2 for y in ys), Fraction(0))
        self.sxx = sum(((x - self.mean_x) ** 2 for x in xs), Fraction(0))
        self.sxy = sum(((x - self.mean_x) * (y - self.mean_y) for x, y in zip(xs, ys, strict=True)), Fraction(0))


def _of(compute: Callable[[Moments], Fraction | float | None]) -> Callable[[Sequence[Pair]], float | None]:
    """NULL over no pairs."""

    def value(pairs: Sequence[Pair]) -> float | None:
        found = compute(Moments(pairs)) if pairs else None
        return None if found is None else float(found)

    return value


def _correlation(moments: Moments) -> float | None:
    if moments.count == 1:
        return None
    if not moments.sxx or not moments.syy:
        raise Unsupported("CORR of numbers that are all the same")
    return float(moments.sxy) / math.sqrt(moments.sxx * moments.syy)


def _determination(moments: Moments) -> Fraction | None:
    """REGR_R2."""
    if not moments.sxx:
        return None
    return moments.sxy**2 / (moments.sxx * moments.syy) if moments.syy else Fraction(1)


PAIRED: dict[str, Callable[[Sequence[Pair]], float | int | None]] = {
    "CORR": _of(_correlation),
    "COVAR_POP": _of(lambda moments: moments.sxy / moments.count),
    "COVAR_SAMP": _of(lambda moments: moments.sxy / (moments.count - 1) if moments.count > 1 else None),
    "REGR_COUNT": len,
    "REGR_AVGX": _of(lambda moments: moments.mean_x),
    "REGR_AVGY": _of(lambda moments: moments.mean_y),
    "REGR_SXX": _of(lambda moments: moments.sxx),
    "REGR_SXY": _of(lambda moments: moments.sxy),
    "REGR_SYY": _of(lambda moments: moments.syy),
    "REGR_SLOPE": _of(lambda moments: moments.sxy / moments.sxx if moments.sxx else None),
    "REGR_INTERCEPT": _of(
        lambda moments: moments.mean_y - moments.sxy / moments.sxx * moments.mean_x if moments.sxx else None
    ),
    "REGR_R2": _of(_determination),
}
"""Aggregates of two arguments."""


def _shape(power: int, values: Sequence[float]) -> Fraction | None:
    """The mean of a power of the distances from the mean, and the variance; None if all values are the same."""
    exact = [Fraction(value) for value in values]
    mean = sum(exact, Fraction(0)) / len(exact)
    if not any(each != mean for each in exact):
        return None
    total = sum(((each - mean) ** power for each in exact), Fraction(0))
    return total / len(exact)


def skewness(values: Sequence[float]) -> float | None:
    """How lopsided the distribution is, NULL if all values are the same."""
    third, second = _shape(3, values), _shape(2, values)
    return None if third is None or second is None else float(third) / float(second) ** 1.5


def kurtosis(values: Sequence[float]) -> float | None:
    """How heavy the tails are, NULL if all values are the same."""
    fourth, second = _shape(4, values), _shape(2, values)
    return None if fourth is None or second is None else float(fourth / second**2 - 3)
