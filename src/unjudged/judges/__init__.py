"""Judges: how far sets of judgments agree."""
