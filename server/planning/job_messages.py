"""What the processes send each other: pickled values, each behind its length."""

from __future__ import annotations

import copyreg
import pickle
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

_LENGTH = struct.Struct(">Q")
ended_because = Literal["time", "memory", "fault"]


@dataclass(frozen=True, slots=True)
class Job:
    """Work for a process of its own. `owner`: whose work it is, `seconds`: how long it may take."""

    number: int
    owner: str
    work: Any
    seconds: float


@dataclass(frozen=True, slots=True)
class News:
    """News for the process that forks, which all later jobs know."""

    news: Any


@dataclass(frozen=True, slots=True)
class Done:
    """What a job gave."""

    value: Any


@dataclass(frozen=True, slots=True)
class Ended:
    """A job gave nothing: it took too long, or too much memory, or it failed."""

    because: ended_because
    text: str = ""


@dataclass(frozen=True, slots=True)
class JobAnswer:
    """The end of a job. `packed`: a pickled Done or Ended, as the forked process wrote it."""

    number: int
    packed: bytes


def pack(value: Any) -> bytes:
    """A value as a frame."""
    packed = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(packed)) + packed


def take_frames(received: bytearray) -> Iterator[Any]:
    """The values of whole frames at the begin of what was received, which are taken away from it."""
    while len(received) >= _LENGTH.size:
        (length,) = _LENGTH.unpack_from(received)
        end = _LENGTH.size + length
        if len(received) < end:
            return
        packed = bytes(received[_LENGTH.size : end])
        del received[:end]
        yield pickle.loads(packed)


def _make_mapping(entries: dict[Any, Any]) -> Mapping[Any, Any]:
    return MappingProxyType(entries)


def _reduce_mapping(mapping: Any) -> tuple[Any, tuple[dict[Any, Any]]]:
    return _make_mapping, (dict(mapping),)


copyreg.pickle(MappingProxyType, _reduce_mapping)  # which catalogs are made of
