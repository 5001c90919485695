"""Task slots for queries in real time: each partition of an input needs one for as long as the query runs.

So does each partition of its state: tasks that group rows run at the same time as tasks that read them.

A task that gets no slot while the others run begins when the batch is over. Then it reads nothing, and it is the same
task in the next batch. So its partition would never be read.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict

from pyspark.sql import SparkSession

from penstock.codegen.program import SparkQuery
from penstock.diagnostics.codes.running import R083
from penstock.runtime.checkpoint.storage import is_local
from penstock.runtime.connectors import source_of
from penstock.runtime.failure.errors import RunError

_SECONDS = 30.0
"""How long executors of a cluster may take to come up."""


_taken: defaultdict[str, dict[tuple[int, str], int]] = defaultdict(dict)
"""By application of Spark: slots by session and query. The queries of a server have a session for each definition."""
_lock = threading.Lock()


class TaskSlots:
    """The task slots of a Spark application that the queries of one session have taken."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._application = ""

    def take(self, query: SparkQuery) -> None:
        """Takes a slot for each partition that the query reads now, and for each partition of its state.

        They replace the slots that the query had.

        Raises:
            RunError: no slot would be left for the rest of Spark's work, or an input cannot be asked.
        """
        if query.real_time is None:
            return
        self._application = self._application or str(self._spark.sparkContext.applicationId)
        tasks = sum(source_of(each).count_tasks() for each in query.inputs) + (query.partitions or 0)
        local = is_local(self._spark)
        deadline = time.monotonic() + (0 if local else _SECONDS)
        while True:
            found = self._count()
            with _lock:
                taken = _taken[self._application]
                others = sum(slots for key, slots in taken.items() if key != (id(self), query.name))
                needed = others + tasks + 1
                if found >= needed:
                    taken[id(self), query.name] = tasks
                    return
            if time.monotonic() >= deadline:
                break
            time.sleep(0.2)
        finding = R083.at(query.span, "", query=query.name, needed=needed, found=found)
        told = "Each partition of a topic or of a state has a slot to itself, and one is for everything else."
        finding = finding.because(told)
        raise RunError([finding.with_hint(f"--master 'local[{needed}]'" if local else "more executors, or more cores")])

    def free(self, query: SparkQuery) -> None:
        """Frees the slots of a query that has ended."""
        with _lock:  # without Spark, which may be gone
            _taken[self._application].pop((id(self), query.name), None)

    def _count(self) -> int:
        context = self._spark.sparkContext._jsc.sc()
        return int(context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile()))
