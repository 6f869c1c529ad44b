"""Many real processes at one store at once."""
