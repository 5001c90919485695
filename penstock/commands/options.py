"""Options that several commands take."""

from __future__ import annotations

from collections.abc import Iterable

import click

CONF = click.option(
    "--conf", multiple=True, metavar="KEY=VALUE", help="A setting of Spark, as spark.driver.memory=4g; may be repeated."
)


def read_settings(given: Iterable[str]) -> dict[str, str]:
    """Settings as `--conf` gives them. The value is not told when it is refused: it may be a secret."""
    settings = {}
    for each in given:
        name, separator, value = each.partition("=")
        if not separator or not name.strip():
            raise click.UsageError("--conf takes KEY=VALUE, as spark.driver.memory=4g")
        settings[name.strip()] = value.strip()
    return settings
