"""The database of judgments: its tables, connections, verification and backup."""
