"""Commands that write, examine and list indexes."""
