"""Commands that evaluate, compare and judge."""
