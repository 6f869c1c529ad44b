"""What the tests stand on: the sealed room, real clones, the program, and worlds in memory."""
