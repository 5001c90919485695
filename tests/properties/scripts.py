"""Random scripts of the whole dialect over three declared streams, meant to be accepted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

from tests.properties.script_joins import JOINS, write_condition, write_interval
from tests.properties.script_rows import Rows, add_elements
from tests.properties.script_scalars import NESTED, ORDERED, Reference, Scalars
from tests.properties.script_streams import COLUMNS, STREAMS, declarations

_KEYS = ("BIGINT", "STRING", "INT", "DECIMAL", "BOOLEAN", "DATE", "DOUBLE", "TIME")


def script(chance: Random, folder: Path) -> str:
    """The declarations and one random statement behind them, perhaps with a view."""
    writer = Writer(chance)
    statement = writer.statement()
    return "\n".join([declarations(folder), *writer.views, statement + ";"])


class Writer:
    """Draws one statement."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.views: list[str] = []
        self._aliases = 0

    def statement(self) -> str:
        chance = self.chance
        kind = chance.random()
        if kind < 0.12:
            return f"CREATE TABLE result AS {self.table()}"
        if kind < 0.2:
            inner = chance.choice([self.windows, self.over, self.join])(0).sql.replace(" LATE DROP", "")
            return f"CREATE STREAM result AS {inner} LATE INTO late"
        query = self.query(2)
        if kind < 0.25:
            return f"WITH q AS ({query.sql}) SELECT STREAM * FROM q"
        return f"CREATE STREAM result AS {query.sql}" if kind < 0.9 else query.sql

    def query(self, depth: int) -> Rows:
        """A SELECT STREAM with at most `depth` further ones below."""
        plain = (self.projection, self.union)
        stateful = (self.windows, self.windows, self.over, self.over, self.join, self.join, self.join, self.places)
        shapes: tuple[Callable[[int], Rows], ...] = (*plain, *stateful, self.windowed_rows, self.deduplicated)
        return self.chance.choice(shapes)(depth)

    # Relations

    def source(self, depth: int) -> Rows:
        """A relation with a name: a stream, a subquery or a view."""
        self._aliases += 1
        alias = f"t{self._aliases}"
        if depth == 0 or self.chance.random() < 0.5:
            name = self.chance.choice(list(STREAMS))
            return Rows(f"{name} {self.chance.choice(['AS ', ''])}{alias}", COLUMNS, ("time",), alias)
        inner = self.query(depth - 1)
        if self.chance.random() < 0.25:
            self.views.append(f"CREATE VIEW view_{alias} AS {inner.sql};")
            return replace(inner, sql=f"view_{alias} {alias}", alias=alias)
        return replace(inner, sql=f"({inner.sql}) {alias}", alias=alias)

    def timed(self, depth: int) -> Rows:
        """A relation that has an event time."""
        while not (found := self.source(depth)).times:
            pass
        return found

    # Without state

    def projection(self, depth: int) -> Rows:
        rows = add_elements(self.source(depth), self.chance)
        where = self.where(rows)
        if self.chance.random() < 0.15:
            return Rows(f"SELECT STREAM * FROM {rows.sql}{where}", rows.columns, rows.times)
        items, columns = self.items(rows, rows.references(qualified=self.chance.random() < 0.3))
        times = tuple(time for time in rows.times if time in columns)
        distinct = "DISTINCT " if times and self.chance.random() < 0.25 else ""
        return Rows(f"SELECT STREAM {distinct}{items} FROM {rows.sql}{where}", columns, times)

    def items(self, rows: Rows, references: list[Reference]) -> tuple[str, dict[str, str]]:
        """Expressions beside the event times and some columns."""
        scalars = Scalars(self.chance, references)
        shown = {name: type_ for name, type_ in rows.columns.items() if self.chance.random() < 0.5}
        columns = {**dict.fromkeys(rows.times, "TIMESTAMP"), **shown}
        texts = list(columns)
        for _ in range(self.chance.randint(0 if columns else 1, 3)):
            text, type_ = scalars.any()
            self._aliases += 1
            name = f"e{self._aliases}"
            texts.append(f"{text} AS {name}")
            columns[name] = type_
        return ", ".join(texts), columns

    def where(self, rows: Rows, likelihood: float = 0.35) -> str:
        if self.chance.random() > likelihood:
            return ""
        return f" WHERE {Scalars(self.chance, [*rows.references()]).of('BOOLEAN')}"

    def union(self, depth: int) -> Rows:
        """Branches of the same columns."""
        chance = self.chance
        types = [chance.choice((*ORDERED, *NESTED)) for _ in range(chance.randint(1, 3))]
        names = [f"u{number}" for number in range(len(types))]
        branches = []
        for _ in range(chance.randint(2, 3)):
            rows = self.timed(depth)
            scalars = Scalars(chance, rows.references())
            items = [f"{scalars.of(type_)} AS {name}" for name, type_ in zip(names, types, strict=True)]
            branches.append(
                f"SELECT STREAM {rows.times[0]} AS at, {', '.join(items)} FROM {rows.sql}{self.where(rows)}"
            )
        columns = {"at": "TIMESTAMP", **dict(zip(names, types, strict=True))}
        return Rows(" UNION ALL ".join(branches), columns, ("at",))

    # Windows

    def lengths(self) -> tuple[str, str]:
        """A kind of window and its lengths."""
        step = self.chance.choice([1, 2, 5])
        longer = self.chance.choice([step, step * 3, step * 2 + 1])
        kinds = {
            "TUMBLE": write_interval(self.chance, step * 2),
            "HOP": f"{step} SEC, {longer} {self.chance.choice(['SEC', 'SECONDS', 'MINUTES'])}",
            "CUMULATE": f"{step} SEC, {step * 3} {self.chance.choice(['SEC', 'SECONDS', 'MINUTES'])}",
            "SESSION": write_interval(self.chance, step),
        }
        kind = self.chance.choice(list(kinds))
        return kind, kinds[kind]

    def windows(self, depth: int) -> Rows:
        """GROUP BY keys and a window, in both spellings, with sets, HAVING and the clauses behind."""
        chance = self.chance
        rows = self.timed(depth)
        kind, lengths = self.lengths()
        time = rows.time(chance)
        items, columns, group, having = self.grouping(rows, session=kind == "SESSION")
        times = ("window_end",) if kind == "SESSION" else ("window_start", "window_end")
        shown = [each for each in times if chance.random() < 0.9]
        if kind == "SESSION" and chance.random() < 0.5:
            shown.insert(0, "window_start")
        items = ", ".join([*shown, items])
        if chance.random() < 0.5:
            by = ", ".join([*group, f"{kind}({time}, {lengths})"])
            source = rows.sql
        else:
            source = f"{kind}({rows.sql}, {time}, {lengths})"
            by = ", ".join([*group, *(["window_start", "window_end"] if chance.random() < 0.3 else [])])
            by = "ALL" if is_plain(group) and chance.random() < 0.3 else by
        by = f" GROUP BY {by}" if by else ""
        behind = chance.choice(["", "", " EMIT FINAL", " GRACE PERIOD 2 SEC", " LATE DROP"])
        sql = f"SELECT STREAM {items} FROM {source}{self.where(rows)}{by}{having}{behind}"
        columns = {**dict.fromkeys(shown, "TIMESTAMP"), **columns}
        return Rows(sql, columns, tuple(name for name in shown if name in times))

    def grouping(self, rows: Rows, *, session: bool = False) -> tuple[str, dict[str, str], list[str], str]:
        """The items, their columns, the GROUP BY and the HAVING of an aggregation."""
        chance = self.chance
        scalars = Scalars(chance, rows.references())
        keys = {f"g{number}": chance.choice(_KEYS) for number in range(chance.randint(0, 2))}
        texts = {name: scalars.of(type_, 1) for name, type_ in keys.items()}
        group = list(texts.values())
        extra: list[str] = []
        if group and len({*group}) == len(group) and chance.random() < 0.25 and not session:
            kind = chance.choice(["ROLLUP", "CUBE", "GROUPING SETS"])
            group = [f"{kind}({', '.join(group if kind != 'GROUPING SETS' else ['(' + ', '.join(group) + ')', '()'])})"]
            extra = ["GROUPING_ID() AS grouping", f"GROUPING({next(iter(texts.values()))}) AS whole"]
        counted = {f"n{number}": scalars.aggregate() for number in range(chance.randint(1, 3))}
        items = [*(f"{text} AS {name}" for name, text in {**texts, **counted}.items()), *extra]
        having = f" HAVING COUNT(*) > {chance.randint(0, 1)}" if chance.random() < 0.3 else ""
        counts = {name: "BIGINT" if text.startswith(("COUNT", "SUM({INT")) else "" for name, text in counted.items()}
        chance.shuffle(items)
        return ", ".join(items), {**keys, **counts}, group, having

    def windowed_rows(self, depth: int) -> Rows:
        """FROM a window without GROUP BY."""
        rows = self.timed(depth)
        while (lengths := self.lengths())[0] == "SESSION":
            pass
        kind, length = lengths
        time = rows.time(self.chance)
        items, columns = self.items(replace(rows, times=()), rows.references())
        if "window_start" in rows.columns:
            return self.projection(depth)
        items = ", ".join(["window_start", "window_end", items])
        sql = f"SELECT STREAM {items} FROM {kind}({rows.sql}, {time}, {length}){self.where(rows)}"
        return Rows(sql, {"window_start": "TIMESTAMP", "window_end": "TIMESTAMP", **columns})

    def table(self) -> str:
        """A query that gives a table: windows that change, or groups forever."""
        chance = self.chance
        rows = self.timed(chance.randint(0, 1))
        kind, lengths = self.lengths()
        items, _, group, _ = self.grouping(rows)
        if chance.random() < 0.1:
            return f"SELECT DISTINCT {self.items(replace(rows, times=()), rows.references())[0]} FROM {rows.sql}"
        if chance.random() < 0.5:
            everything = ["ALL"] if is_plain(group) else []
            by = f" GROUP BY {chance.choice([*everything, ', '.join(group)])}" if group else ""
            return f"SELECT {items} FROM {rows.sql}{self.where(rows)}{by}"
        by = ", ".join([*group, f"{kind}({rows.times[0]}, {lengths})"])
        emit = chance.choice(["", " EMIT CHANGES", " EMIT EARLY EVERY 1 SECOND", " EMIT FINAL"])
        if chance.random() < 0.3:
            partition = chance.choice(["PARTITION BY window_end", "PARTITION BY window_start, window_end", ""])
            emit = f" QUALIFY ROW_NUMBER() OVER ({partition} ORDER BY n0 DESC) <= 2{emit}"
        return f"SELECT {items} FROM {rows.sql} GROUP BY {by}{emit}"

    # OVER and places

    def over(self, depth: int) -> Rows:
        """Functions over frames of time, by partition, by name, or on the relation."""
        chance = self.chance
        rows = self.timed(depth)
        scalars = Scalars(chance, rows.references())
        time = chance.choice(rows.times)
        windows = [self.window(scalars, time) for _ in range(chance.randint(1, 2))]
        kept = {name: type_ for name, type_ in rows.columns.items() if chance.random() < 0.4 or name == time}
        columns = dict(kept)
        items = list(kept)
        for _ in range(chance.randint(1, 3)):
            self._aliases += 1
            over = chance.choice(["w0", *windows])
            if chance.random() < 0.1:
                call, over = (
                    f"LAG({scalars.any()[0]})",
                    f"(PARTITION BY {scalars.of(chance.choice(_KEYS))} ORDER BY {time})",
                )
            else:
                call = self.framed(scalars)
            items.append(f"{call} OVER {over} AS o{self._aliases}")
            columns[f"o{self._aliases}"] = ""
        named = f" WINDOW w0 AS {windows[0]}" if any(" OVER w0 " in item for item in items) else ""
        sql = f"SELECT STREAM {', '.join(items)} FROM {rows.sql}{self.where(rows)}{named}"
        if chance.random() < 0.1 and rows.sql.split()[0] in STREAMS:
            items = [*kept, f"{scalars.aggregate(distinct=False)} AS o"]
            sql = f"SELECT STREAM {', '.join(items)} FROM {rows.sql} OVER {windows[0]}"
        return Rows(sql, columns, (time,))

    def window(self, scalars: Scalars, time: str) -> str:
        chance = self.chance
        keys = [scalars.of(chance.choice(_KEYS), 1) for _ in range(chance.randint(0, 2))]
        partition = f"PARTITION BY {', '.join(keys)} " if keys else ""
        back, ahead = (
            write_interval(self.chance, chance.choice([1, 3])),
            write_interval(self.chance, chance.choice([2, 4])),
        )
        frames = (
            f"RANGE {back} PRECEDING",
            f"RANGE BETWEEN {back} PRECEDING AND CURRENT ROW",
            f"RANGE BETWEEN {back} PRECEDING AND {ahead} FOLLOWING",
            f"RANGE BETWEEN CURRENT ROW AND {ahead} FOLLOWING",
            "RANGE BETWEEN 5 MIN PRECEDING AND 2 SEC PRECEDING",
            "RANGE BETWEEN 1 SEC FOLLOWING AND 5 MIN FOLLOWING",
            "RANGE BETWEEN CURRENT ROW AND CURRENT ROW",
            *(
                "ROWS 2 PRECEDING",
                "ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING",
                "ROWS BETWEEN CURRENT ROW AND CURRENT ROW",
            ),
        )
        return f"({partition}ORDER BY {time} {chance.choice(frames)})"

    def framed(self, scalars: Scalars) -> str:
        chance = self.chance
        if chance.random() < 0.5:
            return scalars.aggregate()
        types = (*ORDERED, *NESTED)
        return scalars.filled(
            chance.choice(
                [
                    *("ROW_NUMBER()", "RANK()", "DENSE_RANK()", "LAG({INT})", "LEAD({STRING}, 2)"),
                    *("LAG({DECIMAL}, 1, {DECIMAL})", "LAST({BOOLEAN})"),
                    *(f"{name}({{{chance.choice(types)}}})" for name in ("FIRST", "LAST_VALUE", "FIRST_VALUE")),
                ]
            ),
            1,
        )

    def deduplicated(self, depth: int) -> Rows:
        """The first of the rows that have the same keys."""
        rows = self.timed(depth)
        rows = replace(rows, times=rows.times[:1])
        scalars = Scalars(self.chance, rows.references())
        keys = ", ".join(scalars.of(self.chance.choice(ORDERED), 1) for _ in range(self.chance.randint(1, 2)))
        items, columns = self.items(rows, rows.references())
        within = write_interval(self.chance, self.chance.choice([1, 3]))
        sql = f"SELECT STREAM {items} FROM {rows.sql}{self.where(rows)} DEDUPLICATE ON ({keys}) WITHIN {within}"
        return Rows(sql, columns, rows.times)

    def places(self, depth: int) -> Rows:
        """Ranks among the rows of one event time, and perhaps the first of them."""
        chance = self.chance
        rows = self.timed(depth)
        scalars = Scalars(chance, rows.references())
        time = chance.choice(rows.times)
        orders = [
            f"{scalars.of(chance.choice(ORDERED), 1)} {chance.choice(['', 'DESC', 'DESC NULLS LAST', 'NULLS LAST'])}"
            for _ in range(chance.randint(1, 2))
        ]
        keys = "".join(f", {scalars.of(chance.choice(_KEYS), 0)}" for _ in range(chance.randint(0, 1)))
        source = rows.sql
        if "window_start" not in rows.columns and chance.random() < 0.3:
            windows = chance.choice(["TUMBLE({}, {}, 2 SEC)", "CUMULATE({}, {}, 1 SEC, 4 SEC)"])
            source, keys = windows.format(source, time), f", window_start{keys}"
            keys = chance.choice([keys, f", window_end{keys}"])
        partition = keys.removeprefix(", ") if source != rows.sql else f"{time}{keys}"
        over = f"OVER (PARTITION BY {partition} ORDER BY {', '.join(orders)})"
        function = chance.choice(["ROW_NUMBER", "RANK", "DENSE_RANK"])
        kept = {name: type_ for name, type_ in rows.columns.items() if chance.random() < 0.4 or name == time}
        head = f"SELECT STREAM {', '.join(kept)}"
        tail = f"FROM {source}{self.where(rows)}"
        if chance.random() < 0.4:
            return Rows(f"{head}, {function}() {over} AS place {tail}", {**kept, "place": "INT"}, (time,))
        return Rows(f"{head} {tail} QUALIFY {function}() {over} <= {chance.randint(1, 2)}", kept, (time,))

    # Joins

    def join(self, depth: int) -> Rows:
        """Two or three relations, each bounded against one before it."""
        chance = self.chance
        first = self.timed(max(depth - 1, 0))
        joined, sql = [first], first.sql
        preserved = True
        for _ in range(chance.choice([1, 1, 1, 2])):
            right = self.timed(max(depth - 1, 0))
            kind = chance.choice(JOINS if len(joined) == 1 else ("JOIN", "JOIN", "LEFT JOIN", "LEFT SEMI JOIN"))
            sql += f" {kind} {right.sql}{write_condition(joined, right, chance)}"
            if "SEMI" in kind or "ANTI" in kind:
                preserved = preserved and kind != "FULL JOIN"
                break
            joined.append(right)
        references = [each for rows in joined for each in rows.references(qualified=True)]
        scalars = Scalars(chance, references)
        items, columns, times = [], {}, []
        for number, rows in enumerate(joined):
            for name, type_ in rows.columns.items():
                if name in rows.times or chance.random() < 0.25:
                    self._aliases += 1
                    items.append(f"{rows.alias}.{name} AS c{self._aliases}")
                    columns[f"c{self._aliases}"] = type_
                    if name in rows.times and number == 0:
                        times.append(f"c{self._aliases}")
        items.append(f"{scalars.any()[0]} AS e")
        where = f" WHERE {scalars.of('BOOLEAN')}"
        where = where if chance.random() < 0.25 else ""
        return Rows(f"SELECT STREAM {', '.join(items)} FROM {sql}{where}", columns, tuple(times))


def is_plain(group: list[str]) -> bool:
    """Whether GROUP BY has keys, and no sets of them."""
    return bool(group) and not group[0].startswith(("ROLLUP(", "CUBE(", "GROUPING SETS("))


def read(chance: Random) -> str:
    """A SELECT that ends, over rows that it says itself."""
    scalars, number = Scalars(chance, ()), chance.randint(1, 3)
    values = ", ".join(
        f"({scalars.of('INT', 1)}, {scalars.of('STRING')}, {scalars.of('TIME', 1)})" for _ in range(number)
    )
    behind = chance.choice(["", " ORDER BY 1", " LIMIT 2", " ORDER BY 1 DESC NULLS LAST LIMIT 1 OFFSET 1"])
    if chance.random() < 0.3:
        return f"VALUES {values}"
    series = Scalars(chance, [Reference("n", "INT")])
    if chance.random() < 0.5:
        return (
            f"SELECT n, {series.any()[0]} AS e FROM GENERATE_SERIES({chance.randint(-3, 1)}, {number}) AS t (n){behind}"
        )
    return f"SELECT {scalars.any()[0]} AS e, {scalars.any()[0]} AS f"
