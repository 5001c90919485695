"""Messages of topics in Avro: their schemas in a registry, and what Spark and the driver do with them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import StructType

from penstock.codegen.program import Input, QueryOutput
from penstock.codegen.record_parsing import Columns
from penstock.diagnostics.codes.running import R081, R082
from penstock.kit.avro.avro import decode_values, encode_values, name_fields, read_schema, share_decoder
from penstock.kit.avro.avro_schemas import SchemaError, SchemaMaker
from penstock.kit.avro.registry import IncompatibleError, Registry, RegistryError
from penstock.kit.databases.faults import TableError
from penstock.kit.databases.secret_refs import KnownSecret, SecretRef
from penstock.kit.spark_columns import schema_of
from penstock.runtime.failure.errors import RunError


def registry_of(place: Input | QueryOutput) -> Registry:
    """The registry of a topic. Its password is named, and not read."""
    given = place.values
    secret: Any = given.get("registry_password")
    username = given.get("registry_username")
    return Registry(
        str(given["schema_registry"]),
        None if username is None else str(username),
        None if secret is None else SecretRef(secret.kind, secret.name),
    )


def subject_of(place: Input | QueryOutput, part: str) -> str:
    """The name in the registry under which the schemas of a part are."""
    return str(place.values.get(f"{part}_subject", f"{place.values['topic']}-{part}"))


def check_schemas(source: Input) -> None:
    """Compares the newest schemas of a topic that is read with the declaration. Schemas of earlier records may differ.

    Raises:
        RunError: a schema does not fit, or the registry cannot be asked.
    """
    for part, columns in () if source.parsing is None else source.parsing.avro:
        subject = subject_of(source, part)
        with _coded_errors(source, f"the newest schema of {subject}: "):
            newest = registry_of(source).find_newest(subject)
            if newest is not None:
                read_schema(newest, _name_columns(columns))


def decode_part(rows: DataFrame, columns: Columns, source: Input) -> DataFrame:
    """The messages in the column `value`, with their fields in the struct `_decoded`.

    The password is read here, and known to the workers.

    Raises:
        RunError: the password is not where the script says.
    """
    names = [name for name, _ in columns]
    fields = {f"c{place}": type_ for place, (_, type_) in enumerate(columns)}
    schema = StructType.fromDDL(schema_of(fields | {"malformed": "STRING"}))
    type_ = to_arrow_type(schema, timezone="UTC")
    place = registry_of(source)
    with _coded_errors(source):
        secret = None if place.password is None else place.password.read()
    facts = repr((place, names, str(type_))) + (secret or "")
    shared = hashlib.sha256(facts.encode()).hexdigest()
    asked = place if secret is None else replace(place, password=KnownSecret(secret))

    def decode(values: pa.Array) -> pa.Array:
        decoder = share_decoder(shared, asked, name_fields(names, type_))
        return decode_values(values, decoder, names, type_)

    # Spark would decode once more for each filter that it moves in front of this, if it took that for harmless.
    decoder = F.arrow_udf(decode, schema).asNondeterministic()  # type: ignore[attr-defined]
    return rows.withColumn("_decoded", decoder("value"))


class AvroWriter:
    """Encodes the rows of a query. Their schemas are registered under the names that other producers take."""

    def __init__(self, output: QueryOutput) -> None:
        self._output = output
        self._encoders: dict[str, Callable[[pa.Array | pa.ChunkedArray], pa.Array]] = {}

    def prepare(self) -> None:
        """Registers the schemas.

        Raises:
            RunError: the registry cannot be asked, or does not take them beside the schemas that it has.
        """
        output = self._output
        place = registry_of(output) if output.avro else None
        for part, columns in output.avro:
            assert place is not None
            subject = subject_of(output, part)
            with _coded_errors(output, f"{subject}: "):
                schema = make_schema(part, columns, place.find_newest(subject))
                number = place.register(subject, schema)
            self._encoders[part] = _make_encoder(schema, number)

    def encode(self, rows: pa.Table) -> pa.Table:
        """The messages, with keys and values as bytes where they are Avro."""
        for part, encoder in self._encoders.items():
            rows = rows.set_column(rows.column_names.index(part), part, encoder(rows[part]))
        return rows

    def encode_in_workers(self, rows: DataFrame) -> DataFrame:
        """The same, of rows that do not come to the driver."""
        for part, encoder in self._encoders.items():
            rows = rows.withColumn(part, F.arrow_udf(encoder, "binary")(part))  # type: ignore[attr-defined]
        return rows


def make_schema(part: str, columns: Columns, newest: Sequence[Any] | None) -> Any:
    """The schema of columns, with the names of records in the newest one that the registry has, if it stands alone."""
    like = newest[0] if newest is not None and len(newest) == 1 else None
    return SchemaMaker(like).make(part.capitalize(), _name_columns(columns))


def _make_encoder(schema: Any, number: int) -> Callable[[pa.Array | pa.ChunkedArray], pa.Array]:
    def encode(values: pa.Array) -> pa.Array:
        return encode_values(values, schema, number)

    return encode


def _name_columns(columns: Columns) -> pa.StructType:
    return to_arrow_type(StructType.fromDDL(schema_of(dict(columns))), timezone="UTC")


@contextmanager
def _coded_errors(place: Input | QueryOutput, prefix: str = "") -> Iterator[None]:
    """Raises RunError in place of the errors of the registry."""
    name = place.name
    try:
        yield
    except (RegistryError, TableError) as error:
        raise RunError([R081.at(None, name=name, reason=str(error))]) from None
    except (IncompatibleError, SchemaError) as error:
        raise RunError([R082.at(None, topic=place.values["topic"], name=name, reason=f"{prefix}{error}")]) from None
