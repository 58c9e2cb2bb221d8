"""What one failure costs the transfers of a network: worlds out of a topology, mechanisms, and what their runs lost."""
