"""Who may send statements, and who may change what others have made."""

from __future__ import annotations

from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.server import V002
from penstock.server.running.live_script import LiveDefinition
from penstock.server.running.store import Store

OWNER, SUBMITTER = "penstock_owner", "penstock_submitter"


def check_submitter(store: Store, author: str) -> None:
    """Raises CompileError for a role that may not send statements."""
    if SUBMITTER not in store.roles(author):
        found = V002.at(None, author=author, action="submit statements")
        raise CompileError([found.with_hint(f"GRANT {SUBMITTER} TO {author}")])


def is_owner(store: Store, author: str) -> bool:
    """Whether a role may change what others have made."""
    return OWNER in store.roles(author)


def check_owner(store: Store, definition: LiveDefinition, author: str, action: str) -> None:
    """Raises CompileError for a role that may not do this to a definition."""
    if definition.author != author and not is_owner(store, author):
        name = definition.relation or definition.name
        raise CompileError([V002.at(None, author=author, action=f"{action} {name}, which is of {definition.author}")])
