"""SET changes the setting of its name."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

import penstock
from penstock.planner.connectors.option import BOOLEAN
from penstock.planner.plan import DEFAULTS, Settings, StateStore
from penstock.planner.script import read_options

GIVEN: dict[str, tuple[str, Any]] = {
    "state_partitions": ("7", 7),
    "state_store": ("'rocksdb'", StateStore.ROCKSDB),
    "intermediate_partitions": ("9", 9),
    "auto_repartition": ("ON", True),
    "on_row_error": ("'reject'", True),
    "trigger": ("'realtime'", True),
    "realtime_batch": ("INTERVAL '30' SECOND", 30_000),
    "trigger_interval": ("200 MILLISECONDS", 200),
    "partial_aggregates": ("ON", True),
}
FIELDS = {"on_row_error": "rejects_failing", "trigger": "real_time"}  # of the settings whose fields have other names


def test_each_setting_is_a_field() -> None:
    names = [name for name, _ in read_options.SETTINGS]
    assert sorted(names) == sorted(GIVEN)
    assert sorted(FIELDS.get(name, name) for name in names) == sorted(Settings.__struct_fields__)


@pytest.mark.parametrize("name", GIVEN)
def test_the_name_says_which_is_set(name: str) -> None:
    text, value = GIVEN[name]
    assert penstock.compile(f"SET {name.upper()} = {text}").settings == replace(
        DEFAULTS, **{FIELDS.get(name, name): value}
    )


def test_the_type_does_not_say_which_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_options, "SETTINGS", (("intermediate_partitions", BOOLEAN),))
    settings = penstock.compile("SET intermediate_partitions = TRUE").settings
    assert settings == replace(DEFAULTS, intermediate_partitions=True)
