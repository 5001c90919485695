"""Writes the archive of Spark's classes for the JVMs of tests."""

from __future__ import annotations

from penstock.commands.warm_up import run_queries
from penstock.runtime.spark.write_class_archive import write_archive
from tests.jvm.options import ARCHIVE, OPTIONS

if __name__ == "__main__":
    write_archive(run_queries, OPTIONS, ARCHIVE)
