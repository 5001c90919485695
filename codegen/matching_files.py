"""Which files and folders of this machine a path stands for: the planner's rules, for the runtime."""

from penstock.planner.connectors.local_paths import list_matching as list_matching
