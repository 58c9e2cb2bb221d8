"""The LBAS paper: lightpath bundling and anycast switching under TCP."""

from optcp.papers.lbas import buffer, choices, mix, scale, table1, table2, table3, today, trends

__all__ = ["buffer", "choices", "mix", "scale", "table1", "table2", "table3", "today", "trends"]
