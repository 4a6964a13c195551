"""Measuring: measures of systems on topics, and of one ranking on its query."""
