"""Fields that are not the same in all files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.describe.infer import NOUNS
from penstock.describe.observed import NULL, OBJECT, Observed
from penstock.runtime.samples.sample_files import SampleFile


def list_differences(seen: Observed, files: Sequence[SampleFile], before: str = "") -> Iterator[str]:
    """Fields that some files lack, or that have values of another kind there."""
    if len(files) < 2:
        return
    everywhere = seen.kind_files.get(OBJECT, 0)
    for name, each in seen.fields.items():
        label = f"{before}{name}"
        there = 0
        for mask in each.kind_files.values():
            there |= mask
        missing = everywhere & ~there
        if missing:
            yield f"{label} is missing in {tell_files(missing, files)}"
        kinds = {kind: mask for kind, mask in each.kind_files.items() if kind != NULL}
        groups: dict[str, int] = {}
        for kind, mask in kinds.items():
            groups[NOUNS[kind]] = groups.get(NOUNS[kind], 0) | mask
        if len(set(groups.values())) > 1:
            yield f"{label} is {'; '.join(f'{noun} in {tell_files(mask, files)}' for noun, mask in groups.items())}"
        if each.kinds == {OBJECT}:
            yield from list_differences(each, files, f"{label}.")


def tell_files(mask: int, files: Sequence[SampleFile]) -> str:
    """The files of a mask: how many of all, and the first of their names."""
    numbers = [number for number, _ in enumerate(files) if mask >> number & 1]
    names = ", ".join(files[number].name for number in numbers[:3])
    return f"{len(numbers):,} of {len(files):,} files: {names}{' …' if len(numbers) > 3 else ''}"
