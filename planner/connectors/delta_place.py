"""Options of tables of Delta Lake -> where these are. It needs nothing else of the planner."""

from __future__ import annotations

import json

from penstock.planner.plan.secret_option import Options

SECRET_OPTIONS = {
    "s3": "aws_secret_access_key",
    "s3a": "aws_secret_access_key",
    "gs": "google_service_account_key",
    "az": "azure_storage_account_key",
    "abfs": "azure_storage_account_key",
    "abfss": "azure_storage_account_key",
}
"""By the scheme of a path: the storage option that holds the secret."""


def read_storage_options(value: str) -> dict[str, str] | None:
    """The options that a JSON object of texts names, None if the text is something else."""
    try:
        given = json.loads(value)
    except ValueError:
        return None
    if not isinstance(given, dict) or not all(isinstance(each, str) for each in given.values()):
        return None
    return given


def list_partition_columns(options: Options) -> list[str]:
    """The columns that `partition_by` names."""
    given = str(dict(options).get("partition_by", ""))
    return [name for name in (each.strip() for each in given.split(",")) if name]
