"""Options of the test run, and the one Spark that all tests of a process share."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any
from zlib import crc32

import hypothesis
import pytest
from py4j.java_gateway import JavaPackage, JVMView

from tests import campaign, skips, suite
from tests.jvm.options import jvm_options
from tests.jvm.quick_files import use_quick_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# A change is judged by the same examples each time; people at their desks look for new ones.
hypothesis.settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    hypothesis.settings.load_profile("ci")

os.environ.setdefault("JAVA_TOOL_OPTIONS", jvm_options())
# Where the quick files cannot be built, Spark would run `stat` for each small file that it writes.
QUICK_FILES = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
LONG = ("demo", "e2e", "properties")
# The memory of a JVM that runs many short queries: most of it for objects that are soon garbage.
MEMORY = "--driver-memory 2g --driver-java-options '-Xms1300m -Xmn800m -Djava.io.tmpdir={folder}'"


def pytest_configure() -> None:
    """Prepares what the JVMs share. Processes that share the tests start with the environment of this one."""
    use_quick_files()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--accept` writes what came out into the files that say what should."""
    parser.addoption("--accept", action="store_true", help="rewrite the expectations of golden tests")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks slow tests, and skips the campaign unless it is asked for.

    Where processes share the tests, the long ones come first.
    """
    for item in items:
        tier = suite.find_tier(item.nodeid)
        if tier is suite.Tier.SLOW:
            item.add_marker(pytest.mark.slow)
        elif tier is suite.Tier.CAMPAIGN:
            item.add_marker(pytest.mark.campaign)
    if config.args == config.getini("testpaths") and (unused := suite.find_unused(item.nodeid for item in items)):
        raise pytest.UsageError(f"{suite.FILE} names no test by {', '.join(unused)}")
    if not campaign.IS_RUNNING:
        for item in items:
            if item.get_closest_marker("campaign"):
                item.add_marker(pytest.mark.skip(reason=skips.CAMPAIGN))
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: (item.get_closest_marker("spark") is None, item.path.parent.name not in LONG))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fails tests that lack something on this machine, where PENSTOCK_NO_SKIPS says so."""
    report = yield
    if skips.ARE_GAPS_REFUSED:
        skips.refuse_gap(report)
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """A test goes to the process that is free; those of the demo go to one, which prepares their data once."""
    from xdist.scheduler import LoadScopeScheduling

    def shared(name: str) -> str:
        file = name.partition("::")[0]
        return file if "/demo/" in file else name

    config.option.loadscopereorder = False
    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = shared
    return scheduler


def remembered(kind: type[JVMView] | type[JavaPackage]) -> None:
    """Names of classes are looked for once: py4j asks the JVM each time, which then searches some hundred archives."""
    find = kind.__getattr__

    def found(self: JVMView | JavaPackage, name: str) -> Any:
        self.__dict__[name] = value = find(self, name)
        return value

    kind.__getattr__ = found


def pytest_collection_finish() -> None:
    """What is there from now on is not looked at by the collector, which is called after each test on Spark."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Libraries complain at the end of objects that are left."""
    gc.unfreeze()


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Frees what a test holds of Spark. Objects of py4j are in circles, and the plans behind them fill the JVM."""
    if item.get_closest_marker("spark"):
        gc.collect()


@pytest.fixture(scope="session")
def only_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Spark on two cores of this machine. Imported here: most tests need no JVM.

    Its JVM is killed at the end: it would take most of a minute to close the state stores of all queries.
    """
    from penstock.runtime.spark.jvm import start_spark

    # Spark hands times to Python in the local time zone.
    os.environ["TZ"] = "UTC"
    time.tzset()
    for kind in (JVMView, JavaPackage):
        remembered(kind)
    with pytest.MonkeyPatch.context() as patched:
        quick = f"spark.sql.streaming.checkpointFileManagerClass={QUICK_FILES}"
        memory = MEMORY.format(folder=tmp_path_factory.mktemp("jvm"))
        patched.setenv("PYSPARK_SUBMIT_ARGS", f"{memory} --conf {quick} pyspark-shell")
        session = start_spark("local[2]")
    yield session
    gateway: Any = session.sparkContext._gateway
    gateway.proc.kill()
    gateway.proc.wait()
    gateway.gateway_property.pool.clear()  # callbacks may refer to DuckDB, which complains at exit if it is in use


@pytest.fixture
def spark(only_spark: SparkSession, request: pytest.FixtureRequest) -> SparkSession:
    """A session of its own over that Spark, so that views and settings of one test are not there in the next."""
    from penstock.codegen import lower
    from penstock.planner import Settings
    from tests.jvm.sessions import open_session

    session = open_session(only_spark, crc32(request.node.name.encode()))
    for name, value in lower([], Settings(state_partitions=2)).settings:
        session.conf.set(name, value)
    return session
