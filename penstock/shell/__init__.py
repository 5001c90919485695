"""The shell: statements typed at a prompt -> answers, rows and running queries, in one process.

`Workspace` runs texts. `read_lines` gives them one by one from a terminal, and `read_stream` from anything else.
"""
