"""A scalar expression as written -> the same over the columns of a plan's input, typed, with all casts written out.

The input is left as it is. Everything that is wrong is reported; an expression with a wrong part resolves to None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics.codes.expression_types import (
    T001,
    T002,
    T007,
    T008,
    T010,
    T011,
)
from penstock.diagnostics.codes.names import N001, N006
from penstock.diagnostics.diagnostic import Diagnostic
from penstock.parser import name_text, string_text
from penstock.planner.functions import is_bare
from penstock.planner.functions.elsewhere import is_unit_or_type
from penstock.planner.plan.reserved import choose_unused_name
from penstock.planner.scalars import operators
from penstock.planner.scalars.absent_fields import propose_element, propose_field
from penstock.planner.scalars.arrows import read_arrows
from penstock.planner.scalars.calls import Argument, fit
from penstock.planner.scalars.common_types import type_of
from penstock.planner.scalars.framed import propose_framed
from penstock.planner.scalars.implicit import unify_comparable
from penstock.planner.scalars.known import known_function
from penstock.planner.scalars.literals import MONTH_UNITS, bare, interval_literal, number_type, unit_of
from penstock.planner.scalars.operators import MONTHS
from penstock.planner.scalars.scopes import COMPARED, Scope, add_nearest, is_same_name
from penstock.planner.scalars.sizes import size_problem
from penstock.planner.scalars.typed import Typed, make_typed, unify_values
from penstock.planner.types import BOOLEAN, INT, INTEGERS, INTERVAL, STRING, VOID, Array, Map, Struct, Type


class Resolver(msgspec.Struct, frozen=True):
    """What is known where an expression stands: columns, and the parameters of the lambdas around it."""

    scope: Scope
    findings: list[Diagnostic]
    parameters: tuple[tuple[str, str, Type], ...] = ()
    """For each parameter: its name as written, its name in the plan, which no column has, and its type."""

    def resolve(self, node: exp.Expression) -> Typed | None:
        """The expression, typed; None if something in it was reported."""
        rule = _RULES.get(type(node))
        if rule is not None:
            return rule(self, node)
        self._not_allowed(node, _CONSTRUCTS.get(type(node), type(node).__name__))
        return None

    def boolean(self, node: exp.Expression, clause: str) -> exp.Expression | None:
        """A condition; None if it is not BOOLEAN or something in it was reported."""
        condition = self.resolve(node)
        if condition is None:
            return None
        if condition.type not in (BOOLEAN, VOID):
            self.findings.append(T001.at(condition.span, clause=clause, type=condition.type))
            return None
        return condition.to(BOOLEAN)

    def _all(self, nodes: Sequence[exp.Expression]) -> list[Typed] | None:
        """All of them, or None after the problems of all have been reported."""
        resolved = [self.resolve(node) for node in nodes]
        known = [each for each in resolved if each is not None]
        return known if len(known) == len(resolved) else None

    def _not_allowed(self, node: exp.Expression, construct: str) -> None:
        span = node.meta.get("span")
        hint = f"STRUCT{span.text}" if isinstance(node, exp.Tuple) and span is not None else None
        self.findings.append(T008.at(span, construct=construct).with_sql(hint))

    # Names

    def _path(self, node: exp.Expression) -> Typed | None:
        """`a.b.c`: a parameter's field, else a relation's column and its field, else a column's field."""
        parts: list[exp.Identifier] = []
        base: exp.Expression = node
        while isinstance(base, exp.Dot) and isinstance(base.expression, exp.Identifier):
            parts.insert(0, base.expression)
            base = base.this
        if isinstance(base, exp.Dot):
            self._not_allowed(node, "*")
            return None
        if isinstance(base, exp.Identifier):
            parts.insert(0, base)
        elif not isinstance(base, exp.Column):
            start = self.resolve(base)
            return None if start is None else self._fields(node, start, parts)
        elif isinstance(base.this, exp.Star):
            self._not_allowed(node, "*")
            return None
        else:
            parts = [base.args[part] for part in ("catalog", "db", "table", "this") if base.args.get(part)] + parts
        first = parts[0].name
        for written, name, type_ in reversed(self.parameters):
            if is_same_name(written, first):
                local = make_typed(node, exp.to_identifier(name, quoted=True), type_)
                return self._fields(node, local, parts[1:])
        if len(parts) == 1 and is_bare(first) and not self.scope.named(first):
            return self._call(make_typed(node, exp.Anonymous(this=first.upper()), VOID).expression)
        shared = self.scope.find_shared(first)
        if shared is not None and not isinstance(shared.value, exp.Column) and not self.scope.named(first):
            value = self.resolve(shared.value)
            return None if value is None else self._fields(node, value, parts[1:])
        taken = 1
        if len(parts) > 1 and (self.scope.named(parts[1].name, first) or not self.scope.named(first)):
            taken = 2
        reference = exp.Column(this=parts[taken - 1].copy(), table=parts[0].copy() if taken == 2 else None)
        if "span" in node.meta:
            reference.meta["span"] = node.meta["span"]
        if isinstance(node.parent, _COMPARING):
            reference.meta[COMPARED] = True
        found = self.scope.find(reference, self.findings)
        if found is None:
            return None
        column = exp.Column(this=exp.to_identifier(found.column, quoted=True))
        return self._fields(node, make_typed(node, column, found.type), parts[taken:])

    def _fields(self, node: exp.Expression, value: Typed, fields: Sequence[exp.Identifier]) -> Typed | None:
        for place, field in enumerate(fields):
            declared = value.type.fields if isinstance(value.type, Struct) else ()
            found = next(((name, type_) for name, type_ in declared if is_same_name(name, field.name)), None)
            if found is None:
                problem = N006.at(node.meta.get("span"), type=value.type, name=field.name)
                written = propose_field(node, value, [each.name for each in fields[place:]])
                if isinstance(value.type, Map) and isinstance(value.expression, exp.Column):
                    problem = problem.with_sql(f"{name_text(value.expression.name)}[{string_text(field.name)}]")
                elif written is not None:
                    problem = problem.with_sql(written)
                else:
                    problem = add_nearest(problem, field.name, (name for name, _ in declared))
                self.findings.append(problem)
                return None
            dot = exp.Dot(this=value.expression, expression=exp.to_identifier(found[0], quoted=True))
            value = make_typed(node, dot, found[1])
        return value

    # Literals

    def _literal(self, node: exp.Expression) -> Typed | None:
        if node.args.get("is_string"):
            return make_typed(node, node.copy(), STRING)
        return self._number(node, node.name)

    def _number(self, node: exp.Expression, text: str) -> Typed | None:
        type_ = number_type(text)
        if type_ is None:
            reason = "numbers have at most 38 digits, or lie below 1.8e308 with an exponent"
            self.findings.append(T010.at(node.meta.get("span"), text=text, type="number").because(reason))
            return None
        return make_typed(node, node.copy(), type_)

    def _boolean(self, node: exp.Expression) -> Typed | None:
        return make_typed(node, node.copy(), BOOLEAN)

    def _null(self, node: exp.Expression) -> Typed | None:
        return make_typed(node, node.copy(), VOID)

    def _interval(self, node: exp.Interval) -> Typed | None:
        if unit_of(node) in MONTH_UNITS:
            problem = T011.at(node.meta.get("span"), unit=unit_of(node))
            self.findings.append(problem.because("it can only be added to or subtracted from a DATE or TIMESTAMP"))
            return None
        literal = interval_literal(node, self.findings)
        return None if literal is None else make_typed(node, literal, INTERVAL)

    # Operators

    def _binary(self, node: exp.Expression) -> Typed | None:
        left, right = self._operand(node, node.this), self._operand(node, node.args["expression"])
        return None if left is None or right is None else _BINARY[type(node)](node, left, right, self.findings)

    def _operand(self, node: exp.Expression, operand: exp.Expression) -> Typed | None:
        """One side of an operator; intervals of months are known to + and - only."""
        inner = bare(operand)
        if isinstance(node, exp.Add | exp.Sub) and isinstance(inner, exp.Interval) and unit_of(inner) in MONTH_UNITS:
            literal = interval_literal(inner, self.findings)
            return None if literal is None else make_typed(operand, literal, MONTHS)
        return self.resolve(operand)

    def _unary(self, node: exp.Unary) -> Typed | None:
        inner = bare(node.this)
        if isinstance(node, exp.Neg) and isinstance(inner, exp.Literal) and not inner.is_string:
            return self._number(node, f"-{inner.name}")
        operand = self.resolve(node.this)
        return None if operand is None else operators.unary(node, operand, self.findings)

    def _paren(self, node: exp.Paren) -> Typed | None:
        inner = self.resolve(node.this)
        return None if inner is None else make_typed(node, exp.Paren(this=inner.expression), inner.type)

    def _is(self, node: exp.Is) -> Typed | None:
        operand = self.resolve(node.this)
        if operand is None:
            return None
        if isinstance(node.expression, exp.Boolean) and operand.type not in (BOOLEAN, VOID):
            self.findings.append(T002.at(operand.span, operator="IS", types=operand.type))
            return None
        return make_typed(node, exp.Is(this=operand.expression, expression=node.expression.copy()), BOOLEAN)

    def _cast(self, node: exp.Cast) -> Typed | None:
        operand, target = self.resolve(node.this), type_of(node.to, self.findings)
        if operand is None or target is None:
            return None
        return operators.conversion(node, operand, target, self.findings)

    def _in(self, node: exp.In) -> Typed | None:
        if node.args.get("query") is not None:
            self._not_allowed(node, "a subquery")
            return None
        values = self._all([node.this, *node.expressions])
        found = None if values is None else unify_comparable(node, "IN", values, self.findings)
        if found is None:
            return None
        first, *rest = found
        return make_typed(node, exp.In(this=first, expressions=rest), BOOLEAN)

    def _between(self, node: exp.Between) -> Typed | None:
        values = self._all([node.this, node.args["low"], node.args["high"]])
        found = None if values is None else unify_comparable(node, "BETWEEN", values, self.findings)
        if found is None:
            return None
        value, low, high = found
        return make_typed(node, exp.Between(this=value, low=low, high=high), BOOLEAN)

    def _case(self, node: exp.Case) -> Typed | None:
        branches = node.args["ifs"]
        otherwise = node.args.get("default")
        results = self._all([branch.args["true"] for branch in branches] + ([otherwise] if otherwise else []))
        subject = None
        if node.this is None:
            conditions = [self.boolean(branch.this, "WHEN") for branch in branches]
            whens = [condition for condition in conditions if condition is not None]
            sound = len(whens) == len(branches)
        else:
            values = self._all([node.this, *(branch.this for branch in branches)])
            equals = None if values is None else unify_comparable(node, "CASE", values, self.findings)
            subject, *whens = equals if equals is not None else (None,)
            sound = equals is not None
        found = None if results is None else unify_values(node, "CASE", results, self.findings)
        if found is None or not sound:
            return None
        thens, type_ = found
        ifs = [exp.If(this=when, true=then) for when, then in zip(whens, thens, strict=False)]
        default = thens[-1] if otherwise else None
        return make_typed(node, exp.Case(this=subject, ifs=ifs, default=default), type_)

    def _bracket(self, node: exp.Bracket) -> Typed | None:
        values = self._all([node.this, *node.expressions])
        if values is None:
            return None
        container, *indices = values
        match container.type:
            case Array(element) if len(indices) == 1 and indices[0].type in INTEGERS[:3]:
                key, type_ = INT, element
            case Map(key, type_) if len(indices) == 1 and indices[0].type == key:
                pass
            case _:
                types = " and ".join(str(value.type) for value in values)
                found = T002.at(node.meta.get("span"), operator="[]", types=types)
                self.findings.append(found.with_sql(propose_element(container, indices)))
                return None
        return make_typed(node, exp.Bracket(this=container.expression, expressions=[indices[0].to(key)]), type_)

    # Calls

    def _call(self, node: exp.Expression) -> Typed | None:
        function = known_function(node, self.findings, in_window=self.scope.has_window)
        if function is not None and function.operator is not None and len(node.expressions) == 2:
            return self._tried(node, function.name, function.operator)
        if function is not None and function.aggregate:
            self.findings.append(T007.at(node.meta.get("span"), name=function.name))
            return None
        words = [each for each in node.expressions if self._is_word(each)]
        if function is not None and words:
            found = N001.at(words[0].meta.get("span"), name=words[0].name)
            self.findings.append(found.with_sql(string_text(words[0].name), after=f" is what {function.name} takes"))
            return None
        if function is None:
            self._arguments([each for each in node.expressions if not self._is_word(each)])
            return None
        arguments = self._arguments(read_arrows(function, node.expressions))
        if function.framed:
            found = T008.at(node.meta.get("span"), construct=f"{function.name} without OVER")
            hint = propose_framed(function, node)
            self.findings.append(found.because("It needs the order of the rows of a frame.").with_hint(hint))
            return None
        if arguments is None:
            return None
        fitted = fit(node, function, arguments, self._lambda, self.findings)
        if fitted is None:
            return None
        call = exp.Anonymous(this=function.stands_for or function.name, expressions=list(fitted.arguments))
        form = call if function.form is None else function.form(fitted.arguments)
        result = make_typed(node, form, fitted.type)
        problem = size_problem(call)
        if problem is None:
            return result
        self.findings.append(problem)
        return None

    def _is_word(self, node: exp.Expression) -> bool:
        """Whether it is a unit or a type that a function of another system takes without quotes, and no column."""
        is_name = isinstance(node, exp.Column) and not node.table and not self.scope.named(node.name)
        return is_name and is_unit_or_type(node.name)

    def _tried(self, node: exp.Expression, name: str, operator: type[exp.Expression]) -> Typed | None:
        """An operator that is called as a function, which gives NULL where it fails."""
        left, right = node.expressions
        as_operator = operator(this=left.copy(), expression=right.copy())
        as_operator.meta.update(node.meta, gives_null=True)
        value = self._binary(as_operator)
        if value is None:
            return None
        operands = [value.expression.this, value.expression.args["expression"]]
        return make_typed(node, exp.Anonymous(this=name, expressions=operands), value.type)

    def _arguments(self, nodes: Sequence[exp.Expression]) -> list[Argument] | None:
        """Arguments of a call; lambdas stay as they are until the types of their parameters are known."""
        arguments = [node if isinstance(node, exp.Lambda) else self.resolve(node) for node in nodes]
        known = [argument for argument in arguments if argument is not None]
        return known if len(known) == len(arguments) else None

    def _lambda(self, node: exp.Lambda, types: tuple[Type, ...], findings: list[Diagnostic]) -> Typed | None:
        """A lambda. Its `type` is the type of the body's value."""
        # In `id -> id + t.id` a column stands beside a parameter of its name; in a plan columns have no `t.` any more.
        taken = [each.column for each in (*self.scope.columns, *self.scope.beyond)]
        taken += [name for _, name, _ in self.parameters]
        written = [parameter.name for parameter in node.expressions]
        names: list[str] = []
        for each in written:
            names.append(choose_unused_name(each, [*taken, *names]))
        known = (*self.parameters, *zip(written, names, types, strict=True))
        body = replace(self, findings=findings, parameters=known).resolve(node.this)
        if body is None:
            return None
        parameters = [exp.to_identifier(name, quoted=True) for name in names]
        return make_typed(node, exp.Lambda(this=body.expression, expressions=parameters), body.type)

    def _filter(self, node: exp.Filter) -> Typed | None:
        name = node.this.name.upper() if isinstance(node.this, exp.Anonymous) else "FILTER"
        self.findings.append(T007.at(node.meta.get("span"), name=name))
        return None


_BINARY: dict[type[exp.Expression], Callable[[exp.Expression, Typed, Typed, list[Diagnostic]], Typed | None]] = {
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod), operators.arithmetic),
    **dict.fromkeys((exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor), operators.bitwise),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), operators.comparison),
    **dict.fromkeys((exp.NullSafeEQ, exp.NullSafeNEQ), operators.comparison),
    **dict.fromkeys((exp.Like, exp.ILike, exp.RegexpLike), operators.matching),
    **dict.fromkeys((exp.And, exp.Or), operators.connective),
    exp.DPipe: operators.concatenation,
}

_RULES: dict[type[exp.Expression], Callable[[Resolver, Any], Typed | None]] = {
    exp.Column: Resolver._path,
    exp.Identifier: Resolver._path,
    exp.Dot: Resolver._path,
    exp.Literal: Resolver._literal,
    exp.Boolean: Resolver._boolean,
    exp.Null: Resolver._null,
    exp.Interval: Resolver._interval,
    **dict.fromkeys(_BINARY, Resolver._binary),
    exp.Neg: Resolver._unary,
    exp.Not: Resolver._unary,
    exp.BitwiseNot: Resolver._unary,
    exp.Paren: Resolver._paren,
    exp.Is: Resolver._is,
    exp.Cast: Resolver._cast,
    exp.TryCast: Resolver._cast,
    exp.In: Resolver._in,
    exp.Between: Resolver._between,
    exp.Case: Resolver._case,
    exp.Bracket: Resolver._bracket,
    exp.Anonymous: Resolver._call,
    exp.Filter: Resolver._filter,
}

_COMPARING = (exp.EQ, exp.NEQ, exp.In, exp.Like, exp.ILike)
_CONSTRUCTS: dict[type[exp.Expression], str] = {
    exp.Window: "OVER",
    exp.Exists: "EXISTS",
    exp.Subquery: "a subquery",
    exp.Star: "*",
    exp.Lambda: "a lambda",
    exp.Distinct: "DISTINCT",
    exp.Tuple: "a row of values",
    exp.WithinGroup: "WITHIN GROUP",
}
