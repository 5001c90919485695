"""What micro-batches have observed of fields -> the declared names that no record has. No JVM."""

from __future__ import annotations

import json
from typing import Any

from penstock.compilation import compile
from penstock.diagnostics import render
from penstock.runtime import InputAccount
from penstock.runtime.progress.seen_fields import SeenFields, explain_unseen, unseen_text

DECLARED = "id BIGINT, user_id STRING, place STRUCT<City: STRING, zip: STRING>"


def seen_fields(declared: str = DECLARED, format_: str = "json") -> SeenFields:
    sql = (
        f"CREATE STREAM a ({declared}) WITH (connector = 'files', path = 'x', format = '{format_}'); "
        "CREATE STREAM b AS SELECT * FROM a;"
    )
    (query,) = compile(sql).program.queries
    return SeenFields(query.inputs)


def observed(have: int, records: int, sample: Any = None, view: str = "b_r0_raw fields") -> dict[str, dict[str, Any]]:
    names = None if sample is None else json.dumps(sample)
    return {view: {"have0": have, "records": records, "names": names}}


def warnings_of(found: SeenFields) -> list[str]:
    report = InputAccount("a", 10, 0, 0, 0, 10, unseen=found.find_unseen("a"))
    return [f"{each.code}: {each.message} {each.hint}" for each in explain_unseen([report])]


def test_a_name_that_no_record_has_is_told_with_the_one_that_is_meant() -> None:
    found = seen_fields()
    found.add(observed(0b11101, 5000, {"id": 0, "userId": 0, "meta": {"x": 0}}))
    assert warnings_of(found) == ["R094: user_id is in 0 of 5,000 records of a did you mean userId?"]
    found.add(observed(0b00001, 1))
    unseen = found.find_unseen("a")
    assert unseen is not None
    assert unseen.others == ("userId", "meta")
    assert unseen_text("a", unseen) == (
        "user_id (did you mean userId?) is in 0 of 5,001 records of a. "
        "The records have fields that no column takes: userId, meta."
    )
    found.add(observed(0b00010, 1))
    assert found.find_unseen("a") is None


def test_fields_within_a_field_are_told_if_it_is_there() -> None:
    found = seen_fields()
    found.add(observed(0b00111, 2, {"id": 0, "user_id": 0, "place": {"town": 0, "z_ip": 0}}))
    assert warnings_of(found) == [
        "R094: place.City is in 0 of 2 records of a the records have fields that no column takes: "
        "place.town, place.z_ip",
        "R094: place.zip is in 0 of 2 records of a did you mean place.z_ip?",
    ]
    found = seen_fields()
    found.add(observed(0b00011, 2))
    assert warnings_of(found) == ["R094: place is in 0 of 2 records of a None"]


def test_records_without_any_field_are_told_at_once_and_only_once() -> None:
    found = seen_fields()
    found.add(observed(0, 0))
    assert found.warnings == []
    found.add(observed(0, 3, {"x": 0}))
    found.add(observed(0, 3, {"y": 0}))
    (warning,) = found.warnings
    assert render(warning).startswith("warning[R095]: none of 3 records of a has a field that is declared")
    assert "fields that no column takes: x" in render(warning)
    assert warnings_of(found) == [
        "R095: none of 6 records of a has a field that is declared the records have fields that no column takes: x, y"
    ]


def test_a_record_that_is_no_json_names_nothing() -> None:
    found = seen_fields()
    for sample in ("{", "[" * 100_000, "7"):
        found.add({"b_r0_raw fields": {"have0": 1, "records": 1, "names": sample}})
    unseen = found.find_unseen("a")
    assert unseen is not None
    assert unseen.others == ()


def test_more_fields_than_a_number_has_bits() -> None:
    found = seen_fields(", ".join(f"c{place} INT" for place in range(130)))
    full = (1 << 60) - 1
    found.add({"b_r0_raw fields": {"have0": full, "have1": full - 2, "have2": (1 << 10) - 1, "records": 9}})
    assert warnings_of(found) == ["R094: c61 is in 0 of 9 records of a None"]


def test_formats_without_names_are_not_watched() -> None:
    found = seen_fields("id BIGINT", "csv")
    found.add(observed(0, 5))
    assert found.find_unseen("a") is None


def test_every_way_of_reading_the_same_topic_is_watched() -> None:
    sql = (
        "CREATE STREAM a (id BIGINT, n INT) WITH (connector = 'kafka', bootstrap_servers = 'x:1', topic = 't', "
        "format = 'json', starting = 'earliest'); CREATE STREAM b AS SELECT * FROM a;"
    )
    (query,) = compile(sql).program.queries
    parsing = query.inputs[0].parsing
    assert parsing is not None
    assert parsing.watch is not None
    assert parsing.watch.paths == (("id",), ("n",))
