"""A broker of Kafka on this machine, and the Java archives that it and Spark need, which Maven fetches once.

The demo of this folder starts one, and so do the tests and the benchmark of Kafka.
"""

from __future__ import annotations

import base64
import os
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.runtime.spark.jars import FOLDER, VARIABLE
from penstock.runtime.spark.spark_version import known_spark

BROKER = "org.apache.kafka:kafka_2.13:4.3.1"
CACHE = Path("~/.cache/penstock/kafka-4.3.1").expanduser()
JAVA = ("java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
PROPERTIES = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:{users},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:{users}
sasl.enabled.mechanisms=PLAIN
listener.name.sasl_plaintext.plain.sasl.jaas.config={login} required{known};
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={root}/data
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
num.network.threads=1
num.io.threads=2
log.cleaner.dedupe.buffer.size=10485760
"""
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>tests</groupId><artifactId>tests</artifactId><version>1</version><dependencies>{}</dependencies></project>
"""
LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
ALONE = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"


def fetch(coordinates: Iterable[str], folder: Path, *, alone: bool) -> str | None:
    """Lets Maven put archives into a folder, `alone` or with all that they need. Returns why it could not."""
    if any(folder.glob("*.jar")):
        return None
    if shutil.which("mvn") is None:
        return "Maven is not installed"
    draft = folder.with_name(f"{folder.name}.{os.getpid()}")
    draft.mkdir(parents=True)
    dependencies = ""
    for each in coordinates:
        group, artifact, version = each.split(":")
        name = f"<groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>"
        dependencies += f"<dependency>{name}{ALONE if alone else ''}</dependency>"
    (draft / "pom.xml").write_text(POM.format(dependencies))
    copy = ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={draft}"]
    settings = {**os.environ, "MAVEN_OPTS": "-Xmx512m"}
    run = subprocess.run(copy, cwd=draft, env=settings, capture_output=True, text=True, timeout=300, check=False)
    if run.returncode == 0:
        (draft / "pom.xml").unlink()
        if not any(folder.glob("*.jar")):  # another process may have been faster
            draft.rename(folder)
            return None
    shutil.rmtree(draft)
    return None if run.returncode == 0 else f"Maven cannot fetch {next(iter(coordinates))}"


def fetch_jars() -> str | None:
    """The archives that Spark needs, in the folder where Penstock looks for them. Returns why they are missing."""
    folder = Path(os.environ.get(VARIABLE) or FOLDER).expanduser()
    return fetch((each.coordinates for each in known_spark().jars["kafka"]), folder, alone=True)


def fetch_broker() -> str | None:
    """The archives of the broker. Returns why they are missing."""
    return fetch([BROKER], CACHE, alone=False)


def find_port() -> int:
    """A port of this machine that is free."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@dataclass
class Broker:
    """A broker that runs. Its data and logs are in `root`."""

    root: Path
    servers: str
    servers_of_users: str
    """The address at which users have to log in."""
    process: subprocess.Popen[bytes] | None
    """None of a broker that another process has started."""
    _topics: int = field(default=0)

    @classmethod
    def start(cls, root: Path, passwords: Mapping[str, str] | None = None) -> Broker:
        """Starts a broker that is its own controller, and waits until it answers. `passwords`: those of its users."""
        ports = {name: find_port() for name in ("port", "users", "controller")}
        properties = root / "server.properties"
        known = "".join(f' user_{name}="{password}"' for name, password in (passwords or {}).items())
        properties.write_text(PROPERTIES.format(**ports, login=LOGIN, known=known, root=root))
        java = [*JAVA, "-cp", f"{CACHE}/*"]
        identifier = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        form = ["kafka.tools.StorageTool", "format", f"--cluster-id={identifier}", "-c", str(properties)]
        environment = {name: value for name, value in os.environ.items() if name != "JAVA_TOOL_OPTIONS"}
        subprocess.run([*java, *form], env=environment, capture_output=True, check=True, timeout=60)
        log = (root / "log").open("wb")
        run = [*java, "kafka.Kafka", str(properties)]
        process = subprocess.Popen(run, env=environment, stdout=log, stderr=log, start_new_session=True)
        broker = cls(root, f"127.0.0.1:{ports['port']}", f"127.0.0.1:{ports['users']}", process)
        deadline = time.monotonic() + 60
        while True:
            try:
                broker.admin().list_topics(timeout=1)
                return broker
            except KafkaException:
                assert process.poll() is None, (root / "log").read_text()
                assert time.monotonic() < deadline, "the broker does not answer"

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(30)

    def admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.servers, "log_level": 0, "error_cb": lambda _: None})

    def topic(self, name: str = "topic", partitions: int = 1, **settings: str) -> str:
        """Makes a topic with a name of its own. Returns its name."""
        self._topics += 1
        return self.create_topic(f"{name}-{self._topics}", partitions, **settings)

    def create_topic(self, name: str, partitions: int = 1, **settings: str) -> str:
        """Makes a topic. Its records are never deleted, however old their timestamps are. Returns its name."""
        admin = self.admin()
        config = {"retention.ms": "-1", **{key.replace("_", "."): value for key, value in settings.items()}}
        for future in admin.create_topics([NewTopic(name, partitions, 1, config=config)]).values():
            future.result()
        while admin.list_topics(name, timeout=10).topics[name].error is not None:
            time.sleep(0.05)  # the broker answers before it knows the topic
        return name

    def producer(self, **settings: Any) -> Producer:
        given = {"bootstrap.servers": self.servers, "log_level": 0, "partitioner": "murmur2_random"}
        return Producer(given | {name.replace("_", "."): value for name, value in settings.items()})

    def send(self, topic: str, records: Iterable[Mapping[str, Any]]) -> int:
        """Sends records, which are arguments of `Producer.produce`. Returns how many."""
        producer = self.producer(linger_ms=20, queue_buffering_max_messages=1_000_000)
        sent = 0
        for sent, each in enumerate(records, 1):
            producer.produce(topic, **each)
            if not sent % 100_000:
                producer.flush(30)
        assert producer.flush(30) == 0
        return sent

    def read(self, topic: str, isolation: str = "read_committed") -> list[Any]:
        """All messages of a topic, by partition and offset."""
        return sorted(self._consume(topic, isolation), key=lambda each: (each.partition(), each.offset()))

    def _consume(self, topic: str, isolation: str) -> Iterator[Any]:
        settings: dict[str, Any] = {"bootstrap.servers": self.servers, "group.id": "tests", "enable.auto.commit": False}
        settings |= {"isolation.level": isolation, "enable.partition.eof": True, "log_level": 0}
        consumer = Consumer(settings)
        try:
            partitions: Sequence[int] = [*consumer.list_topics(topic, timeout=10).topics[topic].partitions]
            consumer.assign([TopicPartition(topic, each, 0) for each in partitions])
            ended = 0
            while ended < len(partitions):
                message = consumer.poll(10)
                assert message is not None, "the broker does not answer"
                if message.error() is None:
                    yield message
                else:
                    ended += 1
        finally:
            consumer.close()
