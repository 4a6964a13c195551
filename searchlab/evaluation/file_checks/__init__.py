"""Checks of files of judgments, runs, topics and features, each alone and against each other."""
