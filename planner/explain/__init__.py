"""Plans -> text: what EXPLAIN shows of operators, expressions and the bounds of their state."""
