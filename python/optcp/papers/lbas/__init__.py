"""The LBAS paper: lightpath bundling and anycast switching under TCP."""

from optcp.papers.lbas import table1, table2, table3

__all__ = ["table1", "table2", "table3"]
