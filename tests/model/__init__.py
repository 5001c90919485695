"""The oracle: what plans mean, written down as the plainest program that computes it.

`evaluate(plan, tables)` is the batch meaning of a plan, `History` is a stream as it arrives (rows and micro-batch
borders), `accepted` says which of its rows are late by law, and `Incremental` runs a plan over a history with state that
is evicted as early as the bounds allow. What a streaming run with drain must answer is `evaluate(plan, accepted(…))`.
"""
