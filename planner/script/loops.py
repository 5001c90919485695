"""No query reads what it writes by way of others: its rows would come back to it forever."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.kinds import K009
from penstock.planner.connectors.meeting import Reader, make_reader, make_writer
from penstock.planner.plan import Options, Origin, RunningQuery, Scan
from penstock.planner.plan.walk import walk


def check_loops(queries: Sequence[RunningQuery], running: Sequence[RunningQuery]) -> Iterator[Diagnostic]:
    """Finds each set of queries that read each other in a circle, at its last one. `running`: the queries from before.

    A query that reads its own place is found where it is planned.
    """
    every = [*running, *queries]
    readers = find_readers(every)
    for circle in find_circles(readers):
        last = max(circle)
        if last < len(running):
            continue
        query = every[last]
        found = K009.at(query.span, "", target=query.sink.name)
        for place in sorted(circle - {last}):
            found = found.also(every[place].span, "writes what comes back")
        yield found.because("The queries read each other in a circle.").with_hint(
            "write the rows of one of them to a place that none of the others reads"
        )


def find_readers(queries: Sequence[RunningQuery]) -> list[list[int]]:
    """For each query the places of the others that read what it writes."""
    by_origin: dict[tuple[str, Options], tuple[Origin, set[int]]] = {}
    for place, query in enumerate(queries):
        for node in walk(query.root):
            if isinstance(node, Scan):
                origin = node.origin
                _, reading = by_origin.setdefault((origin.connector, origin.options), (origin, set()))
                reading.add(place)
    known = [(make_reader(origin.connector, origin.options), reading) for origin, reading in by_origin.values()]
    sinks: set[tuple[str, Options]] = {(each.sink.connector, each.sink.options) for each in queries}
    seen = {sink: list_seeing(sink, known) for sink in sinks}
    return [sorted(seen[query.sink.connector, query.sink.options] - {place}) for place, query in enumerate(queries)]


def list_seeing(sink: tuple[str, Options], readers: Sequence[tuple[Reader, set[int]]]) -> set[int]:
    """The queries that read what goes to a place."""
    connector, options = sink
    writer = make_writer(connector, options)
    if not writer.places:
        return set()
    return {query for reader, reading in readers if reader.sees(writer) for query in reading}


def find_circles(readers: Sequence[Sequence[int]]) -> list[set[int]]:
    """The sets of at least two vertices that reach each other (Tarjan's algorithm, without recursion)."""
    order: dict[int, int] = {}
    lowest: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    circles: list[set[int]] = []
    for start in range(len(readers)):
        pending = [(start, iter(readers[start]))] if start not in order else []
        while pending:
            vertex, rest = pending[-1]
            if vertex not in order:
                order[vertex] = lowest[vertex] = len(order)
                stack.append(vertex)
                on_stack.add(vertex)
            following = next((each for each in rest if each not in order or each in on_stack), None)
            if following is not None and following not in order:
                pending.append((following, iter(readers[following])))
                continue
            if following is not None:
                lowest[vertex] = min(lowest[vertex], order[following])
                continue
            pending.pop()
            if pending:
                above = pending[-1][0]
                lowest[above] = min(lowest[above], lowest[vertex])
            if lowest[vertex] == order[vertex]:
                circle = set(stack[stack.index(vertex) :])
                del stack[stack.index(vertex) :]
                on_stack -= circle
                circles += [circle] if len(circle) > 1 else []
    return circles
