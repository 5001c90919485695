"""Counts of partitions over graphs written by hand and over a thousand random ones, against a brute-force solver."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

import pytest

from penstock.planner.partitions.counts import LARGEST, CountRule, Counts, Defaults, infer
from penstock.planner.partitions.graph import Graph, Role, Stream, find_join_streams, reach_from

T = TypeVar("T")
NOTHING_SET = Defaults(intermediate=None, state=4)


def outside(name: str, partitions: int | None) -> Stream:
    return Stream(name, Role.OUTSIDE, partitions)


def rekeyed(name: str, into: int | None = None) -> Stream:
    return Stream(name, Role.REKEYED, into=into)


def graph(
    streams: Sequence[Stream],
    joins: Sequence[str],
    edges: Sequence[tuple[str, str]],
    fills: Mapping[str, str] | None = None,
) -> Graph:
    """A graph in which everything is called by its name. `fills`: statements, and the tables that they fill."""
    readers: dict[str, list[str]] = {}
    for above, below in edges:
        readers.setdefault(above, []).append(below)
    for fill, table in (fills or {}).items():
        readers[fill] = readers.setdefault(table, [])
    return Graph({each.name: each for each in streams}, {join: join for join in joins}, readers)


def find_partitions(counts: Counts) -> dict[str, int | None]:
    return {name: count.partitions for name, count in counts.of.items()}


def test_traversal_ends_on_cycles_and_meets_each_vertex_once() -> None:
    edges = {1: [2, 3, 4], 2: [1], 3: [3], 4: [5, 6], 5: [7], 6: [4], 7: [1]}
    assert reach_from([1], lambda vertex: edges[vertex]) == [1, 2, 3, 4, 5, 6, 7]
    assert reach_from([5, 5], lambda _: []) == [5]


def test_a_stream_meets_in_joins_over_joins_but_not_behind_another_stream() -> None:
    made = graph(
        [outside("a", 8), outside("b", 8), rekeyed("p"), outside("c", 8)],
        ["one", "two"],
        [("a", "one"), ("b", "one"), ("one", "two"), ("c", "two"), ("b", "p"), ("p", "two")],
    )
    assert find_join_streams(made) == {"one": ("a", "b"), "two": ("a", "b", "p", "c")}


def test_a_filled_table_brings_its_streams_to_the_joins_with_it() -> None:
    made = graph(
        [outside("s", 8), outside("a", 8), outside("b", 8), outside("t", None), outside("u", None)],
        ["look up", "again", "other"],
        [
            *(("s", "look up"), ("t", "look up"), ("look up", "again"), ("t", "again"), ("s", "other")),
            *(("u", "other"), ("a", "fill t"), ("b", "fill t too"), ("a", "fill u")),
        ],
        {"fill t": "t", "fill t too": "t", "fill u": "u"},
    )
    both = ("s", "a", "b", "t")
    assert find_join_streams(made) == {"look up": both, "again": both, "other": ("s", "a", "u")}


def test_a_table_that_is_filled_from_a_join_with_itself_ends() -> None:
    made = graph([outside("s", 8), outside("t", None)], ["j"], [("s", "j"), ("t", "j"), ("j", "fill")], {"fill": "t"})
    assert find_join_streams(made) == {"j": ("s", "t")}


def test_a_known_count_goes_from_join_to_join() -> None:
    made = graph(
        [outside("a", 64), outside("b", 512), rekeyed("p"), rekeyed("q"), rekeyed("r")],
        ["last", "middle", "first"],
        [("a", "first"), ("p", "first"), ("p", "middle"), ("q", "middle"), ("q", "last"), ("r", "last"), ("b", "r")],
    )
    counts = infer(made, NOTHING_SET)
    assert find_partitions(counts) == {"a": 64, "b": 512, "p": 64, "q": 64, "r": 64}
    assert [counts.joins[each].partitions for each in made.joins] == [64, 64, 64]
    assert (counts.of["r"].rule, counts.of["r"].giver) == (CountRule.JOINED, "a")


@pytest.mark.parametrize(
    ("into", "setting", "widest", "expected", "rule"),
    [
        (3, 7, 16, 3, CountRule.INTO),
        (None, 7, 16, 7, CountRule.SETTING),
        (None, None, 16, 16, CountRule.WIDEST),
        (None, None, 1024, LARGEST, CountRule.WIDEST),
        (None, None, None, 4, CountRule.DEFAULT),
    ],
)
def test_the_rules_in_their_order(
    into: int | None, setting: int | None, widest: int | None, expected: int, rule: CountRule
) -> None:
    made = graph([outside("a", widest), rekeyed("p", into)], [], [("a", "p")])
    count = infer(made, Defaults(setting, 4)).of["p"]
    assert (count.partitions, count.rule) == (expected, rule)


def test_streams_of_one_name_all_count_among_the_widest() -> None:
    for counts in ((64, 8), (8, 64)):
        streams = {f"stream {n}": Stream("a", Role.OUTSIDE, count) for n, count in enumerate(counts)}
        made = Graph({**streams, "p": Stream("p", Role.REKEYED)}, {}, {each: ["p"] for each in streams})
        assert infer(made, NOTHING_SET).of["p"].partitions == 64


def test_an_output_counts_among_the_widest_and_meets_in_no_join() -> None:
    made = graph(
        [outside("a", 8), rekeyed("p"), Stream("out", Role.OUTPUT, 32)], ["j"], [("a", "p"), ("p", "j"), ("j", "out")]
    )
    counts = infer(made, NOTHING_SET)
    assert counts.join_streams == {"j": ("p",)}
    assert counts.of["p"].partitions == 32


def test_a_join_wins_over_into_and_the_setting() -> None:
    made = graph([outside("a", 64), rekeyed("p", 8)], ["j"], [("a", "j"), ("p", "j")])
    assert infer(made, Defaults(7, 4)).of["p"].partitions == 64


def test_into_is_given_on_like_a_declared_count() -> None:
    made = graph([rekeyed("p", 8), rekeyed("q")], ["j"], [("p", "j"), ("q", "j")])
    assert find_partitions(infer(made, Defaults(7, 4))) == {"p": 8, "q": 8}


def test_a_stream_without_a_count_is_spread_anew_and_ties_nothing() -> None:
    made = graph(
        [outside("files", None), outside("a", 8), outside("b", 16), outside("more", None)],
        ["one", "two", "three"],
        [("files", "one"), ("a", "one"), ("files", "two"), ("b", "two"), ("files", "three"), ("more", "three")],
    )
    counts = infer(made, NOTHING_SET)
    assert counts.conflicts == ()
    assert [counts.joins[each].partitions for each in made.joins] == [8, 16, 4]
    assert counts.within("two", "files").partitions == 16


def test_different_counts_in_one_join() -> None:
    made = graph([outside("a", 64), outside("b", 32)], ["j"], [("a", "j"), ("b", "j")])
    assert infer(made, NOTHING_SET).conflicts == (("j",),)


def test_different_counts_of_joins_that_a_re_keyed_stream_ties() -> None:
    made = graph(
        [outside("a", 16), rekeyed("p"), rekeyed("q"), outside("b", 64), outside("c", 16)],
        ["ap", "pq", "qb", "cp"],
        [(stream, join) for join in ("ap", "pq", "qb", "cp") for stream in join],
    )
    counts = infer(made, NOTHING_SET)
    assert counts.conflicts == (("ap", "pq", "qb"),)
    assert counts.of["p"].partitions is None


def test_two_intos_that_meet() -> None:
    made = graph(
        [rekeyed("p", 8), rekeyed("q"), rekeyed("r", 16)],
        ["pq", "qr"],
        [("p", "pq"), ("q", "pq"), ("q", "qr"), ("r", "qr")],
    )
    assert infer(made, NOTHING_SET).conflicts == (("pq", "qr"),)


# The table of SEP-16: S1 fills the table T, S2 is joined with T.


def stream_table(one: Stream, other: Stream, third: Stream | None = None) -> Graph:
    edges = [("S1", "fill T"), ("T", "S2 with T"), ("S2", "S2 with T")]
    if third is None:
        return graph([one, other, outside("T", None)], ["S2 with T"], edges, {"fill T": "T"})
    edges += [("S2 with T", "with S3"), ("S3", "with S3")]
    return graph([one, other, third, outside("T", None)], ["S2 with T", "with S3"], edges, {"fill T": "T"})


class TestStreamTableJoins:
    def test_input_and_input_must_be_equal(self) -> None:
        assert infer(stream_table(outside("S1", 8), outside("S2", 8)), NOTHING_SET).conflicts == ()
        different = stream_table(outside("S1", 8), outside("S2", 16))
        assert infer(different, NOTHING_SET).conflicts == (("S2 with T",),)

    def test_an_intermediate_stream_joined_gets_that_of_the_input(self) -> None:
        made = stream_table(outside("S1", 8), rekeyed("S2"))
        assert find_partitions(infer(made, NOTHING_SET)) == {"S1": 8, "S2": 8, "T": None}

    def test_an_intermediate_stream_that_fills_gets_that_of_the_input(self) -> None:
        made = stream_table(rekeyed("S1"), outside("S2", 8))
        assert find_partitions(infer(made, NOTHING_SET)) == {"S1": 8, "S2": 8, "T": None}

    def test_two_intermediate_streams_get_that_of_a_later_join(self) -> None:
        made = stream_table(rekeyed("S1"), rekeyed("S2"), outside("S3", 32))
        assert find_partitions(infer(made, NOTHING_SET)) == {"S1": 32, "S2": 32, "S3": 32, "T": None}


# A thousand random graphs.


def random_graph(choice: random.Random) -> Graph:
    """Streams, re-keys, joins over joins and over tables, tables filled from anywhere, also from what reads them."""
    tables = [f"t{i}" for i in range(choice.randint(0, 3))]
    streams = [outside(each, None) for each in tables]
    joins: list[str] = []
    edges: list[tuple[str, str]] = []
    fills: dict[str, str] = {}
    sources: list[str] = []
    for i in range(choice.randint(1, 5)):
        streams.append(outside(f"s{i}", choice.choice([None, 8, 8, 8, 16])))
        sources.append(f"s{i}")
    for i in range(choice.randint(0, 12)):
        below = choice.choice(sources)
        match choice.randint(0, 4):
            case 0 | 1:
                streams.append(rekeyed(f"p{i}", choice.choice([None, None, None, 8, 32])))
                edges.append((below, f"p{i}"))
                sources.append(f"p{i}")
            case 2 | 3 as kind:
                joins.append(f"j{i}")
                edges += [(below, f"j{i}"), (choice.choice(tables if kind == 3 and tables else sources), f"j{i}")]
                sources.append(f"j{i}")
            case 4 if tables:
                fills[f"f{i}"] = choice.choice(tables)
                edges.append((below, f"f{i}"))
            case _:
                streams.append(Stream(f"o{i}", Role.OUTPUT, choice.choice([None, 4, 300])))
                edges.append((below, f"o{i}"))
    return graph(streams, joins, edges, fills)


def shuffled(made: Graph, choice: random.Random) -> Graph:
    """The same graph with its statements in another order."""

    def mixed(parts: Mapping[str, T]) -> dict[str, T]:
        return dict(choice.sample(list(parts.items()), len(parts)))

    readers = {name: choice.sample(list(below), len(below)) for name, below in made.readers.items()}
    return Graph(mixed(made.streams), mixed(made.joins), mixed(readers))


def brute_force(made: Graph, defaults: Defaults) -> tuple[dict[str, set[str]], dict[str, int] | None]:
    """Who meets where, by following every way; the counts by looking at all joins again and again. None: refused."""
    join_streams: dict[str, set[str]] = {join: set() for join in made.joins}

    def follow(stream: str, vertex: str, way: frozenset[str]) -> None:
        for below in set(made.readers.get(vertex, ())) - set(made.streams) - way:
            if below in made.joins:
                join_streams[below].add(stream)
            follow(stream, below, way | {below})

    for stream, each in made.streams.items():
        if each.role is not Role.OUTPUT:
            follow(stream, stream, frozenset())

    known = {name: each.partitions for name, each in made.streams.items() if each.partitions is not None}
    unknown = {name for name, each in made.streams.items() if each.role is Role.REKEYED}

    def spread() -> None:
        changed = True
        while changed:
            changed = False
            for streams in join_streams.values():
                counts = {known[each] for each in streams if each in known}
                for each in streams & unknown - set(known) if counts else ():
                    known[each] = min(counts)
                    changed = True

    spread()
    known |= {name: into for name in unknown if name not in known and (into := made.streams[name].into)}
    spread()
    widest = [each.partitions for each in made.streams.values() if each.partitions]
    last = defaults.intermediate or min(max(widest, default=defaults.state), 256)
    known |= {name: last for name in unknown if name not in known}
    if any(len({known[each] for each in streams if each in known}) > 1 for streams in join_streams.values()):
        return join_streams, None
    return join_streams, {name: known[name] for name in unknown}


def test_a_thousand_random_graphs() -> None:
    choice = random.Random(2018)
    refused = 0
    for _ in range(1000):
        made = random_graph(choice)
        defaults = Defaults(choice.choice([None, 7]), 4)
        join_streams, expected = brute_force(made, defaults)
        first = infer(made, defaults)
        for order in (made, shuffled(made, choice), shuffled(made, choice)):
            counts = infer(order, defaults)
            assert {join: set(streams) for join, streams in counts.join_streams.items()} == join_streams
            assert (counts.of, counts.joins) == (first.of, first.joins)
            assert bool(counts.conflicts) == (expected is None)
            if expected is not None:
                assert {each: counts.of[each].partitions for each in expected} == expected
        refused += expected is None
    assert 100 < refused < 900
