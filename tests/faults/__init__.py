"""Each command killed, failed and traced at every one of its file operations."""
