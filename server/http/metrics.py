"""Metrics for Prometheus: metrics of the queries, as the engine wrote them last, and metrics of this door."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

STATES = ("STARTING", "RUNNING", "PAUSED", "RETRYING", "HELD", "STOPPED")
OUTCOMES = ("used", "late", "rejected", "filtered")
_CHANGES = {"put": "puts", "update": "updates", "delete": "deletes", "rejected": "rejected"}


class DoorMetrics:
    """What this door counts. Others may add their own metrics to the registry."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self.statements = Counter(
            "penstock_statements", "Statements, by door and outcome.", ["door", "outcome"], registry=self.registry
        )
        self.connections = Gauge("penstock_http_connections", "Open connections of HTTP.", registry=self.registry)
        self.streams = Gauge(
            "penstock_change_streams", "Clients that follow the changes of a relation.", registry=self.registry
        )
        for outcome in ("done", "refused", "withdrawn"):
            self.statements.labels("http", outcome)

    def print(self, queries: Iterable[Mapping[str, Any]]) -> bytes:
        """All metrics in the text format of Prometheus. `queries`: rows of `penstock.query`."""
        metrics = CollectorRegistry()
        metrics.register(QueryMetrics(list(queries)))
        return generate_latest(metrics) + generate_latest(self.registry)


class QueryMetrics:
    """The metrics of queries, collected from rows of `penstock.query`. Counts begin when the query was started."""

    def __init__(self, queries: list[Mapping[str, Any]]) -> None:
        self._queries = [(str(row["name"]), row, row["status"] or {}) for row in queries]

    def collect(self) -> Iterator[Metric]:
        """One family after the other."""
        state = GaugeMetricFamily("penstock_query_state", "1 for the state of the query.", labels=["query", "state"])
        restarts = CounterMetricFamily("penstock_query_restarts", "Restarts after failures.", labels=["query"])
        for name, row, _ in self._queries:
            restarts.add_metric([name], row["restarts"] or 0)
            for each in STATES:
                state.add_metric([name, each], float(row["state"] == each))
        yield state
        yield restarts
        yield self._gauge("batch", "Number of the newest micro-batch.", "batch")
        yield self._counter("output_rows", "Rows written.", "out")
        yield self._gauge("input_rows_per_second", "Rows read a second.", "input_rate")
        yield self._gauge("output_rows_per_second", "Rows written a second.", "output_rate")
        yield self._gauge("lag_seconds", "Time from the newest event time until now.", "lag_seconds")
        yield self._gauge("state_rows", "Rows of state.", "state_rows")
        yield self._gauge("state_bytes", "Bytes of state.", "state_bytes")
        yield from self._collect_inputs()
        yield self._collect_tables()

    def _collect_inputs(self) -> Iterator[Metric]:
        rows = CounterMetricFamily("penstock_query_input_rows", "Rows read.", labels=["query", "input"])
        outcomes = CounterMetricFamily(
            "penstock_query_input_rows_by_outcome", "Rows read, by outcome.", labels=["query", "input", "outcome"]
        )
        for name, _, status in self._queries:
            for each in status.get("inputs") or ():
                rows.add_metric([name, each["name"]], each.get("in") or 0)
                for outcome in OUTCOMES:
                    outcomes.add_metric([name, each["name"], outcome], each.get(outcome) or 0)
        yield rows
        yield outcomes

    def _collect_tables(self) -> Metric:
        changes = CounterMetricFamily(
            "penstock_query_table_rows", "Changes of tables of databases.", labels=["query", "table", "change"]
        )
        for name, _, status in self._queries:
            for each in status.get("tables") or ():
                for change, field in _CHANGES.items():
                    changes.add_metric([name, each["name"], change], each.get(field) or 0)
        return changes

    def _gauge(self, name: str, meaning: str, field: str) -> Metric:
        family = GaugeMetricFamily(f"penstock_query_{name}", meaning, labels=["query"])
        for query, _, status in self._queries:
            if status.get(field) is not None:
                family.add_metric([query], status[field])
        return family

    def _counter(self, name: str, meaning: str, field: str) -> Metric:
        family = CounterMetricFamily(f"penstock_query_{name}", meaning, labels=["query"])
        for query, _, status in self._queries:
            family.add_metric([query], status.get(field) or 0)
        return family
