"""The command `penstock why`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from penstock.commands.script_files import FAILED

NO_SUCH_QUERY = 1
NOT_FOUND = 404


@click.command()
@click.argument("query")
@click.option("--url", default="http://127.0.0.1:8080", show_default=True, help="Of the server.")
@click.option(
    "--token-file",
    type=click.Path(dir_okay=False, path_type=Path),
    default="penstock-state/secrets/token",
    show_default=True,
    help="Has the token, unless the variable PENSTOCK_TOKEN has it.",
)
@click.option(
    "--authority", type=click.Path(exists=True, dir_okay=False), help="Certificates that vouch for the server."
)
def why(query: str, url: str, token_file: Path, authority: str | None) -> None:
    """Print what holds back the rows of a query that a server runs, what matters most first.

    \b
    Examples:
      penstock why totals
      penstock why --token-file /var/lib/penstock/secrets/token totals
      PENSTOCK_TOKEN=pst_… penstock why --url https://streams.example.com totals

    Exit code 0: answered, 1: there is no such query, 2: usage, 3: the server does not answer, or refuses the token.
    """
    token = os.environ.get("PENSTOCK_TOKEN") or _read_token(token_file)
    try:
        import ssl

        from penstock.client import RemoteError, RemoteQuery, RemoteSession
    except ModuleNotFoundError as missing:
        raise click.ClickException(f"{missing.name} is not installed; pip install 'penstock[client]'") from None
    try:
        with RemoteSession(url, token, authority) as session:
            reasons = RemoteQuery(session, query).list_reasons()
    except ssl.SSLError:
        raise click.BadParameter(f"{authority} has no certificates", param_hint="--authority") from None
    except RemoteError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(NO_SUCH_QUERY if error.status == NOT_FOUND else FAILED)
    for reason in reasons:
        click.echo(f"{reason.cause}: {reason.text}")
    if not reasons:
        click.echo(f"nothing holds back the rows of {query}")


def _read_token(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except OSError as problem:
        reason = f"{file} cannot be read: {problem.strerror}. PENSTOCK_TOKEN can have the token"
        raise click.BadParameter(reason, param_hint="--token-file") from None
