"""How `kit` comes to Spark's Python workers, which may have no Penstock, or another version of it."""

from __future__ import annotations

from pyspark import cloudpickle

from penstock import kit


def ship_kit() -> None:
    """Sends functions and classes of `kit` to workers by value, from now on and in all sessions of this process.

    A package stands for the modules below it. Workers import none of them, so they compute with what the driver has.
    """
    cloudpickle.register_pickle_by_value(kit)  # type: ignore[no-untyped-call]
