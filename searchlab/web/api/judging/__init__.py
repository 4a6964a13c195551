"""Judging: topics, judgments, pools, imports and exports of tables."""
