"""The command `penstock doctor`."""

from __future__ import annotations

import click

from penstock.commands.options import CONF, read_settings
from penstock.commands.script_files import failures_shown
from penstock.diagnostics import hide_credentials


@click.command()
@click.option("--master", metavar="URL", help="Spark cluster; the default is this machine.")
@click.option("--checkpoint", metavar="FOLDER", help="Folder for the checkpoints of queries, which is tried, too.")
@CONF
def doctor(master: str | None, checkpoint: str | None, conf: tuple[str, ...]) -> None:
    """Try what queries need of a cluster: versions, and rows and files that go to every executor and back.

    The first thing that fails ends it, with what to install or to set.

    \b
    Examples:
      penstock doctor --master spark://host:7077 --checkpoint hdfs:///state
      penstock doctor --master yarn --checkpoint s3a://bucket/state --conf spark.archives=workers.tar.gz#penstock
      penstock doctor

    Exit code 0: all is well, 3: something is not, 130: Ctrl-C before the end.
    """
    settings = read_settings(conf)

    from penstock import runtime

    told = ", ".join(f"{name} {version or 'is missing'}" for name, version in runtime.list_versions().items())
    click.echo(f"ok: this machine has {told}")
    with failures_shown(), runtime.connect(master, checkpoint, settings) as session:
        for line in session.examine():
            click.echo(f"ok: {hide_credentials(line)}")
