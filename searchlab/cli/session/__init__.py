"""The interactive search session."""
