"""Replaces the columns of expressions by other expressions. Parameters of lambdas capture no names in these.

Both forms of expressions are taken. As written, a lambda's body names its parameters like columns. Resolved,
parameters are bare identifiers whose names no column in sight has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from sqlglot import exp

from penstock.planner.plan.expressions import Expression, make_column
from penstock.planner.plan.reserved import choose_unused_name


def substitute(expression: Expression, values: Mapping[str, Expression]) -> Expression:
    """A resolved expression in which each column is replaced by the value for its name."""
    return substitute_columns(expression, lambda column: values[column.name])


def substitute_names(expression: Expression, names: Mapping[str, str]) -> Expression:
    """A resolved expression over columns of other names. `names` has the new name of each of its columns."""
    return substitute(expression, {old: make_column(new) for old, new in names.items()})


def substitute_columns(expression: Expression, value_of: Callable[[exp.Column], Expression | None]) -> Expression:
    """A copy in which the columns that have a value are replaced by it."""
    # A root of its own, because a node without a parent cannot be replaced in place.
    root = exp.Paren(this=expression.copy())
    replacements = [(each, value) for each in free_columns(root) if (value := value_of(each)) is not None]
    taken = {each.name.casefold() for _, value in replacements for each in value.find_all(exp.Identifier)}
    for function in list(root.find_all(exp.Lambda)):
        rename_parameters(function, taken)
    for each, value in replacements:
        each.replace(value.copy())
    result: Expression = root.this
    return result.pop()


def free_columns(expression: Expression, *, in_over: bool = True) -> Iterator[exp.Column]:
    """The columns in the expression that are no parameters of lambdas around them."""
    pending = [(expression, frozenset[str]())]
    while pending:
        node, parameters = pending.pop()
        if isinstance(node, exp.Column):
            if node.parts[0].name.casefold() not in parameters:
                yield node
        elif isinstance(node, exp.Lambda):
            pending.append((node.this, parameters | {each.name.casefold() for each in node.expressions}))
        elif in_over or not isinstance(node, exp.Window):
            pending += reversed([(each, parameters) for each in node.iter_expressions()])


def rename_parameters(function: exp.Lambda, taken: Iterable[str]) -> None:
    """Gives a lambda's parameters names that are not taken, here and where its body refers to them."""
    used = {*taken, *(each.name.casefold() for each in function.find_all(exp.Identifier))}
    for name in {each.name.casefold() for each in function.expressions} & set(taken):
        fresh = choose_unused_name(name, used)
        used.add(fresh)
        for each in list(function.find_all(exp.Identifier)):
            if each.name.casefold() == name and is_reference(each):
                each.set("this", fresh)


def is_reference(name: exp.Identifier) -> bool:
    """Whether an identifier in a lambda can name a parameter: it is no field, nor behind the name of a relation."""
    match name.parent:
        case exp.Column() as column:
            return column.parts[0] is name
        case exp.Dot():
            return name.arg_key == "this"
        case parent:
            return not isinstance(parent, exp.ColumnDef)
