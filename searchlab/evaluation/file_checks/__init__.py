"""Checks of judgment, run, topic and feature files, alone and against each other."""
