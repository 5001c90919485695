"""The oracle: what plans mean, written down as the plainest program that computes it.

`evaluate(plan, tables)` is the batch meaning of a plan, `History` is a stream as it arrives (rows and micro-batch
borders), `accepted` takes out the rows that are late by law, and `run` runs a plan over a history with state that is
let go as early as the bounds allow. A streaming run with drain must answer what `evaluate` gives for the accepted rows.
"""
