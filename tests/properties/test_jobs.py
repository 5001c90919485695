"""Jobs of random plans make the programs that they are written of."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.codegen import lower
from penstock.planner.plan import Settings
from tests.penstock.jobs import list_facts, rebuild
from tests.properties.test_spark import KINDS, located, query_of

pytestmark = pytest.mark.draws


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_makes_its_program(kind: str) -> None:
    @settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
    @given(KINDS[kind], st.integers(1, 3), st.booleans())
    def draw(case: tuple, partitions: int, real_time: bool) -> None:  # type: ignore[type-arg]
        plan, history = case
        folders = {name: Path("/in", name) for name in history.batches[0]}
        made = Settings(state_partitions=partitions, real_time=real_time)
        program = lower([query_of(located(plan, folders))], made)
        with tempfile.TemporaryDirectory() as folder:
            assert list_facts(rebuild(program, Path(folder))) == list_facts(program)

    draw()
