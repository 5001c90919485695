"""A Sampling -> its first rows, from files of this machine or from a topic."""

from __future__ import annotations

from penstock.codegen.sampled import Sampling
from penstock.runtime.samples.file_records import read_files
from penstock.runtime.samples.newest_messages import read_messages
from penstock.runtime.samples.take import Sample, take_sample


def look(sampling: Sampling, limit: int) -> Sample:
    """The first `limit` rows of files, or the rows of the newest `limit` messages.

    Raises:
        RunError: the place is not there, or cannot be read.
    """
    if sampling.input.counts_partitions:
        return take_sample(sampling, read_messages(sampling.input, limit), limit)
    return take_sample(sampling, read_files(sampling.input), limit)
