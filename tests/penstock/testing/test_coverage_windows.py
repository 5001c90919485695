"""Classes of sessions and frames: the same as pair by pair, and quick for large inputs."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from random import Random

from penstock.testing.coverage_windows import EPOCH, has_distance, has_lonely, merges

GAP = timedelta(seconds=10)
MOST_SECONDS = 5.0


def is_lonely_by_pairs(times: list[datetime]) -> bool:
    return any(all(abs(one - two) > GAP for j, two in enumerate(times) if i != j) for i, one in enumerate(times))


def merges_by_pairs(times: list[datetime]) -> bool:
    for place, moment in enumerate(times):
        before = [each for each in times[:place] if timedelta() <= moment - each <= GAP]
        behind = [each for each in times[:place] if timedelta() <= each - moment <= GAP]
        if before and behind and min(behind) - max(before) > GAP:
            return True
    return False


def test_the_answers_are_as_pair_by_pair() -> None:
    chance, answers = Random(0), set()
    for _ in range(2000):
        times = [EPOCH + timedelta(seconds=chance.randint(0, 60)) for _ in range(chance.randint(0, 7))]
        assert has_lonely(sorted(times), GAP) == is_lonely_by_pairs(times), times
        assert merges(times, GAP) == merges_by_pairs(times), times
        places = {(chance.randint(0, 1), each - EPOCH) for each in times}
        pairs = {(two - one) for key, one in places for other, two in places if key == other}
        for distance in (GAP, -GAP):
            assert has_distance(places, distance) == (distance in pairs), places
        answers.add((has_lonely(sorted(times), GAP), merges(times, GAP), has_distance(places, GAP)))
    assert len(answers) > 4


def test_large_inputs_are_quick() -> None:
    times = [EPOCH + timedelta(seconds=11 * each // 2 * 2) for each in range(20_000)]
    begun = time.perf_counter()
    assert not has_lonely(times, GAP * 2)
    assert not merges(times, GAP / 10)
    assert not has_distance({(each % 7, moment - EPOCH) for each, moment in enumerate(times)}, timedelta(days=99))
    assert time.perf_counter() - begun < MOST_SECONDS
