"""The simulator beside other stacks and packetdrill scripts, and its own speed."""
