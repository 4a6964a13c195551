"""Topics and topic sets: their rows, changes and the undoing of changes."""
