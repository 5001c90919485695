"""Lines of files that are read without Spark: their ends, and the time that long ones take."""

from __future__ import annotations

import io
import random
import re
import time
from itertools import pairwise

import pytest

from penstock.runtime.samples.record_values import LONGEST, read_csv_records, read_lines


@pytest.mark.parametrize("seed", range(20))
def test_lines_end_where_they_end_in_the_whole_text(seed: int) -> None:
    r = random.Random(seed)
    signs = ["\r", "\n", "\r\n", "é", "x" * ((1 << 16) - 1), "x" * (1 << 16), "x" * 200_000]
    text = "".join(r.choices(signs, k=30))
    whole = re.split(r"\r\n|\r|\n", text)
    assert [*read_lines(io.BytesIO(text.encode()))] == (whole if whole[-1] else whole[:-1])
    whole = text.split("\n")
    assert [*read_lines(io.BytesIO(("\ufeff" + text).encode()), "\n")] == (whole if whole[-1] else whole[:-1])


def test_a_long_line_takes_time_as_its_length() -> None:
    spent = []
    for size in (4 << 20, 32 << 20):
        began = time.process_time()
        assert [len(each) for each in read_lines(io.BytesIO(b"x" * size))] == [size]
        assert [len(each) for each in read_csv_records(io.BytesIO(b"x" * size))] == [size]
        spent.append(time.process_time() - began)
    assert all(after < 30 * before + 1 for before, after in pairwise(spent)), spent


def test_a_line_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="a line is too long"):
        [*read_lines(io.BytesIO(b"x" * (LONGEST + 1)))]
