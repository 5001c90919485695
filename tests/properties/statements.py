"""Strategies for statements of the whole AST, as the parser would build them: brackets where they are needed."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import Source, Span
from penstock.grammar import dialect
from penstock.parser.ast import (
    Assignment,
    ColumnDefinition,
    CommonTable,
    ComputedColumn,
    Create,
    CreateAs,
    CreateView,
    Deduplicate,
    Delete,
    Describe,
    Drop,
    DropKind,
    Duration,
    ElseInsert,
    EmitChanges,
    EmitEarly,
    EmitFinal,
    Explain,
    Insert,
    Item,
    Join,
    JoinKind,
    Late,
    Limit,
    MetadataColumn,
    Name,
    NamedWindow,
    Option,
    OrderBy,
    OverClause,
    PartitionBy,
    Pause,
    Query,
    QueryStatement,
    Relation,
    RelationKind,
    Resume,
    Select,
    SetOperation,
    SetOption,
    SetQuery,
    Show,
    ShowCreate,
    ShowKind,
    Stage,
    Statement,
    Subquery,
    Table,
    UnionQuery,
    UnnestedTable,
    Unnesting,
    Update,
    Watermark,
    WindowedTable,
    WindowKind,
    With,
    Within,
)

NOWHERE = st.just(Span(Source("<generated>", ""), 0, 0))
UNITS = ["MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR"]


@st.composite
def keywords(draw: st.DrawFn) -> str:
    """A function, so that Hypothesis does not print all keywords wherever one may stand."""
    return draw(st.sampled_from(sorted(dialect().keywords))).lower()


words = st.one_of(
    st.sampled_from(["a", "b", "time", "Key", "order_id"]),
    keywords(),
    st.text(min_size=1, max_size=5),
)
names = st.builds(Name, words, NOWHERE)
identifiers = st.builds(lambda text: exp.Identifier(this=text, quoted=False), words)
quantities = st.from_regex(r"[0-9]{1,4}(\.[0-9]{1,2})?", fullmatch=True)
durations = st.builds(Duration, quantities, st.sampled_from(UNITS), NOWHERE)
numbers = st.from_regex(r"[0-9]{1,5}(\.[0-9]{1,3})?(e[+-]?[0-9]{1,2})?", fullmatch=True).map(exp.Literal.number)
strings = st.text(max_size=6).map(lambda text: exp.Literal(this=text, is_string=True))
intervals = st.builds(
    lambda quantity, unit: exp.Interval(this=exp.Literal(this=quantity, is_string=True), unit=exp.Var(this=unit)),
    quantities,
    st.sampled_from(UNITS),
)


def _some(strategy: st.SearchStrategy[Any], most: int = 3) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, min_size=1, max_size=most).map(tuple)


def _kind(kind: Any, **arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[exp.Expression]:
    return st.fixed_dictionaries(arguments).map(lambda values: kind(**values))


_T = exp.DType
_simple = st.sampled_from(
    [_T.BOOLEAN, _T.TINYINT, _T.SMALLINT, _T.INT, _T.BIGINT, _T.FLOAT, _T.DOUBLE, _T.TEXT, _T.BINARY, _T.TIMESTAMPTZ]
).map(lambda kind: exp.DataType(this=kind, nested=False))
_decimal = st.lists(st.integers(1, 38), min_size=1, max_size=2).map(
    lambda sizes: exp.DataType(
        this=_T.DECIMAL,
        expressions=[exp.DataTypeParam(this=exp.Literal.number(size)) for size in sizes],
        nested=False,
    )
)


def _nested_types(inner: st.SearchStrategy[exp.DataType]) -> st.SearchStrategy[exp.DataType]:
    fields = st.builds(lambda name, kind: exp.ColumnDef(this=name, kind=kind), identifiers, inner)
    return st.one_of(
        inner.map(lambda kind: exp.DataType(this=_T.ARRAY, expressions=[kind], nested=True)),
        st.lists(inner, min_size=2, max_size=2).map(lambda ks: exp.DataType(this=_T.MAP, expressions=ks, nested=True)),
        st.lists(fields, min_size=1, max_size=3).map(
            lambda fs: exp.DataType(this=_T.STRUCT, expressions=fs, nested=True)
        ),
    )


types = st.recursive(_simple | _decimal, _nested_types, max_leaves=4)

_columns = st.one_of(
    _kind(exp.Column, this=identifiers),
    _kind(exp.Column, this=identifiers, table=identifiers),
)
_leaves = st.one_of(
    _columns,
    numbers,
    strings,
    intervals,
    st.booleans().map(lambda value: exp.Boolean(this=value)),
    st.builds(exp.Null),
)
_BINARY = [
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv, exp.DPipe, exp.BitwiseAnd, exp.BitwiseOr),
    *(exp.BitwiseXor, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.And, exp.Or, exp.Like, exp.ILike, exp.RegexpLike),
]
_BARE = (exp.Column, exp.Literal, exp.Interval, exp.Boolean, exp.Null, exp.Anonymous, exp.Case, exp.Cast, exp.Paren)


def _held(node: exp.Expression) -> exp.Expression:
    """An operand that holds together wherever it stands."""
    return node if isinstance(node, _BARE) else exp.Paren(this=node)


def _compound(inner: st.SearchStrategy[exp.Expression]) -> st.SearchStrategy[exp.Expression]:
    held = inner.map(_held)
    some = st.lists(inner, min_size=1, max_size=3)
    functions = st.sampled_from(["F", "SUM", "AT", "EXISTS", "LEFT", "MIN"])
    calls = _kind(exp.Anonymous, this=functions, expressions=st.lists(inner, max_size=3))
    lambdas = st.builds(
        lambda names, body: exp.Anonymous(
            this="F", expressions=[body, exp.Lambda(this=body.copy(), expressions=names)]
        ),
        st.lists(identifiers, min_size=1, max_size=2),
        inner,
    )
    distinct = some.map(lambda values: exp.Anonymous(this="COUNT", expressions=[exp.Distinct(expressions=values)]))
    filtered = st.builds(lambda call, test: exp.Filter(this=call, expression=exp.Where(this=test)), calls, inner)
    called = calls | distinct | filtered
    windows = st.builds(_window, called, _overs(inner)) | _kind(exp.Window, this=called, alias=identifiers)
    truths = st.builds(exp.Null) | st.booleans().map(lambda value: exp.Boolean(this=value))
    negatable = st.one_of(
        _kind(exp.Between, this=held, low=held, high=held),
        _kind(exp.In, this=held, expressions=some),
        _kind(exp.Is, this=held, expression=truths),
    )
    branches = st.lists(_kind(exp.If, this=inner, true=inner), min_size=1, max_size=2)
    return st.one_of(
        st.builds(lambda kind, left, right: kind(this=left, expression=right), st.sampled_from(_BINARY), held, held),
        _kind(exp.Not, this=negatable) | negatable | _kind(exp.Not, this=held),
        _kind(exp.Neg, this=held) | _kind(exp.BitwiseNot, this=held),
        _kind(exp.Bracket, this=held, expressions=st.lists(inner, min_size=1, max_size=1)),
        _kind(exp.Cast, this=inner, to=types) | _kind(exp.TryCast, this=inner, to=types),
        _kind(exp.Case, this=st.none() | inner, ifs=branches, default=st.none() | inner),
        calls | lambdas | distinct | filtered | windows,
    )


def _ordered(inner: st.SearchStrategy[exp.Expression]) -> st.SearchStrategy[exp.Expression]:
    return _kind(exp.Ordered, this=inner, desc=st.booleans(), nulls_first=st.booleans())


def _overs(inner: st.SearchStrategy[exp.Expression]) -> st.SearchStrategy[OverClause]:
    bounds = st.one_of(
        st.just(("CURRENT ROW", None)),
        st.tuples(st.just("UNBOUNDED") | numbers | intervals, st.sampled_from(["PRECEDING", "FOLLOWING"])),
    )
    frames = st.builds(
        lambda kind, start, end: exp.WindowSpec(
            kind=kind, start=start[0], start_side=start[1], end=end[0], end_side=end[1]
        ),
        st.sampled_from(["RANGE", "ROWS"]),
        bounds,
        bounds,
    )
    return st.builds(
        OverClause, st.just(()) | _some(inner, 2), st.just(()) | _some(_ordered(inner), 2), st.none() | frames, NOWHERE
    )


def _window(call: exp.Expression, over: OverClause) -> exp.Window:
    order = exp.Order(expressions=list(over.order_by)) if over.order_by else None
    return exp.Window(this=call, partition_by=list(over.partition_by), order=order, spec=over.frame)


scalars = st.recursive(_leaves, _compound, max_leaves=6)
_secrets = st.builds(
    lambda kind, name: exp.Anonymous(this=kind, expressions=[name]), st.sampled_from(("ENV", "FILE")), strings
)
options = st.builds(
    Option,
    names,
    st.one_of(strings, numbers, intervals, numbers.map(lambda number: exp.Neg(this=number)), _secrets),
)
aliases = st.none() | names
_columns_named = st.just(()) | st.lists(names, min_size=1, max_size=2).map(tuple)
tables = st.builds(Table, names, aliases, st.none() | _overs(_columns), st.none() | _columns, NOWHERE)


def _relations(query: st.SearchStrategy[Query]) -> st.SearchStrategy[Relation]:
    # Not by `builds`: it looks for the types of the fields, and that of the query is known to type checkers only.
    subqueries = st.one_of(
        st.tuples(query, aliases, st.just(()), st.none() | _overs(_columns), NOWHERE),
        st.tuples(query, names, _columns_named, st.none() | _overs(_columns), NOWHERE),
    ).map(lambda parts: Subquery(*parts))
    source = tables | subqueries

    def windowed(kind: WindowKind) -> st.SearchStrategy[WindowedTable]:
        count = 2 if kind in (WindowKind.HOP, WindowKind.CUMULATE) else 1
        lengths = st.lists(durations, min_size=count, max_size=count).map(tuple)
        return st.builds(WindowedTable, st.just(kind), source, scalars, lengths, st.none(), aliases, NOWHERE)

    named = st.builds(Table, names, st.none(), st.none(), st.none(), NOWHERE)
    columns = st.lists(st.builds(lambda name: exp.Column(this=name), identifiers), max_size=2).map(tuple)
    lengths = durations.map(lambda length: (length,))
    sessions = st.builds(WindowedTable, st.just(WindowKind.SESSION), named, scalars, lengths, columns, aliases, NOWHERE)
    unnested = st.builds(
        UnnestedTable, st.just(Unnesting.UNNEST), scalars, st.booleans(), names, _columns_named, NOWHERE
    )
    views = st.builds(
        UnnestedTable, st.sampled_from([*Unnesting][1:]), scalars, st.just(False), aliases, _columns_named, NOWHERE
    )
    single = source | st.sampled_from(WindowKind).flatmap(windowed) | sessions
    joined = _joins(single, single)
    viewed = st.builds(
        Join, joined, views, st.sampled_from([JoinKind.INNER, JoinKind.LEFT]), st.none(), st.none(), st.just(()),
        st.just(False), NOWHERE,
    )  # fmt: skip
    return single | joined | _joins(joined, single) | _joins(joined, unnested) | viewed


def _joins(left: st.SearchStrategy[Relation], right: st.SearchStrategy[Relation]) -> st.SearchStrategy[Join]:
    @st.composite
    def join(draw: st.DrawFn) -> Join:
        sides, kind, place = (draw(left), draw(right)), draw(st.sampled_from(JoinKind)), draw(NOWHERE)
        if draw(st.booleans()):
            return Join(*sides, kind, None, None, (), True, place)
        using = draw(st.just(()) | _some(names))
        graces = st.none() | durations
        within = draw(st.none() | st.builds(Within, durations, durations, graces, NOWHERE))
        return Join(*sides, kind, within, None if using else draw(st.none() | scalars), using, False, place)

    return join()


def _selects(query: st.SearchStrategy[Query]) -> st.SearchStrategy[Select]:
    stars = st.builds(exp.Star) | identifiers.map(lambda table: exp.Column(this=exp.Star(), table=table))
    inner = scalars | st.builds(lambda left, inside: exp.In(this=_held(left), query=inside), scalars, query)
    values = inner | query.map(lambda inside: exp.Exists(this=inside)) | query.map(lambda q: exp.Subquery(this=q))
    emits = st.one_of(
        st.builds(EmitFinal, NOWHERE), st.builds(EmitChanges, NOWHERE), st.builds(EmitEarly, durations, NOWHERE)
    )
    return st.builds(
        Select,
        stream=st.booleans(),
        distinct=st.booleans(),
        items=_some(
            st.builds(Item, values, aliases, NOWHERE)
            | st.builds(Item, stars, st.none(), NOWHERE, st.just(()) | _some(names))
        ),
        relation=_relations(query),
        where=st.none() | values,
        deduplicate=st.none() | st.builds(Deduplicate, _some(scalars), durations, NOWHERE),
        group_by=st.just(()) | _some(scalars | _grouping_sets),
        having=st.none() | scalars,
        windows=st.just(()) | _some(st.builds(NamedWindow, names, _overs(_columns)), 2),
        qualify=st.none() | scalars,
        partition_by=st.none() | st.builds(PartitionBy, _some(scalars), st.none() | st.integers(1, 999_999), NOWHERE),
        emit=st.none() | emits,
        grace=st.none() | durations,
        retention=st.none() | durations,
        late=st.none() | st.builds(Late, aliases, NOWHERE),
        order_by=st.none() | st.builds(OrderBy, _some(_ordered(scalars)), NOWHERE),
        limit=_limits,
        span=NOWHERE,
    )


_limits = st.none() | st.one_of(
    st.builds(Limit, st.integers(0, 999_999_999), st.integers(0, 5), NOWHERE),
    st.builds(Limit, st.none(), st.integers(1, 5), NOWHERE),
)
_sets = st.lists(scalars, max_size=3).map(lambda keys: exp.Tuple(expressions=keys))
_grouping_sets = st.lists(_sets, min_size=1, max_size=3).map(lambda sets: exp.GroupingSets(expressions=sets))
_plain = st.builds(
    lambda item, of: Select(
        False, False, (item,), of, None, None, (), None, (), None, None, None, None, None, None, None, None, of.span
    ),
    st.builds(Item, scalars, aliases, NOWHERE),
    tables,
)


def _queries(query: st.SearchStrategy[Query]) -> st.SearchStrategy[Query]:
    selects = _selects(query)
    # What stands behind the last one belongs to the whole.
    last = selects.map(lambda select: replace(select, order_by=None, limit=None))
    branches = st.tuples(st.lists(selects, min_size=1, max_size=2), last).map(lambda parts: (*parts[0], parts[1]))
    unions = st.builds(UnionQuery, branches, NOWHERE)
    sets = st.builds(SetQuery, st.sampled_from(SetOperation), selects, last, NOWHERE)
    bodies = selects | unions | sets
    common = st.builds(CommonTable, names, _columns_named, query)
    return bodies | st.builds(With, _some(common, 2), bodies, NOWHERE)


queries: st.SearchStrategy[Query] = st.recursive(_plain, _queries, max_leaves=2)


def _column(
    name: Name, kind: exp.DataType, key: tuple[bool, bool], not_null: bool, comment: str | None, span: Span
) -> ColumnDefinition:
    default = exp.Literal.number(1) if not_null else None
    return ColumnDefinition(name, kind, key[0], key[1], not_null, default, comment, span)


_keys = st.sampled_from([(False, False), (True, False), (True, True)])
_comments = st.none() | st.just("it's")
_column_definitions = st.builds(_column, names, types, _keys, st.booleans(), _comments, NOWHERE)
_metadata_columns = st.builds(
    MetadataColumn, names, types, st.sampled_from(["file.path", "it's"]), st.booleans(), _comments, NOWHERE
)
_computed_columns = st.builds(ComputedColumn, names, scalars, _comments, NOWHERE)
_many_options = st.just(()) | _some(options)
_streamed = st.builds(Table, names, aliases, st.none(), st.none(), NOWHERE)
_flags = (st.booleans(), st.booleans())
_watermarks = st.none() | st.builds(Watermark, names, scalars, st.none() | durations, NOWHERE)
_defaults = st.none() | st.builds(ElseInsert, _some(names), _some(scalars), NOWHERE)
_single: st.SearchStrategy[Statement] = st.one_of(
    st.builds(QueryStatement, queries, NOWHERE),
    st.builds(
        Create,
        st.sampled_from(RelationKind),
        names,
        *_flags,
        _some(_column_definitions | _computed_columns | _metadata_columns),
        _watermarks,
        _comments,
        _many_options,
        st.none() | names,
        NOWHERE,
    ),
    st.builds(CreateAs, st.sampled_from(RelationKind), names, *_flags, _comments, _many_options, queries, NOWHERE),
    st.builds(CreateView, names, *_flags, st.just(()) | _some(names), _comments, queries, NOWHERE),
    st.builds(Insert, names, st.just(()) | _some(names), queries, NOWHERE),
    st.builds(Delete, names, _streamed, scalars, NOWHERE),
    st.builds(Update, names, _some(st.builds(Assignment, names, scalars)), _streamed, scalars, _defaults, NOWHERE),
    st.builds(Show, st.sampled_from(ShowKind), NOWHERE),
    st.builds(ShowCreate, names, NOWHERE),
    st.builds(Describe, names, NOWHERE),
    st.builds(Drop, st.sampled_from(DropKind), names, st.booleans(), NOWHERE),
    st.builds(Pause, names, NOWHERE),
    st.builds(Resume, names, NOWHERE),
    st.builds(SetOption, options, NOWHERE),
)
statements: st.SearchStrategy[Statement] = _single | st.builds(
    Explain, st.none() | st.sampled_from(Stage), _single, NOWHERE
)
