"""The shell: statements typed at a prompt -> answers, rows and running queries, in one process.

`Workspace` runs texts. `split_texts` makes them of lines, and `read_lines` of what is typed at a terminal.
"""
