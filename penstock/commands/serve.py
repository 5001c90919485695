"""The command `penstock serve`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from penstock.commands.options import CONF, read_settings
from penstock.commands.script_files import REFUSED


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--state",
    type=click.Path(file_okay=False, path_type=Path),
    default="penstock-state",
    show_default=True,
    help="Folder of checkpoints, secrets, logs and the embedded PostgreSQL.",
)
@click.option("--apply", is_flag=True, help="Let what has changed in the FILEs take effect.")
@click.option("--pg-port", type=click.IntRange(0, 65535), default=5433, show_default=True, help="Of PostgreSQL's door.")
@click.option("--http-port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="Of the console.")
@click.option("--database", metavar="URL", help="A PostgreSQL that runs already; its password is read from PGPASSWORD.")
@click.option(
    "--listen",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="Any other address than loopback needs TLS; a certificate is made if none is given.",
)
@click.option("--tls-cert", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Certificate, in PEM.")
@click.option("--tls-key", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Its key, in PEM.")
@click.option("--allow-path", multiple=True, metavar="FOLDER", help="Statements may read and write files there.")
@click.option("--allow-connector", multiple=True, metavar="NAME", help="Statements may use this connector.")
@click.option("--allow-host", multiple=True, metavar="HOST", help="Statements may connect there.")
@click.option("--allow-secret", multiple=True, metavar="NAME", help="Statements may use this variable or file.")
@click.option("--tail-rows", type=click.IntRange(1), default=1_000, show_default=True, help="Kept of each stream.")
@click.option("--max-queries", type=click.IntRange(1), default=100, show_default=True, help="That are kept running.")
@click.option("--master", metavar="URL", help="Spark cluster; the default is this machine.")
@CONF
def serve(
    files: tuple[Path, ...], tls_cert: Path | None, tls_key: Path | None, conf: tuple[str, ...], **given: Any
) -> None:
    """Run queries, take more of them, and show their tables to psql, BI tools and browsers.

    The FILEs are run first. Restrictions (--allow-…) hold for statements that come later.

    A FILE that has changed since the last start is refused without --apply. With it, the server shows what is new,
    changed and gone. It builds new tables beside the old ones, which stay in force until the new ones have caught up.
    What is gone stays.

    \b
    Examples:
      penstock serve orders.sql
      penstock serve --apply orders.sql
      penstock serve --state /var/lib/penstock --allow-connector files --allow-path /data
      penstock serve --listen 0.0.0.0 --tls-cert server.crt --tls-key server.key
      penstock serve --database postgresql://penstock@db.example.com/streams

    Ctrl-C and SIGTERM stop it at the end of the micro-batches that run. The next start goes on from there.

    Exit code 0: stopped, 1: refused, 2: usage.
    """
    settings = read_settings(conf)
    if given["apply"] and not files:
        raise click.UsageError("--apply needs a FILE")
    if (tls_cert is None) != (tls_key is None):
        raise click.UsageError("--tls-cert and --tls-key need each other")
    try:
        # The other commands need none of this, and are to start soon.
        import asyncio
        import logging
        import signal

        from penstock.diagnostics.logs import log_to_stderr
        from penstock.server.client_limits import Limits
        from penstock.server.running.allowed import Allowed
        from penstock.server.serving import ServerError, ServerSettings
        from penstock.server.serving import serve as run_server
    except ImportError as error:
        raise click.ClickException(f"{error.name} is not installed; pip install 'penstock[server]'") from None
    allowed = Allowed(
        paths=given["allow_path"],
        connectors=(*Allowed().connectors, *given["allow_connector"]),
        hosts=given["allow_host"],
        secrets=given["allow_secret"],
    )
    server = ServerSettings(
        state=given["state"],
        files=tuple((str(file), file.read_text(encoding="utf-8-sig")) for file in files),
        apply=given["apply"],
        database=given["database"],
        listen=given["listen"],
        pg_port=given["pg_port"],
        http_port=given["http_port"],
        certificate=tls_cert,
        key=tls_key,
        master=given["master"],
        spark=settings,
        allowed=allowed,
        tail_rows=given["tail_rows"],
        limits=Limits(queries=given["max_queries"]),
    )

    async def run() -> None:
        stopping = asyncio.Event()
        for each in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(each, stopping.set)
        await run_server(server, stopping, lambda line: click.echo(line, err=True))
        click.echo("stopped", err=True)

    log_to_stderr(logging.WARNING, "%(asctime)s %(levelname)s %(message)s")
    try:
        import uvloop

        uvloop.run(run())
    except ServerError as error:
        click.echo(str(error), err=True)
        sys.exit(REFUSED)
