"""A TCP port in front of the socket of a PostgreSQL, which cuts a connection at a given moment."""

from __future__ import annotations

import socket
import threading
from dataclasses import dataclass, field
from typing import Literal

COMMIT = b"COMMIT\0"


@dataclass
class Proxy:
    """Cuts connections on which the client sends COMMIT, `cuts` of them.

    before: the server does not get it. after: the server has answered, and the client does not get that. The next
    `refuses` connections are closed at once.
    """

    target: str
    cuts: int
    moment: Literal["before", "after"]
    done: int = 0
    refuses: int = 0
    server: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))

    @property
    def port(self) -> int:
        return int(self.server.getsockname()[1])

    def __enter__(self) -> Proxy:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return  # the test is over
            if self.refuses:
                self.refuses -= 1
                close(client)
                continue
            upstream = socket.socket(socket.AF_UNIX)
            upstream.connect(self.target)
            for run in (self._send, self._answer):
                threading.Thread(target=run, args=(client, upstream), daemon=True).start()

    def _send(self, client: socket.socket, upstream: socket.socket) -> None:
        while data := receive(client):
            if data.endswith(COMMIT) and self.done < self.cuts:
                self.done += 1
                if self.moment == "before":
                    break
                # The other thread may not get the answer.
                client.shutdown(socket.SHUT_RDWR)
                upstream.sendall(data)
                return
            upstream.sendall(data)
        close(client, upstream)

    def _answer(self, client: socket.socket, upstream: socket.socket) -> None:
        while data := receive(upstream):
            try:
                client.sendall(data)
            except OSError:
                break  # the client has been cut off
        close(client, upstream)


def receive(end: socket.socket) -> bytes:
    """What comes next; nothing at the end."""
    try:
        return end.recv(65536)
    except OSError:
        return b""


def close(*ends: socket.socket) -> None:
    """Closes both ends. Either thread may do it."""
    for end in ends:
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            continue  # the other thread was here first
        finally:
            end.close()
