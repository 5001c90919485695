"""The sources of a query -> their names in its checkpoint, under which Spark notes how far each was read.

With names a later query may add sources and leave some out, if the checkpoint was begun with them. Without names a
source is known by its place in the plan alone. Spark gives no names later. Spark 4.2 notes places whatever names are.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pyspark import __version__ as pyspark_version
from pyspark.sql import DataFrame

EVOLUTION_SETTING = "spark.sql.streaming.queryEvolution.enableSourceEvolution"
"""Whether the sources of a query have names. Spark looks when a query starts, and when a source is made."""
_NAMED_SINCE = (4, 3)
_NAMED = "v2"  # the version of the files in `offsets`, which is their first line
_AGAIN = "__"


def name_source(rows: DataFrame, name: str) -> DataFrame:
    """The rows of a stream, whose source has this name from now on."""
    return rename_sources(rows, [name])


def list_source_names(rows: DataFrame) -> list[str]:
    """The names of the sources of a query in the order of its plan. One that is read again is one more of Spark's."""
    leaves = rows._jdf.queryExecution().analyzed().collectLeaves()
    streams = (leaf for leaf in map(leaves.apply, range(leaves.size())) if leaf.isStreaming())
    return [str(leaf.sourceIdentifyingName().nameOpt().get()) for leaf in streams]


def distinguish_names(names: Sequence[str]) -> list[str]:
    """The names, each once: a source that is read again has a number behind its name."""
    times: Counter[str] = Counter()
    told = []
    for name in names:
        number = times[name.lower()] = times[name.lower()] + 1  # a name is the name of a folder, too
        told.append(name if number == 1 else f"{name}{_AGAIN}{number}")
    return told


def rename_sources(rows: DataFrame, names: Sequence[str]) -> DataFrame:
    """The rows of a query whose sources have these names, in the order of its plan."""
    spark, left = rows.sparkSession, [*names]
    # py4j asks the JVM for each name on the way to a class.
    jvm: Any = spark._jvm
    named, one, several = (
        jvm.org.apache.spark.sql.catalyst.streaming.UserProvided,
        jvm.java.util.Collections.singletonList,
        jvm.java.util.ArrayList,
    )
    as_sequence = jvm.org.apache.spark.api.python.PythonUtils.toSeq

    def children_of(plan: Any) -> list[Any]:
        found = plan.children()
        return [found.apply(place) for place in range(found.size())]

    plan: Any = rows._jdf.queryExecution().analyzed()
    # From the root to where we are: a node, its children, and the new forms of the first of them.
    path: list[tuple[Any, list[Any], list[Any]]] = [(plan, children_of(plan), [])]
    while path:
        plan, children, renewed = path[-1]
        if len(renewed) < len(children):
            child = children[len(renewed)]
            if child.isStreaming():
                path.append((child, children_of(child), []))
            else:
                renewed.append(child)
            continue
        path.pop()
        if not children:
            plan = plan.withSourceIdentifyingName(named(left.pop(0)))
        elif len(renewed) == 1:
            plan = plan.withNewChildren(as_sequence(one(renewed[0])))
        else:
            listed = several()
            for each in renewed:
                listed.add(each)
            plan = plan.withNewChildren(as_sequence(listed))
        if path:
            path[-1][2].append(plan)
    plan.setAnalyzed()  # it was, and nothing but names has changed
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, plan), spark)


def has_names(offsets: str | None) -> bool:
    """Whether a checkpoint knows its sources by name, by its newest file of `offsets`; None if there is none yet."""
    if offsets is None:
        return tuple(map(int, pyspark_version.split(".")[:2])) >= _NAMED_SINCE
    return offsets.startswith(f"{_NAMED}\n")
