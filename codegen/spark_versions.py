"""The versions of Spark that Penstock runs on, and what is different from one to the other.

A version is its first two numbers. Releases that differ in the third one alone have the same SQL, state and files.
Functions that some versions lack say so in their own entries (`Function.since`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from penstock.codegen.known_jars import KAFKA_4_2, S3A_3_5
from penstock.codegen.known_jars import Jar as Jar

Number: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SparkVersion:
    """What is known of a version."""

    jars: Mapping[str, tuple[Jar, ...]]
    """The archives that Spark does not ship, by connector or file system."""
    settings: tuple[tuple[str, str], ...] = ()
    """What is set at the start, and other versions do not have."""


SLOT_CHECK_SETTING = "spark.scheduler.pipelinedGroup.slotCheck.enabled"
"""Whether Spark compares the free slots with the slots that a query in real time needs, when a batch begins."""

SPARK_VERSIONS: Mapping[Number, SparkVersion] = {
    (4, 2): SparkVersion(jars={"kafka": KAFKA_4_2, "s3a": S3A_3_5}),
    (4, 3): SparkVersion(
        # Maven has no spark-sql-kafka of 4.3 yet; the release for 4.2 runs with it.
        jars={"kafka": KAFKA_4_2, "s3a": S3A_3_5},
        settings=(
            # Spark SQL can run programs and read any file; what we send it never asks for that.
            ("spark.sql.restrictedMode.enabled", "true"),
            # Spark would stop a query in real time if short work of others had its slots when a batch begins.
            (SLOT_CHECK_SETTING, "false"),
        ),
    ),
}
"""In ascending order."""
REAL_TIME_SINCE: Number = (4, 3)
"""Spark 4.2 has a real-time mode, too, but lacks the setting that shares its checkpoints with micro-batches."""
_LACKING: Mapping[Number, str] = {
    (4, 1): "it has no MAX_BY that gives several values, which changing tables need",
    (4, 0): "it has neither the type TIME nor MAX_BY that gives several values, which changing tables need",
    (3, 5): "it has no sessions of classic Spark apart from Connect, no type TIME, and lacks 36 functions",
}


def read_number(version: str) -> Number | None:
    """The version of a text such as 4.3.0 or 4.3; None if it is none."""
    found = re.match(r"(\d+)\.(\d+)(?!\d)", version)
    return found and (int(found[1]), int(found[2]))


def number_text(number: Number) -> str:
    """As it is written."""
    return f"{number[0]}.{number[1]}"


def find_objection(version: str) -> str | None:
    """Why Penstock does not run on a version of Spark, None if it does."""
    number = read_number(version)
    if number is not None and number in SPARK_VERSIONS:
        return None
    if number is not None and number in _LACKING:
        return _LACKING[number]
    return f"Penstock is tried with Spark {' and '.join(map(number_text, SPARK_VERSIONS))}"
