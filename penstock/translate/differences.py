"""What a statement that both systems accept means otherwise here, by its plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from penstock.parser import ast
from penstock.planner.plan import Node, Ranked
from penstock.planner.plan.aggregate import Emission, GroupAggregate, SessionWindow, WindowAggregate
from penstock.planner.plan.join import IntervalJoin, JoinType
from penstock.planner.plan.table import TableJoin, TableLookup
from penstock.planner.plan.walk import walk
from penstock.translate.foreign_statement import Foreign
from penstock.translate.model import System

_LATE = {
    System.FLINK: "Flink takes a late row while its window is open; here a row behind the watermark is left out",
    System.KSQLDB: "ksqlDB takes a late row within the grace period of its window; here a row behind the watermark is "
    "left out, and GRACE PERIOD adds to the delay",
    System.SPARK: "Spark takes a late row while it has its window; here one behind the watermark is left out",
}
_RECORDS = "{} sends a change for each record; here a micro-batch sends one change of a row"
_PADDED = {
    System.FLINK: "rows without a partner are padded when the watermark of both inputs has passed them, as in Flink",
    System.KSQLDB: "ksqlDB pads rows when the grace period has passed in their partition; here rows are padded when "
    "the watermark of both inputs has passed them",
    System.SPARK: "rows without a partner are padded when the watermark of both inputs has passed them; in Spark one "
    "micro-batch later",
}
_PAIRS = "{} sends a pair with its second row; here pairs come when the watermark has passed their pane"


def list_differences(statement: Foreign, system: System, plans: Iterable[Node]) -> Iterator[str]:
    """What differs, in the words of the statement. Each once."""
    told: set[str] = set()
    told_plans = False
    for plan in plans:
        told_plans = told_plans or statement.word(0) in ("SELECT", "WITH", "INSERT")
        for node in walk(plan):
            for text in _explain_node(statement, system, node):
                if text not in told:
                    told.add(text)
                    yield text
    is_pull = statement.word(0) in ("SELECT", "WITH") and statement.find("EMIT") == len(statement)
    if system is System.KSQLDB and is_pull:
        yield "ksqlDB answers a SELECT without EMIT CHANGES once; here the query goes on: penstock query answers once"
    if (
        system is System.SPARK
        and told_plans
        and not any(statement.word(place) == "STREAM" for place in range(len(statement)))
    ):
        yield "Spark answers once, over the rows that are there; here the query goes on with the rows that come"


def find_unnamed(statements: Iterable[ast.Statement], system: System) -> Iterator[str]:
    """What is told of columns without names, which each system names otherwise, where others read them by names."""
    for statement in statements:
        query = getattr(statement, "query", None)
        query = query.body if isinstance(query, ast.With) else query
        if not isinstance(statement, ast.CreateAs | ast.CreateView) or not isinstance(query, ast.Select):
            continue
        given = getattr(statement, "columns", ())
        unnamed = [place for place, item in enumerate(query.items, 1) if _is_unnamed(item)]
        if unnamed and not given:
            names = ", ".join(f"col{place}" for place in unnamed)
            yield f"columns without a name are called {names}; {_UNNAMED[system]}: write AS"


_UNNAMED = {
    System.FLINK: "in Flink EXPR$0 and so on",
    System.KSQLDB: "in ksqlDB KSQL_COL_0 and so on",
    System.SPARK: "in Spark as they are written",
}


def _is_unnamed(item: ast.Item) -> bool:
    is_named = item.alias is not None or item.columns or isinstance(item.value, exp.Column | exp.Dot)
    return not is_named and not isinstance(item.value, exp.Star)


def _explain_node(statement: Foreign, system: System, node: Node) -> Iterator[str]:
    if isinstance(node, WindowAggregate | Ranked):
        yield _LATE[system]
    if isinstance(node, WindowAggregate):
        if system is System.FLINK and node.emission is Emission.CHANGES:
            yield "Flink sends a window once, when it is final; here each change of it is sent: EMIT FINAL"
        if system is System.KSQLDB and isinstance(node.window, SessionWindow):
            yield "window_end of a session is the gap behind its last row; in ksqlDB the window ends with that row"
        if system is System.KSQLDB and node.retention is None:
            yield "ksqlDB keeps windows for a day, to be looked up; here RETENTION says for how long"
    if isinstance(node, GroupAggregate | TableJoin) and system is not System.SPARK:
        yield _RECORDS.format(system.title)
    if isinstance(node, WindowAggregate | GroupAggregate) and system is System.KSQLDB and node.keys:
        yield "ksqlDB leaves rows out whose key is NULL; here they are a group: WHERE … IS NOT NULL leaves them out"
    if isinstance(node, IntervalJoin):
        if node.pane is not None:
            yield _PAIRS.format(system.title)
        if node.type in (JoinType.LEFT, JoinType.RIGHT, JoinType.FULL):
            yield _PADDED[system]
    if isinstance(node, TableLookup) and system is System.FLINK and statement.find("FOR SYSTEM_TIME") == len(statement):
        yield "Flink sends a joined row again when the table changes; here a row looks the table up once"
