"""What the engine's process is told."""

from penstock.planner.plan import SecretOption
from penstock.server.running.allowed import Allowed
from penstock.server.running.home import Home
from penstock.server.running.live_query import RestartPolicy
from penstock.server.running.settings import EngineSettings


def test_settings_come_back_from_json() -> None:
    home = Home("postgresql://x", SecretOption("ENV", "PGPASSWORD"), 5)
    told = EngineSettings(home, "state", "penstock", files=(("a.sql", "SHOW TABLES"),))
    assert EngineSettings.from_json(told.to_json()) == told
    policy, allowed = RestartPolicy(pauses=(1, 2.5)), Allowed(("/data",))
    told = EngineSettings(Home("", None, 1), "", "", "local[2]", {"spark.x": "1"}, allowed, restarts=policy)
    assert EngineSettings.from_json(told.to_json()) == told
