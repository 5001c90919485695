"""Random scripts of streams, re-keys, joins, unions and a table: their SQL is refused or counted as their graphs are.

In any order of the statements. What is refused is accepted after its own proposals, and with SET auto_repartition; but
there are none for a statement that fills the table.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from penstock.compilation import Compilation, compile
from penstock.diagnostics import CompileError, Source
from penstock.parser import parse
from penstock.planner.partitions.agree import find_disagreements, find_partitions
from penstock.planner.partitions.counts import Defaults, infer
from penstock.planner.partitions.graph import Graph, Role, Stream

SCRIPTS = 150
COLUMNS = "(k BIGINT KEY, v BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - 1 SEC)"
TABLE = """CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT)
WITH (connector = 'files', path = 't', format = 'json', operation = 'op')""".replace("\n", " ")


@dataclass(frozen=True, slots=True)
class Relation:
    """A statement that makes rows of k, v and time, partitioned by k, out of those `below`."""

    name: str
    sql: str
    below: tuple[str, ...]


def random_script(choice: random.Random) -> tuple[list[Relation], Graph]:
    """Statements in an order in which they can stand, and the graph that they should come to."""
    relations: list[Relation] = []
    streams, joins = dict[str, Stream](), dict[str, str]()
    readers: dict[str, list[str]] = {}
    origins: dict[str, tuple[str, ...]] = {}
    for i in range(choice.randint(2, 4)):
        name, count = f"s{i}", choice.choice([None, 8, 16, 16])
        option = "" if count is None else f", partitions = {count}"
        place = f"(connector = 'files', path = '{name}', format = 'json'{option})"
        relations.append(Relation(name, f"CREATE STREAM {name} {COLUMNS} WITH {place}", ()))
        streams[name], origins[name] = Stream(name, Role.OUTSIDE, count), (name,)
    relations.append(Relation("t", TABLE, ()))
    streams["t"] = Stream("t", Role.OUTSIDE)
    fills: list[str] = []
    for i in range(choice.randint(1, 7)):
        name, one, other = f"r{i}", *choice.choices(list(origins), k=2)
        match choice.randint(0, 7):
            case 0 | 1:
                into = choice.choice([None, None, None, 12])
                text = f"SELECT STREAM k, v, time FROM {one} PARTITION BY k" + (
                    f" INTO {into} PARTITIONS" if into else ""
                )
                streams[name], origins[name] = Stream(name, Role.REKEYED, into=into), (name,)
                for each in origins[one]:
                    readers.setdefault(each, []).append(name)
                below: tuple[str, ...] = (one,)
            case 2:
                text = f"SELECT STREAM k, v, time FROM {one} UNION ALL SELECT STREAM k, v, time FROM {other}"
                origins[name], below = tuple(dict.fromkeys((*origins[one], *origins[other]))), (one, other)
            case 3:
                text = f"SELECT STREAM a.k, b.v, a.time FROM {one} a JOIN t b ON a.k = b.k"
                joins[name], origins[name], below = name, (name,), (one, "t")
                for each in (*origins[one], "t"):
                    readers.setdefault(each, []).append(name)
            case 4 if not fills:
                relations.append(Relation(name, f"INSERT INTO t SELECT STREAM k, v FROM {one}", (one, "t")))
                for each in origins[one]:
                    readers.setdefault(each, []).append(name)
                fills.append(name)
                continue
            case _:
                on = "ON a.k = b.k AND b.time BETWEEN a.time AND a.time + 5 SEC"
                text = f"SELECT STREAM a.k, b.v, a.time FROM {one} a JOIN {other} b {on}"
                joins[name], origins[name], below = name, (name,), (one, other)
                for each in (*origins[one], *origins[other]):
                    readers.setdefault(each, []).append(name)
        relations.append(Relation(name, f"CREATE STREAM {name} AS {text}", below))
    readers.update(dict.fromkeys(fills, readers.get("t", [])))
    for name in [each.name for each in relations if each.below and each.name not in fills]:
        relations.append(Relation(f"q_{name}", f"SELECT STREAM k FROM {name}", (name,)))
    read = {name for each in relations for name in each.below}
    return relations, Graph({name: each for name, each in streams.items() if name in read}, joins, readers)


def another_order(relations: list[Relation], choice: random.Random) -> list[Relation]:
    """The statements in another order in which they can stand."""
    left, made = list(relations), list[Relation]()
    while left:
        ready = [each for each in left if set(each.below) <= {done.name for done in made}]
        made.append(choice.choice(ready))
        left.remove(made[-1])
    return made


def text_of(relations: list[Relation], *before: str) -> str:
    return "".join(f"{each};\n" for each in [*before, *(relation.sql for relation in relations)])


def counts_of(compilation: Compilation, relations: list[Relation]) -> dict[str, int | None]:
    """The counts of re-keyed streams and of joins, by the name of the statement that makes each."""
    found = find_partitions(compilation.queries, compilation.settings, compilation.catalog)
    assert list(find_disagreements(found)) == []
    counts: dict[str, int | None] = {}
    for name, stream in found.script.graph.streams.items():
        if stream.role is Role.REKEYED and stream.span is not None:
            line, _ = stream.span.source.position(stream.span.start)
            counts[relations[line - 1].name] = found.counts.of[name].partitions
    for name, join in found.script.joins.items():
        line, _ = join.span.source.position(join.span.start)
        counts[relations[line - 1].name] = found.counts.joins[name].partitions
        assert (join.partitions or compilation.settings.state_partitions) == found.counts.joins[name].partitions
    return counts


def pasted(sql: str, refusal: CompileError) -> str:
    """The script with the first proposal pasted."""
    finding = next(each for each in refusal.diagnostics if each.fix is not None)
    for statement in parse(Source("<sql>", sql)):
        if any(statement.span.start <= label.span.start < statement.span.end for label in finding.labels[:1]):
            return f"{sql[: statement.span.start]}{finding.fix}{sql[statement.span.end :]}"
    raise AssertionError("the finding is in no statement")


@pytest.mark.parametrize("start", range(0, SCRIPTS, 50))
def test_scripts(start: int) -> None:
    refused = 0
    for seed in range(start, start + 50):
        choice = random.Random(seed)
        relations, graph = random_script(choice)
        expected = infer(graph, Defaults(None, 4))
        for order in (relations, another_order(relations, choice)):
            sql = text_of(order)
            if not expected.conflicts:
                wanted = {name: count.partitions for name, count in expected.joins.items()}
                wanted |= {
                    n: expected.of[n].partitions for n, each in graph.streams.items() if each.role is Role.REKEYED
                }
                assert counts_of(compile(sql), order) == wanted, sql
                continue
            refused += 1
            with pytest.raises(CompileError) as refusal:
                compile(sql)
            assert {each.code for each in refusal.value.diagnostics if each.severity == "error"} == {"P001"}, sql
            if "INSERT" not in sql:
                compile(text_of(order, "SET auto_repartition = ON"))
                mend(sql)
    assert 4 < refused < 96


def mend(sql: str) -> None:
    """Pastes proposals until the script is accepted."""
    for _ in range(20):
        try:
            compile(sql)
        except CompileError as refusal:
            sql = pasted(sql, refusal)
        else:
            return
    pytest.fail(f"still refused:\n{sql}")
