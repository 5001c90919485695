"""Where lines may end in each rule of the grammar, and where its tokens have a space between them.

A rule that is not named here is laid out like most: spaces between its tokens, and lists in brackets.
"""

from __future__ import annotations

from collections.abc import Mapping

# Rules in which each part begins a line.
STACKED = frozenset({"clauses", "relation", "union", "branches", "over"})
# Parts that begin a line in any rule.
OWN_LINE = frozenset(
    {
        "select",
        "union",
        "with_query",
        "query_statement",
        "clauses",
        "options",
        "else_insert",
        "branches",
        "sum_operator",
    }
)
# Keywords that begin a line in their rule.
LINE_BEFORE: Mapping[str, frozenset[str]] = {
    "select": frozenset({"FROM"}),
    "delete": frozenset({"USING", "WHERE"}),
    "update": frozenset({"SET", "FROM", "WHERE"}),
    "conjunction": frozenset({"AND"}),
    "disjunction": frozenset({"OR"}),
    "case": frozenset({"ELSE", "END"}),
    "join": frozenset({"ON"}),
}
# Rules that stay on one line if they fit. So do all lists without brackets, but for the queries of WITH.
GROUPED = frozenset({"conjunction", "disjunction", "sum", "case", "join"})
SPREAD = frozenset({"with_query"})
# Rules whose lines behind the first are indented.
HANGING = frozenset({"where", "having", "qualify", "sum", "case", "join", "assignments"})
# Lists that stand below their keyword, indented, if they do not fit.
LISTS = frozenset({"items", "group_by", "order_by", "row_values", "windows"})

# Keywords that have a space before a bracket although they begin their rule.
SPACED = frozenset(
    {"AND", "AS", "BY", "IN", "NOT", "ON", "OR", "OVER", "SELECT", "USING", "VALUES", "WHERE", "WITH", "WITHIN"}
)
# Keywords that have none in any rule.
CALLED = frozenset({"ROW"})
# Rules without spaces: a sign before its operand, brackets of types, parts of a value.
TIGHT = frozenset({"negative", "positive", "bit_not", "negative_number", "field", "all_fields", "option_name"})
ACCESS = "access"
LAMBDA = "lambda"
ANGLED = "nested_type"
NO_SPACE_BEFORE = frozenset({")", "]", ",", ".", ":", "[", "::"})
NO_SPACE_AFTER = frozenset({"(", "[", ".", "::"})
