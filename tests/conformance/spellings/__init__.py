"""Statements as users of other systems write them, and what each of them means here.

A file `<system>/<topic>.sql` has blocks. A block begins with `-- name: …`. The statement follows, then one of these:

    -- same as
    the same in the spelling of Penstock
    -- read, same as
    the same, for a bounded SELECT over tables
    -- refused: J001, a piece of the hint
    -- read, refused: N003

In front of `-- same as` may stand `-- warned: T020, a piece of the warning`. Any other comment says why.
"""
