"""Options that several commands take."""

from __future__ import annotations

from collections.abc import Iterable

import click

from penstock.commands.conf_values import CONF_HELP, split_settings

CONF = click.option("--conf", multiple=True, metavar="KEY=VALUE", help=CONF_HELP)


def read_settings(given: Iterable[str]) -> dict[str, str]:
    """Settings as `--conf` gives them. Raises UsageError for what is no setting."""
    try:
        return split_settings(given)
    except ValueError as refused:
        raise click.UsageError(str(refused)) from None
