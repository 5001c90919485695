"""Values of `--conf` -> settings of Spark. It needs no click, which jobs do not have."""

from __future__ import annotations

from collections.abc import Iterable

CONF_HELP = "A setting of Spark, as spark.driver.memory=4g; may be repeated."


def split_settings(given: Iterable[str]) -> dict[str, str]:
    """Settings as `--conf` gives them.

    Raises ValueError for what is no setting. The value is not told: it may be a secret.
    """
    settings = {}
    for each in given:
        name, separator, value = each.partition("=")
        if not separator or not name.strip():
            raise ValueError("--conf takes KEY=VALUE, as spark.driver.memory=4g")
        settings[name.strip()] = value.strip()
    return settings
