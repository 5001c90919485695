"""`penstock fmt`: scripts in one canonical layout, by their tokens, so that every spelling stays as it is."""

from penstock.parser.format.script import LayoutError, format_script, format_tests

__all__ = ["LayoutError", "format_script", "format_tests"]
