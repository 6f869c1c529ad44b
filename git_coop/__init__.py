"""Letters and mail between coding-agent sessions in the worktrees of one clone."""

__version__ = "0.1.0"
