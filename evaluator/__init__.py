"""The meaning of plans: what a plan answers to given rows, as the plainest program that computes it.

`evaluate(plan, tables)` is the batch meaning of a plan. `History` is a stream as it arrives: rows and micro-batch
borders. `accepted` takes out the rows that are late by law. `run` runs a plan over a history, and lets state go as
early as the bounds allow. `StagedRun` runs a whole plan in steps. A streaming run with drain must answer what
`evaluate` gives for the accepted rows.
"""

from penstock.evaluator.changes import ChangeRun
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.expression_values import evaluate_scalar
from penstock.evaluator.held import Change
from penstock.evaluator.history import History, Tables, accepted, clocks, watermarks
from penstock.evaluator.incremental import Incremental, run
from penstock.evaluator.staged_run import Arrival, StagedRun, StepAnswer
from penstock.evaluator.typed_values import QueryFailure, Row, Unsupported, Value, cast, columns

__all__ = [
    "Arrival",
    "Change",
    "ChangeRun",
    "History",
    "Incremental",
    "QueryFailure",
    "Row",
    "StagedRun",
    "StepAnswer",
    "Tables",
    "Unsupported",
    "Value",
    "accepted",
    "cast",
    "clocks",
    "columns",
    "evaluate",
    "evaluate_scalar",
    "run",
    "watermarks",
]
