"""`connect` and `connect_async`: a session with Spark in this process, or with a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from penstock.async_session import AsyncSession
    from penstock.client import RemoteSession
    from penstock.session import Session


@overload
def connect(
    master: str | None = None,
    checkpoint: str | None = None,
    settings: Mapping[str, str] | None = None,
    *,
    spark: object | None = None,
) -> Session: ...
@overload
def connect(master: str, *, token: str, authority: str | None = None) -> RemoteSession: ...
def connect(
    master: str | None = None,
    checkpoint: str | None = None,
    settings: Mapping[str, str] | None = None,
    *,
    spark: object | None = None,
    token: str | None = None,
    authority: str | None = None,
) -> Session | RemoteSession:
    """Starts Spark, or uses the one that there is; or connects to a server of Penstock.

    Args:
        master: a cluster's URL, None for this machine; or the URL of a server, as `http://localhost:8080`.
        checkpoint: the folder that queries resume from, None to begin anew each time.
        settings: settings of Spark, for a Spark that is started.
        spark: a pyspark.sql.SparkSession whose Spark is used. It is not stopped.
        token: what a server wants to see.
        authority: a file with the certificates of a server that others do not vouch for.

    Raises:
        RunError: there is no JDK, Spark does not come up, or a setting is refused.
        RemoteError: the server does not answer, or does not know the token.
        PackageNeededError: the extra `client` is not installed, which a server needs.
        TypeError: the arguments do not go together.
    """
    if master is not None and master.startswith(("http://", "https://")):
        if token is None or checkpoint is not None or settings is not None or spark is not None:
            raise TypeError("a server takes a token, and has a Spark of its own")
        try:
            from penstock.client import RemoteSession
        except ModuleNotFoundError as missing:
            from penstock.diagnostics import PackageNeededError
            from penstock.diagnostics.codes.running import R087

            finding = R087.at(None, call="connect to a server", package=missing.name)
            raise PackageNeededError([finding.with_hint("pip install 'penstock[client]'")]) from None
        return RemoteSession(master, token, authority)
    if token is not None or authority is not None:
        raise TypeError("a token goes with the URL of a server, as http://localhost:8080")
    if spark is not None and master is not None:
        raise TypeError("a session of Spark has its master already")

    from penstock import runtime
    from penstock.session import Session

    return Session(runtime.connect(master, checkpoint, settings, spark))


def connect_async(
    master: str | None = None,
    checkpoint: str | None = None,
    settings: Mapping[str, str] | None = None,
    *,
    spark: object | None = None,
    token: str | None = None,
    authority: str | None = None,
) -> AsyncSession:
    """As `connect`, for `async with`: entering it starts Spark or connects to the server, and raises as `connect`."""
    from penstock.async_session import AsyncSession

    def open_session() -> Session | RemoteSession:
        if token is not None and master is not None:
            return connect(master, token=token, authority=authority)
        return connect(master, checkpoint, settings, spark=spark)

    if token is not None and (master is None or checkpoint is not None or settings is not None or spark is not None):
        raise TypeError("a token goes with the URL of a server, which has a Spark of its own")
    return AsyncSession(open_session)
