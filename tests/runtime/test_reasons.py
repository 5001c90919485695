"""What a user is told of an error is one line, and never one of a stack trace."""

from __future__ import annotations

import pytest

from penstock.runtime.failure.plain_lines import line_of_noise, plain_line

FRAMES = (
    "\n\tat org.apache.spark.rdd.PipedRDD.compute(PipedRDD.scala:115)\n\tat java.base/java.lang.Thread.run(Unknown)"
)
JOB = """An error occurred while calling o84.collect.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 7.0 failed 4 times, most recent \
failure: Lost task 0.3 in stage 7.0 (TID 13) (192.0.2.2 executor 1): java.io.IOException: Cannot run "p": error=2"""
WORKER = """An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "/x/worker.py", line 3, in read
    raise LookupError("no")
        ^^^^^
pyspark.errors.LookupError: no watermark

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/x/worker.py", line 9, in main
ValueError: it is empty
"""


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n== SQL ==", "[DIVIDE_BY_ZERO] Division by zero."),
        (f"java.net.UnknownHostException: nn{FRAMES}", "UnknownHostException: nn"),
        (f"{FRAMES}\nCaused by: java.io.EOFException: cut off{FRAMES}", "EOFException: cut off"),
        (JOB + FRAMES, 'IOException: Cannot run "p": error=2'),
        (WORKER, "ValueError: it is empty"),
        (FRAMES, ""),
        ("", ""),
        ("x" * 400, "x" * 300 + "…"),
    ],
)
def test_a_message_is_one_line(message: str, line: str) -> None:
    assert plain_line(message) == line


@pytest.mark.parametrize(
    ("noise", "line"),
    [
        (
            f"Picked up JAVA_TOOL_OPTIONS: -Xmx1\n{FRAMES}\nError: Invalid maximum heap size",
            "Error: Invalid maximum heap size",
        ),
        ("WARNING: incubator\nException in thread main java.lang.IllegalStateException: x", "IllegalStateException: x"),
        (f"    at org.apache.Errors.raise(Errors.java:1){FRAMES}\nno such file\n", "no such file"),
        ("", ""),
    ],
)
def test_noise_is_searched_for_the_error(noise: str, line: str) -> None:
    assert line_of_noise(noise) == line
