"""Prints docs/functions.md."""

from __future__ import annotations

from penstock.planner.functions import reference

if __name__ == "__main__":
    print(reference(), end="")
