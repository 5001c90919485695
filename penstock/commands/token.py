"""The command `penstock token`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from penstock.commands.script_files import REFUSED
from penstock.diagnostics import show_text
from penstock.diagnostics.terminal import align_texts

if TYPE_CHECKING:
    import psycopg

_STATE = click.option(
    "--state",
    type=click.Path(file_okay=False, path_type=Path),
    default="penstock-state",
    show_default=True,
    help="Folder of the server.",
)
_DATABASE = click.option(
    "--database", metavar="URL", help="As of penstock serve; the password is read from PGPASSWORD."
)


@click.group()
def token() -> None:
    """Make, list and revoke the tokens of a server that runs.

    \b
    Examples:
      penstock token create --user ada --role reader
      penstock token list
      penstock token revoke 1f40fc92da24

    A token stands for a user of the server, in the console, over HTTP and in Python. Exit code 0: done, 1: refused,
    2: usage.
    """


@token.command()
@click.option("--user", required=True, help="The login role of PostgreSQL; it is made if there is none.")
@click.option(
    "--role",
    type=click.Choice(["reader", "submitter", "owner"]),
    default="reader",
    show_default=True,
    help="What the user may do.",
)
@click.option("--label", default="", help="What the token is for, as the list shows it.")
@_STATE
@_DATABASE
def create(user: str, role: str, label: str, state: Path, database: str | None) -> None:
    """Print a new token, once: the server keeps its SHA-256 alone.

    \b
    Examples:
      penstock token create --user ada --role submitter --label laptop
      penstock token create --user grafana > /etc/grafana/penstock-token

    A user who is made has no password, and so no way in over PostgreSQL's protocol. Exit code 0: made, 1: refused,
    2: usage.
    """
    with _catalog(state, database) as db:
        from penstock.server.http_tokens import create_token

        made = create_token(db, user, role, label)
    click.echo(made)
    click.echo(f"the token of {show_text(user)}, shown once; the server keeps its SHA-256", err=True)


@token.command("list")
@_STATE
@_DATABASE
def list_(state: Path, database: str | None) -> None:
    """Print the tokens that there are, without their texts.

    \b
    Examples:
      penstock token list
      penstock token list --state /var/lib/penstock

    Exit code 0: printed, 1: refused, 2: usage.
    """
    with _catalog(state, database) as db:
        from penstock.server.http_tokens import list_tokens

        entries = list_tokens(db)
    rows = [["id", "user", "role", "created", "label"]]
    for each in entries:
        right = each.right if each.is_valid else "may not log in"
        rows.append([each.id, each.user, right, f"{each.created:%Y-%m-%d %H:%M}", each.label])
    for line in align_texts([[*map(show_text, row)] for row in rows]):
        click.echo(line.rstrip())


@token.command()
@click.argument("id_", metavar="[ID]", required=False)
@click.option("--user", help="All tokens of this user.")
@_STATE
@_DATABASE
def revoke(id_: str | None, user: str | None, state: Path, database: str | None) -> None:
    """Revoke a token by its id, or all of a user. Its sessions and streams end.

    \b
    Examples:
      penstock token revoke 1f40fc92da24
      penstock token revoke --user ada

    Exit code 0: revoked, 1: refused, 2: usage.
    """
    if (id_ is None) == (user is None):
        raise click.UsageError("name the id of a token, or --user")
    with _catalog(state, database) as db:
        from penstock.server.http_tokens import revoke_tokens

        removed = revoke_tokens(db, id_, user)
    click.echo("revoked 1 token" if removed == 1 else f"revoked {removed:,} tokens", err=True)


@contextmanager
def _catalog(state: Path, database: str | None) -> Iterator[psycopg.Connection[Any]]:
    try:
        from penstock.server.http_tokens import TokenError, open_catalog
    except ImportError as error:
        raise click.ClickException(f"{error.name} is not installed; pip install 'penstock[server]'") from None
    try:
        with open_catalog(state, database) as db:
            yield db
    except TokenError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(REFUSED)
