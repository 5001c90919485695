"""The command `penstock peek`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from penstock.commands.script_files import compile_files, errors_shown, failures_shown

if TYPE_CHECKING:
    from penstock.codegen.sampled import Sampling
    from penstock.runtime.samples.take import Sample
    from penstock.stream_look import StreamLook

REJECTED_SHOWN = 10
LONGEST_RECORD = 100
"""How many characters of a rejected record are shown."""


@click.command()
@click.argument("arguments", nargs=-1, required=True, metavar="FILE... NAME")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many rows to show.")
@click.option("--format", "form", type=click.Choice(["text", "json", "csv"]), default="text", help="How to print rows.")
def peek(arguments: tuple[str, ...], limit: int, form: str) -> None:
    """Print the first rows of a declared stream or table as they are typed, without Spark.

    Records that a query would reject are counted, and shown with the reason. Files of this machine are read in the
    order in which a query reads them. A topic shows its newest messages.

    \b
    Examples:
      penstock peek orders.sql orders
      penstock peek --limit 100 --format json orders.sql orders

    json prints one object per line; then rejected records are only counted.

    Exit code 0: shown, 1: refused, 2: a file cannot be read, 3: the place is not there or cannot be read, 130: Ctrl-C
    before the end.
    """
    *files, name = arguments
    if not files:
        raise click.UsageError("a script and a name are needed, as penstock peek orders.sql orders")
    with errors_shown():
        from penstock.stream_look import find_sampling

        sampling = find_sampling(compile_files(files).catalog, name)

    from penstock.runtime.samples.look import look

    with failures_shown():
        sample = look(sampling, limit)
    if sample.left_out:
        click.echo(f"not shown, as only Spark computes them: {', '.join(sample.left_out)}", err=True)
    _show(sampling, sample, sample.rows.columns, sample.rows, form, is_all=sample.is_all)


def show_look(found: StreamLook, form: str) -> None:
    """Prints the rows of a SELECT STREAM with LIMIT. Raises CompileError and RunError as `look_at` does."""
    from penstock.stream_look import look_at

    seen = look_at(found)
    too_few = len(seen.rows) < found.limit
    if too_few and not seen.sample.is_all and not found.sampling.input.counts_partitions:
        click.echo(f"only the first {seen.sample.read:,} records were looked at", err=True)
    whole = seen.sample.is_all and too_few
    _show(found.sampling, seen.sample, seen.columns, seen.rows, form, is_all=whole)


def _show(
    sampling: Sampling,
    sample: Sample,
    columns: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    form: str,
    *,
    is_all: bool,
) -> None:
    from penstock.commands.answers import show_answer
    from penstock.runtime import show_rows

    count = len(sample.rejected)
    told = f"{count:,} of {sample.read:,} records {'is' if count == 1 else 'are'} rejected"
    if form != "text":
        show_answer(columns, rows, form)
        if count:
            click.echo(told, err=True)
        return
    which = "the newest " if sampling.input.counts_partitions else "all " if is_all else "the first "
    heading = "no rows" if not rows else "1 row" if len(rows) == 1 else f"{which}{len(rows):,} rows"
    shown_rows = [{each: _show_value(row[each]) for each in columns} for row in rows]
    show_rows(f"{sampling.input.name}: {heading}", shown_rows, len(rows))
    if count:
        shown = sample.rejected[:REJECTED_SHOWN]
        told_of = [{"reason": each.reason, "record": _cut(each.record), "from": each.place} for each in shown]
        show_rows(told, told_of, count)


def _show_value(value: Any) -> Any:
    """A value for people: objects, arrays and truth values as JSON, bytes in base64."""
    from penstock.values import to_json

    if isinstance(value, dict | list | bool):
        return json.dumps(to_json(value), ensure_ascii=False)
    return to_json(value) if isinstance(value, bytes) else value


def _cut(record: str) -> str:
    return f"{record[:LONGEST_RECORD]}…" if len(record) > LONGEST_RECORD else record
