"""Cost of single failures to the transfers of a network: scenarios from a topology, mechanisms, and losses."""
