"""A call of an aggregate as written -> its arguments, DISTINCT, FILTER and order over the columns of a plan's input."""

from __future__ import annotations

from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics.codes.expression_types import T008
from penstock.diagnostics.codes.kinds import K018
from penstock.planner.plan.expressions import Aggregate, Sorting
from penstock.planner.scalars.arrows import read_arrows
from penstock.planner.scalars.calls import fit
from penstock.planner.scalars.known import known_function
from penstock.planner.scalars.resolver import Resolver
from penstock.planner.types import BIGINT, is_ordered


class AggregateResolver(Resolver, frozen=True):
    """What is known where a call of an aggregate stands."""

    def aggregate(self, call: exp.Expression) -> Aggregate | None:
        """A call of an aggregate function, or of one over a frame, with DISTINCT and FILTER."""
        span = call.meta.get("span")
        condition = None
        sound = True
        if isinstance(call, exp.Filter):
            condition = self.boolean(call.expression.this, "FILTER")
            sound = condition is not None
            call = call.this
        order = call.expression if isinstance(call, exp.WithinGroup) else None
        call = call.this if isinstance(call, exp.WithinGroup) else call
        if not isinstance(call, exp.Anonymous):
            self._not_allowed(call, type(call).__name__)
            return None
        function = known_function(call, self.findings, in_window=self.scope.has_window)
        if function is None:
            return None
        if not (function.aggregate or function.framed):
            self.findings.append(T008.at(call.meta.get("span"), construct=f"{function.name} without aggregate"))
            return None
        written = call.expressions
        distinct = len(written) == 1 and isinstance(written[0], exp.Distinct)
        if distinct:
            written = written[0].expressions
        distinct = distinct or function.is_distinct
        if order is not None and (function.collecting is None or not function.collecting.takes_order):
            self._not_allowed(order, f"ORDER BY inside {function.name}")
            return None
        if function.name == "COUNT" and len(written) == 1 and isinstance(written[0], exp.Star) and not distinct:
            return Aggregate("", "COUNT", (), False, condition, BIGINT, span) if sound else None
        arguments = self._arguments(read_arrows(function, written))
        if arguments is None:
            return None
        fitted = fit(call, function, arguments, self._lambda, self.findings)
        if fitted is None or not sound:
            return None
        found = Aggregate("", function.name, fitted.arguments, distinct, condition, fitted.type, span)
        return found if order is None else self._order(order, found)

    def _order(self, order: exp.Expression, aggregate: Aggregate) -> Aggregate | None:
        """The aggregate in that order; None (reported) for values that have none, or are not there once."""
        keys = self._all([each.this for each in order.expressions])
        if keys is None:
            return None
        unordered = next((each for each in keys if not is_ordered(each.type)), None)
        if unordered is not None:
            self.findings.append(K018.at(unordered.span, "", type=unordered.type))
            return None
        if aggregate.distinct and any(each.expression != aggregate.arguments[0] for each in keys):
            self._not_allowed(order, f"ORDER BY another value than the one that {aggregate.function} keeps once")
            return None
        pairs = zip(order.expressions, keys, strict=True)
        order_by = tuple(
            Sorting(key.expression, bool(each.args.get("desc")), bool(each.args.get("nulls_first")))
            for each, key in pairs
        )
        return replace(aggregate, order_by=order_by)
